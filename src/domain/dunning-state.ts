import type { DunningState } from '../contract/billing-activities.js';
import type { OnGivenUp } from '../contract/subscription.js';
import type { DunningPolicy } from './dunning-policy.js';

export const NOTHING_TRIED: DunningState = Object.freeze({ declines: 0, faults: 0 });

/**
 * Why no attempt may be sent now, given who requests it; undefined if it may. `personAtRisk`: an operator who knows
 * that an earlier attempt may have taken the money.
 */
export function attemptRefusal(
  { hold, declines }: DunningState,
  policy: DunningPolicy,
  by: 'schedule' | 'person' | 'personAtRisk',
): 'unresolved' | 'unconfirmed' | 'needsNewCard' | 'needsPerson' | 'noAttemptsLeft' | undefined {
  if (hold === 'outcome' || (hold === 'confirmation' && by === 'schedule')) return 'unresolved';
  if (hold === 'confirmation' && by === 'person') return 'unconfirmed';
  if (hold === 'card') return 'needsNewCard';
  if (hold === 'person' && by === 'schedule') return 'needsPerson';
  return declines >= policy.maxAttempts ? 'noAttemptsLeft' : undefined;
}

/** Nothing could be attempted for `ms`: delays the remaining days of the schedule by as much. */
export function heldFor(state: DunningState, ms: number): DunningState {
  return state.firstDeclinedAt === undefined || ms <= 0 ? state : { ...state, heldMs: (state.heldMs ?? 0) + ms };
}

/** Another card clears a hold that the old card caused, but not one for an unknown outcome. */
export function afterCardChange(state: DunningState): DunningState {
  const { hold, ...free } = state;
  return hold === 'outcome' || hold === 'confirmation' ? state : free;
}

/**
 * Effect of giving up on the subscription. A cause on our side or the merchant's never cancels a buyer's subscription:
 * it is paused, and nothing is lost.
 */
export function givenUp(state: DunningState, policy: DunningPolicy): OnGivenUp {
  const notTheBuyer = state.hold === 'person' || state.hold === 'confirmation';
  return notTheBuyer && policy.onGivenUp === 'cancel' ? 'pause' : policy.onGivenUp;
}

/** Effect of giving up after a wait. If a pause or an outage cut it short, the buyer has not refused to pay. */
export function givenUpWait(state: DunningState, policy: DunningPolicy, cutShort: boolean): OnGivenUp {
  const effect = givenUp(state, policy);
  return cutShort && effect === 'cancel' ? 'continue' : effect;
}
