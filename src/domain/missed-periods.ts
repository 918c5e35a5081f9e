import type { BillingPlan, Period, PeriodRange, Resumed } from '../contract/billing-activities.js';
import type { MissedPeriods } from '../contract/subscription.js';
import { periodOf } from './billing-calendar.js';

/** Up to this long after it came due, a period counts as on time. */
export const ON_TIME_MS = 24 * 3_600_000;

export interface DuePeriods {
  /** To be billed now: one after the other, oldest first. */
  bill?: PeriodRange;
  /** Never billed, to be reported. */
  missed?: PeriodRange;
  /** The first period that is not due yet; absent when the plan ends before it. */
  next?: Period;
}

/**
 * What an unbilled period `from` and its successors ask for at `now`. Normally one is due and it is billed,
 * whatever the policy. When more came due unseen, `billAll` bills each, `billLatest` only the last, and `skip`
 * only the last and only if it is on time.
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

/** The same after a pause, however much later it is asked: a bill that was open may have held up what follows. */
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
  // Not judged twice: that the pause leaves it to be billed was said when it was over, however long ago that is.
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

/** Due times never fall, so years of daily periods take a few dozen looks. */
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
