import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { WithStartWorkflowOperation } from '@temporalio/client';
import type { OutcomeRequest } from '../contract/messages.js';
import { PAYMENTS_TASK_QUEUE, UPDATE_NAMES } from '../contract/names.js';
import type { Unknown } from '../contract/outcome.js';
import type { Deadlines } from './deadlines.js';
import { decoded } from './decoded.js';
import { SOON_MS, endsWithin, outcomeOfEndedFlow, stateOf } from './ended-flow.js';
import type { HoldfastError } from './errors.js';
import type { Answerable, FlowSpec } from './flow-spec.js';
import { startAttributes, startMemo, summaryOf } from './start-options.js';
import { engineUnavailable, translate } from './translate-error.js';

/** How much longer than the flow's own wait the call may take: one slow round trip. */
const GRACE_MS = 2_000;
/** With less left an `unknown` is the flow's own answer at the end of the time. */
const LEAST_WAIT_MS = 500;

type PaymentWorkflow<Answer> = (input: object) => Promise<Answer>;

/**
 * Starts a flow, or joins the one that already runs or has ended under its reference, and waits for its outcome.
 * @param until epoch ms
 * @throws HoldfastError `ReferenceConflict` when the reference belongs to another input; `EngineUnavailable` when
 * Temporal did not answer (the flow may have started); the flow's own failure
 */
export async function askFlow<Answer extends Answerable>(
  client: Client,
  deadlines: Deadlines,
  spec: FlowSpec<Answer>,
  until: number,
): Promise<Answer> {
  const { workflowId, fingerprint, input } = spec;
  const ended = async (): Promise<Answer> =>
    (await outcomeOfEndedFlow(client, workflowId, fingerprint, input.reference)) as Answer;
  for (let started = false; ;) {
    try {
      const ask = started ? askOutcome(client, deadlines, spec, until) : startAndAsk(client, deadlines, spec, until);
      const answer = decoded(await ask);
      // A run that gives way to the next one says so before the time is up: whoever waits goes on in that one.
      if (answer.status !== 'unknown' || until - Date.now() < LEAST_WAIT_MS) return answer;
      started = true;
    } catch (error) {
      const failure = translate(error, input.reference);
      if (failure === 'ended') return await ended();
      // An event that arrives while the flow ends makes the server run the last task again and drop the
      // update with it. To ask again is safe: the reference makes it the same payment.
      const notFound = failure.type === 'FlowNotFound';
      // Many wait at it already, and this question was not taken.
      const isFull = failure.type === 'RateLimited';
      if (!failure.askAgain && !notFound && !isFull) throw failure;
      if (Date.now() >= until) return await lastWord(client, spec, failure, ended);
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
async function lastWord<Answer extends Answerable>(
  client: Client,
  { workflowId, fingerprint, input }: FlowSpec<Answer>,
  failure: HoldfastError,
  ended: () => Promise<Answer>,
): Promise<Answer> {
  const state = await stateOf(client, workflowId, fingerprint);
  if (state === 'ended') return await ended();
  const { reference, amount, currency } = input;
  const unknown: Unknown = { status: 'unknown', waitingFor: 'provider', reference, amount, currency };
  if (state === 'running') return unknown as Answer;
  throw failure.type === 'FlowNotFound' ? engineUnavailable(reference, failure.message) : failure;
}

async function startAndAsk<Answer extends Answerable>(
  client: Client,
  deadlines: Deadlines,
  spec: FlowSpec<Answer>,
  until: number,
): Promise<Answer> {
  const { type, workflowId, fingerprint, input, what, taskQueue = PAYMENTS_TASK_QUEUE } = spec;
  const startWorkflowOperation = new WithStartWorkflowOperation<PaymentWorkflow<Answer>>(type, {
    workflowId,
    taskQueue,
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    memo: startMemo(fingerprint),
    typedSearchAttributes: startAttributes(input),
    staticSummary: summaryOf(what, input),
  });
  return await deadlines.within(until + GRACE_MS, () =>
    client.workflow.executeUpdateWithStart<PaymentWorkflow<Answer>, Answer, [OutcomeRequest]>(UPDATE_NAMES.outcome, {
      startWorkflowOperation,
      ...outcomeRequest(spec, until),
    }),
  );
}

async function askOutcome<Answer extends Answerable>(
  client: Client,
  deadlines: Deadlines,
  spec: FlowSpec<Answer>,
  until: number,
): Promise<Answer> {
  return await deadlines.within(until + GRACE_MS, () =>
    client.workflow
      .getHandle(spec.workflowId)
      .executeUpdate<Answer, [OutcomeRequest]>(UPDATE_NAMES.outcome, outcomeRequest(spec, until)),
  );
}

function outcomeRequest<Answer extends Answerable>(
  { type, fingerprint }: FlowSpec<Answer>,
  until: number,
): { updateId: string; args: [OutcomeRequest] } {
  const waitFor = Math.max(0, until - Date.now());
  // A fresh id at every call: with a fixed one the server would hand out a stored `pending` for ever.
  return { updateId: randomUUID(), args: [{ type, fingerprint, waitFor }] };
}
