import type { DunningPolicy } from './dunning-policy.js';
import { spread } from './jitter.js';
import { addDays, instantOf, localDateOf } from './local-time.js';

/** What the times of retries depend on. Times are epoch ms. */
export interface DunningClock {
  now: number;
  timeZone: string;
  jitterMs: number;
  /** Of the subscription's reference, see `fractionOf`. */
  fraction: number;
  /** See `periodEndsAt`. No retry leaves then or later: two periods are never tried side by side. */
  periodEndsAt: number;
}

const HOUR_MS = 3_600_000;
const FAULT_DELAYS_MS = [HOUR_MS / 4, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS];
const DAILY_FAULTS = 14;
const DAY_MS = 24 * HOUR_MS;
/** Time to bring another card, even after a decline on the last day of the retries. */
const GRACE_DAYS = 3;

/**
 * The next scheduled retry, on a later local day than today's; undefined when none is left before the next period.
 * @param since the first decline, later by the time in which the schedule stood still
 */
export function nextRetry(since: number, policy: DunningPolicy, clock: DunningClock): number | undefined {
  const date = nextRetryDay(since, policy, clock);
  if (date === undefined) return undefined;
  const { periodEndsAt } = clock;
  const at = retryOn(date, policy, clock);
  return at < periodEndsAt ? at : undefined;
}

/** The day of the schedule that comes next, also where the next period begins before it. */
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
 * When to send again what no issuer has judged: after 15 min, 1 h, 4 h, 12 h, then daily for two weeks, then weekly.
 * Undefined when the period is over by then.
 * @param faults in a row, from 1
 */
export function nextFaultRetry(faults: number, { now, fraction, periodEndsAt }: DunningClock): number | undefined {
  const isLongAgo = faults > FAULT_DELAYS_MS.length + DAILY_FAULTS;
  const delay = FAULT_DELAYS_MS[faults - 1] ?? (isLongAgo ? 7 * DAY_MS : DAY_MS);
  // Spread, because whatever failed has failed for many at once.
  const at = now + delay + Math.floor((fraction * delay) / 4);
  return at < periodEndsAt ? at : undefined;
}

/** Until when a period waits for another card or a person: the last of its retries, and 3 days at least. */
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
