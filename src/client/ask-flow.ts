import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { AuthorizeOutcome } from '../contract/authorize.js';
import type { StoreCardOutcome } from '../contract/cards.js';
import type { ChargeOutcome, CreditOutcome } from '../contract/charge.js';
import type { OutcomeRequest } from '../contract/messages.js';
import { BEFORE_NEW_REFERENCE, UPDATE_NAMES } from '../contract/names.js';
import type { Unknown } from '../contract/outcome.js';
import type { RiskOutcome } from '../contract/risk.js';
import type { SubscriptionOutcome } from '../contract/subscription-commands.js';
import { type Deadlines, DESCRIBE_MS } from './deadlines.js';
import { answersForAnother, ofWorker, SOON_MS, endsWithin, outcomeOfEndedFlow, stateOf } from './ended-flow.js';
import { HoldfastError, engineUnavailable, translate } from './errors.js';
import { type FlowRequest, startOptions } from './start-options.js';

/** ms that the call may take beyond the flow's own wait: one slow round trip. */
const GRACE_MS = 2_000;
/** With fewer ms left, an `unknown` is the flow's own answer at the end of the wait. */
const LEAST_WAIT_MS = 500;
/** The pause before a flow that has answered early is asked again doubles from the first to the longest: each question is kept in its history. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** The outcome type of each flow. */
export interface FlowOutcomes {
  charge: ChargeOutcome;
  authorizeAndCapture: AuthorizeOutcome;
  credit: CreditOutcome;
  storeCard: StoreCardOutcome;
  analyseRisk: RiskOutcome;
  subscription: SubscriptionOutcome;
}
export type AskableType = keyof FlowOutcomes;

type AskedWorkflow<Type extends AskableType> = (input: object) => Promise<FlowOutcomes[Type]>;

/**
 * Starts a flow, or joins the running or ended one of the same reference, and waits for its outcome.
 * @param until epoch ms
 * @throws HoldfastError `ReferenceConflict` when the reference belongs to another input; `EngineUnavailable` when
 * Temporal did not answer (the flow may have started); the flow's own failure
 */
export async function askFlow<Type extends AskableType>(
  client: Client,
  deadlines: Deadlines,
  request: FlowRequest<Type>,
  until: number,
): Promise<FlowOutcomes[Type]> {
  return await ask(client, deadlines, request, until, { mayStart: true });
}

/**
 * The same for a flow that is known to have been started: it only joins. If the flow is gone, its payment may have been
 * made, and a new flow would make a second one.
 * @throws HoldfastError `FlowNotFound` when the flow is gone; `ReferenceConflict` also when a workflow of another type
 * has its workflow id; else as {@link askFlow}
 */
export async function joinFlow<Type extends AskableType>(
  client: Client,
  deadlines: Deadlines,
  request: FlowRequest<Type>,
  until: number,
): Promise<FlowOutcomes[Type]> {
  try {
    return await ask(client, deadlines, request, until, { mayStart: false });
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.type !== 'FlowNotFound') throw error;
    const { workflowId, subject } = request;
    throw new HoldfastError(
      'FlowNotFound',
      `The flow of "${subject.reference}" (${workflowId}) was started before and is gone: it was deleted, or the ` +
        'namespace no longer keeps it. Nothing is started in its place, since its payment may have been made: look the ' +
        'payment up at the service before you ask for it under another reference',
    );
  }
}

