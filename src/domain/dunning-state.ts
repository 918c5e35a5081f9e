import type { Declined } from '../contract/charge.js';
import type { OnGivenUp } from '../contract/subscription.js';
import type { DunningPolicy } from './dunning-policy.js';

/** How an attempt to bill stands. `refused`: the flow failed with a typed failure, and no money moved. */
export type AttemptResult =
  | Pick<Declined, 'status' | 'category' | 'retryable' | 'confirmed'>
  | { status: 'succeeded' | 'notExecuted' | 'refused' | 'pending' | 'unknown' };

/**
 * What must come before the next attempt of the period. `outcome`: that of the last one. `confirmation`: somebody
 * who knows whether a failure that the provider never confirmed took the money. `card`: another card. `person`:
 * another card, or somebody who has mended what was wrong.
 */
export type Hold = 'outcome' | 'confirmation' | 'card' | 'person';

/** How far one period has come. Plain data: it travels from run to run. */
export interface DunningState {
  /** Attempts that were declined. */
  declines: number;
  /** Attempts in a row that the card's issuer never judged. */
  faults: number;
  /** Epoch ms. */
  firstDeclinedAt?: number;
  /** ms since then in which nothing could be tried, as in a pause or an outage: the schedule stood still. */
  heldMs?: number;
  hold?: Hold;
}
export const NOTHING_TRIED: DunningState = Object.freeze({ declines: 0, faults: 0 });

export type DunningStep =
  | { do: 'nothing' }
  | { do: 'attempt' }
  /** Not before `at` (epoch ms); a decline uses an attempt, a fault does not. */
  | { do: 'retry'; at: number; after: 'decline' | 'fault' }
  /** No further attempt until this one is resolved, however long it takes. */
  | { do: 'block' }
  /** See {@link Hold}. Unless somebody acts before `giveUpAt` (epoch ms), the period is given up. */
  /** `cutShort`: the next period left less time than was due to whoever is waited for. */
  | { do: 'wait'; for: Exclude<Hold, 'outcome'>; giveUpAt: number; cutShort?: true }
  | { do: 'giveUp'; effect: OnGivenUp };

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
