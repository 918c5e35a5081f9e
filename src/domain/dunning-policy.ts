import type { Dunning, Interval, OnGivenUp } from '../contract/subscription.js';
import { shortestInterval } from '../contract/subscription-conflicts.js';

/** How a period that was declined is tried again. */
export interface DunningPolicy {
  /** Days after the local day of the first decline, rising. */
  retryDays: readonly number[];
  /** Hour of the retries in the subscription's zone, 0 to 23. */
  localHour: number;
  /** Declines per period after which no card is tried any more. */
  maxAttempts: number;
  onGivenUp: OnGivenUp;
  /** The same where the first decline came too late for any retry: no reason to cancel, unless that was asked for. */
  onCutShort: OnGivenUp;
}

/**
 * Running subscriptions go by these as well, and carry no copy: another number here would change what was agreed with them,
 * and give other answers than those in their histories. New defaults need a name in `Carried`, without which these are meant.
 */
const RETRY_DAYS = [1, 3, 5, 7];
const LOCAL_HOUR = 10;
/** The first attempt, the four retries, and three changes of card. */
const MAX_ATTEMPTS = 8;

/**
 * The policy with its defaults. Retries by default are those that leave room before the next bill. Where there is
 * room for none, as between daily bills, the next bill is the retry: giving up then continues by default, since
 * one decline is no reason to cancel.
 */
export function dunningPolicyOf(given: Dunning | undefined, interval: Interval): DunningPolicy {
  const room = shortestInterval(interval) ?? 0;
  const retryDays = given?.retryDays ?? RETRY_DAYS.filter((day) => day < room);
  return {
    retryDays,
    localHour: given?.localHour ?? LOCAL_HOUR,
    maxAttempts: given?.maxAttempts ?? MAX_ATTEMPTS,
    onGivenUp: given?.onGivenUp ?? (given?.retryDays === undefined && retryDays.length === 0 ? 'continue' : 'cancel'),
    onCutShort: given?.onGivenUp ?? 'continue',
  };
}
