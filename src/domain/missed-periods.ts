import type { BillingPlan, Period, PeriodRange, Resumed } from '../contract/billing-activities.js';
import type { MissedPeriods } from '../contract/subscription.js';
import { periodOf } from './billing-calendar.js';

/** A period counts as on time up to this long after its due time. */
export const ON_TIME_MS = 24 * 3_600_000;

export interface DuePeriods {
  /** Periods to bill now: one after the other, oldest first. */
  bill?: PeriodRange;
  /** Periods that are never billed, only reported. */
  missed?: PeriodRange;
  /** The first period that is not due yet; undefined if the plan ends before it. */
  next?: Period;
}

/**
 * What to do at `now` with the unbilled period `from` and its successors. Normally one is due and is billed, whatever
 * the policy. If several came due, `billAll` bills each, `billLatest` only the last, and `skip` only the last and only
 * if it is on time.
 */
export function periodsDue(plan: BillingPlan, from: number, now: number, policy: MissedPeriods): DuePeriods {
  const last = latestDue(plan, from, now);
  const next = periodOf(plan, last === undefined ? from : last.period + 1);
  const upcoming = next === undefined ? {} : { next };
  if (last === undefined) return upcoming;
  const firstBilled = firstToBill(from, last, now, policy);
  return {
    ...(firstBilled <= last.period && { bill: { first: firstBilled, last: last.period } }),
    ...(firstBilled > from && { missed: { first: from, last: firstBilled - 1 } }),
    ...upcoming,
  };
}

/** Like {@link periodsDue}, after a pause, even if called much later because an open bill delayed the next ones. */
export function periodsDueAfter(
  { at, policy }: Resumed,
  plan: BillingPlan,
  from: number,
  now: number,
  later: MissedPeriods,
): DuePeriods {
  const paused = periodsDue(plan, from, at, policy);
  if (policy === 'billAll' && paused.bill !== undefined) return periodsDue(plan, from, now, 'billAll');
  const due = periodsDue(plan, paused.missed === undefined ? from : paused.missed.last + 1, now, later);
  // Decided once: if the period was to be billed when the pause ended, it stays so, however long ago that is.
  if (later === 'skip' && paused.bill !== undefined) {
    const { next: _due, ...ofPause } = paused;
    return { ...ofPause, ...(due.next !== undefined && { next: due.next }) };
  }
  const last = due.missed?.last ?? paused.missed?.last;
  return { ...due, ...(last !== undefined && { missed: { first: from, last } }) };
}

function firstToBill(from: number, last: Period, now: number, policy: MissedPeriods): number {
  if (policy === 'billAll') return from;
  if (policy === 'billLatest') return last.period;
  return now - last.dueAt <= ON_TIME_MS ? last.period : last.period + 1;
}

/** Due times never decrease, so an exponential search needs a few dozen steps even for years of daily periods. */
function latestDue(plan: BillingPlan, from: number, now: number): Period | undefined {
  const dueBy = (n: number): Period | undefined => {
    const period = periodOf(plan, n);
    return period !== undefined && period.dueAt <= now ? period : undefined;
  };
  let found = dueBy(from);
  if (found === undefined) return undefined;
  let step = 1;
  for (let ahead = dueBy(from + step); ahead !== undefined; ahead = dueBy(found.period + step)) {
    found = ahead;
    step *= 2;
  }
  for (step = Math.floor(step / 2); step >= 1; step = Math.floor(step / 2)) {
    found = dueBy(found.period + step) ?? found;
  }
  return found;
}
