const DAY_MS = 86_400_000;

/** A period that a person bills. Times are epoch ms. */
export interface BilledByPerson {
  /** By the calendar: later than `now`, or overdue. */
  dueAt: number;
  /** The first period that is not due yet; undefined when the plan ends before it. */
  nextDueAt: number | undefined;
  /** Days of the shortest period of the interval. */
  intervalDays: number;
  now: number;
}

/**
 * Until when it is tried, as if it had been billed on its day. An overdue one has until the next regular one, like one
 * that is billed late by itself, and a day at least: with less, its first decline would be its last.
 */
export function pursuedUntil({ dueAt, nextDueAt, intervalDays, now }: BilledByPerson): number {
  const interval = intervalDays * DAY_MS;
  if (dueAt >= now) return dueAt + interval;
  return Math.max(nextDueAt ?? now + interval, now + DAY_MS);
}