async function ask<Type extends AskableType>(
  client: Client,
  deadlines: Deadlines,
  request: FlowRequest<Type>,
  until: number,
  { mayStart }: { mayStart: boolean },
): Promise<FlowOutcomes[Type]> {
  const { workflowId, fingerprint, subject } = request;
  const ended = async (): Promise<FlowOutcomes[Type]> =>
    (await outcomeOfEndedFlow(client, workflowId, fingerprint, subject.reference)) as FlowOutcomes[Type];
  let pause = FIRST_PAUSE_MS;
  for (let started = !mayStart; ;) {
    if (!mayStart) await requireFlow(client, deadlines, request);
    try {
      const asked = started
        ? askOutcome(client, deadlines, request, until)
        : startAndAsk(client, deadlines, request, until);
      const answer = ofWorker(await asked);
      // A copy of another flow's answer is encrypted too.
      if (answer.reference !== subject.reference) throw answersForAnother(subject.reference, answer.reference);
      // A run that continues as new answers `unknown` early, so wait for the rest of the time in the next run. So does one
      // that releases what a capture has left, for as long as that takes.
      const left = until - Date.now();
      if (answer.status !== 'unknown' || left < LEAST_WAIT_MS) return answer;
      started = true;
      await sleep(Math.min(pause, left));
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    } catch (error) {
      const failure = translate(error, subject.reference);
      if (failure === 'ended') return await ended();
      // When an event arrives while the flow ends, the server runs the last task again and drops the update.
      // Repeating the call is safe: the same reference is the same payment (money rule 2).
      const notFound = failure.type === 'FlowNotFound';
      // The flow has reached its limit of waiting updates and did not accept this one.
      const isFull = failure.type === 'RateLimited';
      if (!failure.askAgain && !notFound && !isFull) throw failure;
      if (Date.now() >= until) return await lastWord(client, request, failure, ended);
      // Repeat without a start if the flow exists: the server delays a second start within one second.
      started = !notFound || !mayStart;
      if (await endsWithin(client, workflowId, SOON_MS)) return await ended();
    }
  }
}

/**
 * Checks that the flow is there, open or ended. A workflow of another type takes no question, or answers another one.
 * @throws HoldfastError `FlowNotFound`, `ReferenceConflict`, `EngineUnavailable`
 */
async function requireFlow(client: Client, deadlines: Deadlines, { type, workflowId, subject }: FlowRequest) {
  const found = await deadlines
    .within(Date.now() + DESCRIBE_MS, () => client.workflow.getHandle(workflowId).describe())
    .catch((error: unknown) => {
      const failure = translate(error, subject.reference);
      throw failure === 'ended' ? engineUnavailable(subject.reference, `${workflowId} can't be read`) : failure;
    });
  if (found.type === type) return;
  throw new HoldfastError(
    'ReferenceConflict',
    `"${workflowId}", the workflow id of this ${type}, belongs to a workflow of type "${found.type}": ${BEFORE_NEW_REFERENCE}`,
  );
}

/**
 * Called when the time is over and the flow has not answered, for example because the service hangs during the first
 * task. If the flow exists, the answer is `unknown`.
 */
async function lastWord<Type extends AskableType>(
  client: Client,
  { workflowId, fingerprint, subject }: FlowRequest<Type>,
  failure: HoldfastError,
  ended: () => Promise<FlowOutcomes[Type]>,
): Promise<FlowOutcomes[Type]> {
  const state = await stateOf(client, workflowId, fingerprint);
  if (state === 'ended') return await ended();
  const { reference, amount, currency } = subject;
  const unknown: Unknown = { status: 'unknown', waitingFor: 'provider', reference, amount, currency };
  if (state === 'running') return unknown as FlowOutcomes[Type];
  throw failure.type === 'FlowNotFound' ? engineUnavailable(reference, failure.message) : failure;
}

async function startAndAsk<Type extends AskableType>(
  client: Client,
  deadlines: Deadlines,
  request: FlowRequest<Type>,
  until: number,
): Promise<FlowOutcomes[Type]> {
  const startWorkflowOperation = new WithStartWorkflowOperation<AskedWorkflow<Type>>(
    request.type,
    startOptions(request),
  );
  return await deadlines.within(until + GRACE_MS, () =>
    client.workflow.executeUpdateWithStart<AskedWorkflow<Type>, FlowOutcomes[Type], [OutcomeRequest]>(
      UPDATE_NAMES.outcome,
      { startWorkflowOperation, ...outcomeRequest(request, until) },
    ),
  );
}

async function askOutcome<Type extends AskableType>(
  client: Client,
  deadlines: Deadlines,
  request: FlowRequest<Type>,
  until: number,
): Promise<FlowOutcomes[Type]> {
  return await deadlines.within(until + GRACE_MS, () =>
    client.workflow
      .getHandle(request.workflowId)
      .executeUpdate<FlowOutcomes[Type], [OutcomeRequest]>(UPDATE_NAMES.outcome, outcomeRequest(request, until)),
  );
}

function outcomeRequest(
  { type, fingerprint }: FlowRequest,
  until: number,
): { updateId: string; args: [OutcomeRequest] } {
  const waitFor = Math.max(0, until - Date.now());
  // Use a fresh id for every call: for a repeated id the server would return a stored `pending` for ever.
  return { updateId: randomUUID(), args: [{ type, fingerprint, waitFor }] };
}
