const DAY_MS = 86_400_000;

/** A period that an operator bills by command. Times are epoch ms. */
export interface BilledByPerson {
  /** The period's regular due time: later than `now`, or overdue. */
  dueAt: number;
  /** Due time of the first period that is not due yet; undefined if the plan ends before it. */
  nextDueAt: number | undefined;
  /** Fewest days of one interval. */
  intervalDays: number;
  now: number;
}

/**
 * Until when the period is retried (epoch ms), as if billed on its regular day. An overdue period has until the next
 * regular one, like any late bill, but at least a day: with less time, its first decline would be its last.
 */
export function collectedUntil({ dueAt, nextDueAt, intervalDays, now }: BilledByPerson): number {
  const interval = intervalDays * DAY_MS;
  if (dueAt >= now) return dueAt + interval;
  return Math.max(nextDueAt ?? now + interval, now + DAY_MS);
}
