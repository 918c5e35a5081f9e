import type { DunningState } from '../contract/billing-activities.js';
import type { OnGivenUp } from '../contract/subscription.js';
import type { DunningPolicy } from './dunning-policy.js';

export const NOTHING_TRIED: DunningState = Object.freeze({ declines: 0, faults: 0 });

/**
 * Why no attempt may leave now, on whose behalf it would; undefined when it may. `personAtRisk`: somebody who knows that an
 * earlier attempt may have taken the money.
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

/** Nothing could be tried for `ms`: whatever days of the schedule have not come by then come later by as much. */
export function heldFor(state: DunningState, ms: number): DunningState {
  return state.firstDeclinedAt === undefined || ms <= 0 ? state : { ...state, heldMs: (state.heldMs ?? 0) + ms };
}

/** Another card heals what the old one caused, but never a doubt whether money has moved. */
export function afterCardChange(state: DunningState): DunningState {
  const { hold, ...free } = state;
  return hold === 'outcome' || hold === 'confirmation' ? state : free;
}

/**
 * What giving up means for the subscription. Causes on our side or on the merchant's never cancel a buyer's
 * subscription: it is paused, and nothing of it is lost.
 */
export function givenUp(state: DunningState, policy: DunningPolicy): OnGivenUp {
  const notTheBuyer = state.hold === 'person' || state.hold === 'confirmation';
  return notTheBuyer && policy.onGivenUp === 'cancel' ? 'pause' : policy.onGivenUp;
}

/** The same of a wait. Whoever was left too little time for it by a pause or an outage has not refused to pay. */
export function givenUpWait(state: DunningState, policy: DunningPolicy, cutShort: boolean): OnGivenUp {
  const effect = givenUp(state, policy);
  return cutShort && effect === 'cancel' ? 'continue' : effect;
}
