import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { WithStartWorkflowOperation } from '@temporalio/client';
import type { AuthorizeOutcome } from '../contract/authorize.js';
import type { StoreCardOutcome } from '../contract/cards.js';
import type { ChargeOutcome } from '../contract/charge.js';
import type { CreditOutcome } from '../contract/credit.js';
import type { OutcomeRequest } from '../contract/messages.js';
import { UPDATE_NAMES } from '../contract/names.js';
import type { Unknown } from '../contract/outcome.js';
import type { RiskOutcome } from '../contract/risk.js';
import type { SubscriptionOutcome } from '../contract/subscription-outcome.js';
import type { Deadlines } from './deadlines.js';
import { decoded } from './decoded.js';
import { SOON_MS, endsWithin, outcomeOfEndedFlow, stateOf } from './ended-flow.js';
import type { HoldfastError } from './errors.js';
import type { FlowRequest } from './start-options.js';
import { startOptions } from './start-options.js';
import { engineUnavailable, translate } from './translate-error.js';

/** How much longer than the flow's own wait the call may take: one slow round trip. */
const GRACE_MS = 2_000;
/** With less left an `unknown` is the flow's own answer at the end of the time. */
const LEAST_WAIT_MS = 500;

/** What each flow answers to whoever asks for its outcome. */
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
 * Starts a flow, or joins the one that already runs or has ended under its reference, and waits for its outcome.
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
  const { workflowId, fingerprint, subject } = request;
  const ended = async (): Promise<FlowOutcomes[Type]> =>
    (await outcomeOfEndedFlow(client, workflowId, fingerprint, subject.reference)) as FlowOutcomes[Type];
  for (let started = false; ;) {
    try {
      const ask = started
        ? askOutcome(client, deadlines, request, until)
        : startAndAsk(client, deadlines, request, until);
      const answer = decoded(await ask);
      // A run that gives way to the next one says so before the time is up: whoever waits goes on in that one.
      if (answer.status !== 'unknown' || until - Date.now() < LEAST_WAIT_MS) return answer;
      started = true;
    } catch (error) {
      const failure = translate(error, subject.reference);
      if (failure === 'ended') return await ended();
      // An event that arrives while the flow ends makes the server run the last task again and drop the
      // update with it. To ask again is safe: the reference makes it the same payment.
      const notFound = failure.type === 'FlowNotFound';
      // Many wait at it already, and this question was not taken.
      const isFull = failure.type === 'RateLimited';
      if (!failure.askAgain && !notFound && !isFull) throw failure;
      if (Date.now() >= until) return await lastWord(client, request, failure, ended);
      // Without a start where it can be: the server makes a second start within a second wait.
      started = !notFound;
      if (await endsWithin(client, workflowId, SOON_MS)) return await ended();
    }
  }
}

/**
 * The time is over without an answer of the flow, as when the service hangs while the first task runs. If
 * the flow is there, that is an honest `unknown`.
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
  // A fresh id at every call: with a fixed one the server would hand out a stored `pending` for ever.
  return { updateId: randomUUID(), args: [{ type, fingerprint, waitFor }] };
}
