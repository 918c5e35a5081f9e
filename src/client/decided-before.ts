import type { DecideReview } from '../contract/commands.js';
import type { SettleManually } from '../contract/messages.js';
import type { FinalOutcome } from '../contract/outcomes.js';
import { HoldfastError } from './errors.js';
import type { FlowCalls, FlowRef } from './flow-calls.js';

/**
 * The result of an ended flow, for an operator who repeats a decision because the first answer was lost.
 * @throws the refusal when the flow's result does not come from the same decision
 */
export async function decidedBefore(
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
  const { knownBy, operator } = evidence;
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
