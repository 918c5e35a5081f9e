import type { Dunning, Interval, OnGivenUp } from '../contract/subscription.js';
import { shortestInterval } from '../contract/subscription-conflicts.js';

/** How a declined period is retried. */
export interface DunningPolicy {
  /** Days after the local day of the first decline, rising. */
  retryDays: readonly number[];
  /** Hour of the retries in the subscription's zone, 0 to 23. */
  localHour: number;
  /** After this many declines no card is charged for the period. */
  maxAttempts: number;
  onGivenUp: OnGivenUp;
  /** `onGivenUp` if the first decline came too late for any retry. Cancels only if the input says so. */
  onCutShort: OnGivenUp;
}

/**
 * Running subscriptions use these defaults and store no copy. Other numbers would change agreed terms, and existing
 * histories would not replay. New defaults need a name in `Carried`; without a name these apply.
 */
const RETRY_DAYS = [1, 3, 5, 7];
const LOCAL_HOUR = 10;
/** The first attempt, four retries, and three changes of card. */
const MAX_ATTEMPTS = 8;

/**
 * The policy with its defaults. By default, retries are those days that leave room before the next bill. If none fits,
 * such as with daily bills, the next bill serves as the retry: giving up then continues by default, because one decline
 * is no reason to cancel.
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
