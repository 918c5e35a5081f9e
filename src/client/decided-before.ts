import type { DecideReview } from '../contract/commands.js';
import type { SettleManually } from '../contract/messages.js';
import type { FinalOutcome } from '../contract/outcomes.js';
import { HoldfastError } from './errors.js';
import type { FlowCalls, FlowRef } from './flow-calls.js';

/**
 * What a decision that is refused now has done when it was given first, by the result of the flow that has ended since: the
 * answer was lost on its way, and the same person says the same once more.
 * @throws the refusal where the flow says nothing of such a decision
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
  // Another id says that it is another decision, whatever its words.
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
