import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { asWritten, describeReuse } from '../contract/idempotency.js';
import type { DecideReview, SettleManually, FinalOutcome } from '../contract/messages.js';
import { UPDATE_NAMES } from '../contract/names.js';
import { SAY_IT_AGAIN } from '../contract/refusals.js';
import type { FinalStepOutcome } from '../contract/outcome.js';
import type { ActionRecord } from '../contract/payment-actions.js';
import { DESCRIBE_MS, type Within } from './deadlines.js';
import { ofWorker } from './ended-flow.js';
import { HoldfastError } from './errors.js';
import type { FlowCalls, FlowRef } from './flow-calls.js';

/**
 * The outcome of a repeated command in the result of the ended flow that created the payment: the caller missed the
 * answer, and `paymentActions` need not be started for it. undefined if the result lacks the command or can't be read.
 * @throws HoldfastError `StateConflict` if that flow refused the command
 */
export async function doneBefore(
  deadlines: Within,
  made: WorkflowHandle | undefined,
  { name, request }: { name: ActionRecord['action']; request: { commandId?: string | undefined } },
): Promise<FinalStepOutcome | undefined> {
  // The flow that created the payment never executes a refund.
  if (name === 'refund') return undefined;
  let actions: ActionRecord[];
  try {
    actions = await actionsOfEnded(deadlines, made);
  } catch {
    return undefined;
  }
  const asked = asWritten(request);
  const done = actions.find(
    (action) => action.commandId === request.commandId && action.action === name && action.request === asked,
  );
  if (done?.refusal !== undefined) throw new HoldfastError('StateConflict', done.refusal);
  return done?.outcome;
}

/** The commands that an ended flow has executed or refused. */
async function actionsOfEnded(deadlines: Within, made: WorkflowHandle | undefined): Promise<ActionRecord[]> {
  if (made === undefined) return [];
  const result: unknown = await deadlines.within(Date.now() + DESCRIBE_MS, () => made.result());
  const { actions = [] } = ofWorker(result as { actions?: ActionRecord[] });
  return actions;
}

/**
 * An ended flow can't reauthorize, but a repeated command gets the first one's outcome.
 * @throws HoldfastError `ReferenceConflict` if its id was given to another command; `StateConflict` if it was given to none
 */
export async function reauthorizedBefore(
  deadlines: Within,
  made: WorkflowHandle | undefined,
  { reference, request }: { reference: string; request: { commandId: string } },
): Promise<FinalStepOutcome> {
  const { commandId } = request;
  const done = (await actionsOfEnded(deadlines, made)).find((action) => action.commandId === commandId);
  if (done?.action === 'reauthorize' && done.request === asWritten(request)) return done.outcome;
  if (done !== undefined) throw new HoldfastError('ReferenceConflict', describeReuse(commandId, done.action));
  throw new HoldfastError('StateConflict', `The flow of "${reference}" has ended; authorize under a new reference`);
}

/**
 * Gives a flow an operator's decision. One that is repeated after the end of the flow gets its result, if that comes from the
 * same decision.
 */
export async function decide<Answer>(
  calls: FlowCalls,
  flow: FlowRef,
  name: 'decideReview' | 'settleManually',
  decision: { commandId?: string | undefined },
  isSo: (outcome: FinalOutcome) => boolean,
): Promise<Answer | FinalOutcome> {
  const give = (freshId?: string): Promise<Answer> => calls.update<Answer>(flow, UPDATE_NAMES[name], decision, freshId);
  return await give()
    .catch((refusal: unknown) => {
      // It may be the refusal of before, which the server keeps for its commandId: what it was for may be over by now.
      const isOld = refusal instanceof HoldfastError && refusal.message.includes(SAY_IT_AGAIN);
      if (!isOld || decision.commandId === undefined) throw refusal;
      return give(randomUUID());
    })
    .catch((refusal: unknown) => decidedBefore(calls, flow, refusal, isSo));
}

/** @throws the refusal when the flow's result does not come from the same decision */
async function decidedBefore(
  calls: FlowCalls,
  flow: FlowRef,
  refusal: unknown,
  isSo: (outcome: FinalOutcome) => boolean,
): Promise<FinalOutcome> {
  if (!(refusal instanceof HoldfastError) || refusal.type !== 'StateConflict') throw refusal;
  const outcome = await calls.resultOf(flow).catch(() => undefined);
  if (outcome === undefined || !isSo(outcome as FinalOutcome)) throw refusal;
  return outcome as FinalOutcome;
}

export function isSettledBy({ status, evidence }: FinalOutcome, decision: SettleManually): boolean {
  // Subscriptions and flows of commands end without.
  const { knownBy, operator } = evidence ?? {};
  // A decision with a commandId is a different decision, even if its text is equal.
  if (decision.commandId !== undefined) return false;
  if (knownBy !== 'operator' || !isSame(operator, decision)) return false;
  const notTaken = status === 'declined' || status === 'notExecuted';
  return decision.status === 'succeeded' ? !notTaken : status === decision.status;
}

export function isReviewedBy({ risk }: FinalOutcome, decision: DecideReview): boolean {
  if (decision.commandId !== undefined) return false;
  return risk !== undefined && risk.decision === decision.decision && isSame(risk.operator, decision);
}

interface Person {
  who: string;
  why: string;
}

function isSame(operator: Person | undefined, { who, why }: Person): boolean {
  return operator?.who === who && operator.why === why;
}
