import type { DunningPolicy } from './dunning-policy.js';
import { spread } from './jitter.js';
import { addDays, instantOf, localDateOf } from './local-time.js';

/** Inputs of the retry times. Times are epoch ms. */
export interface DunningClock {
  now: number;
  timeZone: string;
  jitterMs: number;
  /** Fraction of the subscription's reference, see `fractionOf`. */
  fraction: number;
  /** See `periodEndsAt`. No retry is sent then or later, so that two periods are never retried at once. */
  periodEndsAt: number;
}

const HOUR_MS = 3_600_000;
const FAULT_DELAYS_MS = [HOUR_MS / 4, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS];
const DAILY_FAULTS = 14;
const DAY_MS = 24 * HOUR_MS;
/** Time to provide another card, even after a decline on the last retry day. */
const GRACE_DAYS = 3;

/**
 * Next scheduled retry, on a later local day than today; undefined if none is left before the next period.
 * @param since time of the first decline, plus the time for which the schedule stood still
 */
export function nextRetry(since: number, policy: DunningPolicy, clock: DunningClock): number | undefined {
  const date = nextRetryDay(since, policy, clock);
  if (date === undefined) return undefined;
  const { periodEndsAt } = clock;
  const at = retryOn(date, policy, clock);
  return at < periodEndsAt ? at : undefined;
}

/** Next day of the schedule, even if the next period begins before it. */
export function nextRetryDay(
  since: number,
  policy: DunningPolicy,
  { now, timeZone }: DunningClock,
): string | undefined {
  const first = localDateOf(since, timeZone);
  const today = localDateOf(now, timeZone);
  return policy.retryDays.map((days) => addDays(first, days)).find((day) => day > today);
}

/**
 * When to retry an attempt that no issuer answered: after 15 min, 1 h, 4 h, 12 h, then daily for two weeks, then
 * weekly. undefined if the period ends before.
 * @param faults number of consecutive faults, from 1
 */
export function nextFaultRetry(faults: number, { now, fraction, periodEndsAt }: DunningClock): number | undefined {
  const isLongAgo = faults > FAULT_DELAYS_MS.length + DAILY_FAULTS;
  const delay = FAULT_DELAYS_MS[faults - 1] ?? (isLongAgo ? 7 * DAY_MS : DAY_MS);
  // Spread, because an outage fails many subscriptions at once.
  const at = now + delay + Math.floor((fraction * delay) / 4);
  return at < periodEndsAt ? at : undefined;
}

/** Until when a period waits for another card or an operator: until its last retry day, and at least 3 days. */
export function giveUpTime(since: number | undefined, policy: DunningPolicy, clock: DunningClock): number {
  const { now, timeZone, periodEndsAt } = clock;
  const first = localDateOf(since ?? now, timeZone);
  const lastRetry = addDays(first, policy.retryDays.at(-1) ?? 0);
  const grace = addDays(localDateOf(now, timeZone), GRACE_DAYS);
  return Math.min(periodEndsAt, retryOn(lastRetry > grace ? lastRetry : grace, policy, clock));
}

function retryOn(date: string, { localHour }: DunningPolicy, { timeZone, jitterMs, fraction }: DunningClock): number {
  return spread(instantOf(date, `${String(localHour).padStart(2, '0')}:00`, timeZone), jitterMs, fraction, timeZone);
}
