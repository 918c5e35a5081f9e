import { Temporal } from 'temporal-polyfill';
import { DAY_MS } from '../contract/time-units.js';
import type { BillingPlan, Period, PeriodRange, Resumed } from '../contract/billing-activities.js';
import { type Interval, jitterMs, type ParsedSubscriptionInput, type MissedPeriods } from '../contract/subscription.js';
import { fractionOf, spread, addDays, instantOf } from './local-time.js';

/**
 * Period number `n`, computed from the anchor only: 31 January, 28 February, 31 March. undefined after the plan's end.
 * @throws RangeError if `n` is not a period of the plan's interval, or this Node version doesn't know the zone
 */
export function periodOf(changed: BillingPlan, n: number): Period | undefined {
  const plan = planFor(changed, n);
  if (plan.periods !== undefined && n > plan.periods) return undefined;
  const date = dateOf(plan, n);
  if (plan.endsOn !== undefined && date >= plan.endsOn) return undefined;
  return { period: n, date, dueAt: dueOf(plan, date) };
}

/** Whether the plan, or an earlier one that it keeps, says when period `n` begins. */
export function isOfPlan(plan: BillingPlan, n: number): boolean {
  return n >= sinceOf(planFor(plan, n)).period;
}

/** The day on which period `n` begins, also after the plan's end. Throws like {@link dateOf}. */
export function startOf(plan: BillingPlan, n: number): string {
  return dateOf(planFor(plan, n), n);
}

/** When period `n` ends (epoch ms): when the next one is due, or would be due if the plan continued. */
export function periodEndsAt(changed: BillingPlan, n: number): number {
  const plan = planFor(changed, n + 1);
  return dueOf(plan, dateOf(plan, n + 1));
}

/** When the last paid period `lastPaid` ends (epoch ms); undefined if it ended before the plan changed. */
export function paidUntil(plan: BillingPlan, lastPaid: number): number | undefined {
  return isOfPlan(plan, lastPaid + 1) ? periodEndsAt(plan, lastPaid) : undefined;
}

/** The plan that applies to period `n`. */
function planFor(plan: BillingPlan, n: number): BillingPlan {
  const { before } = plan;
  return before === undefined || n >= before.period ? plan : planFor(before.plan, n);
}

/** Drops earlier plans of periods before `from`, which are closed. */
export function planFrom(plan: BillingPlan, from: number): BillingPlan {
  const { before, ...rest } = plan;
  if (before === undefined || before.period <= from) return rest;
  return { ...rest, before: { ...before, plan: planFrom(before.plan, from) } };
}

/**
 * Changes the interval from period `n` on. Between months and years the anchor's day is kept: monthly from 31 January,
 * changed on 28 February, the next quarter begins on 31 May. Otherwise the day on which period `n` begins becomes the
 * anchor.
 */
export function withInterval(plan: BillingPlan, n: number, interval: Interval): BillingPlan {
  const months = monthsOf(plan.interval);
  if (months !== undefined && monthsOf(interval) !== undefined) {
    const { period, skipMonths } = sinceOf(plan);
    return { ...plan, interval, since: { period: n, skipMonths: skipMonths + (n - period) * months } };
  }
  return { ...plan, interval, anchor: dateOf(plan, n), trialDays: 0, since: { period: n, skipMonths: 0 } };
}

/** The plan with this end in place of any other, also for periods that were due before the plan was changed. */
export function withEnd(plan: BillingPlan, end: Pick<BillingPlan, 'periods' | 'endsOn'>): BillingPlan {
  const { periods: _periods, endsOn: _endsOn, before, ...rest } = plan;
  return { ...rest, ...end, ...(before !== undefined && { before: { ...before, plan: withEnd(before.plan, end) } }) };
}

function dueOf({ reference, billAt, timeZone, jitterMs: most }: BillingPlan, date: string): number {
  return spread(instantOf(date, billAt, timeZone), most, fractionOf(reference), timeZone);
}

/**
 * The calendar day on which period `n` begins. The same in every version of Node: no time zone plays a part.
 * @throws RangeError if `n` is not a period of the plan's interval
 */
export function dateOf(plan: PlanDays, n: number): string {
  const { period, skipMonths } = sinceOf(plan);
  if (!Number.isSafeInteger(n) || n < period) {
    throw new RangeError(`${n} is no period of this plan: its interval holds from period ${period} on`);
  }
  const count = n - period;
  const first = addDays(plan.anchor, plan.trialDays);
  const months = monthsOf(plan.interval);
  if (months === undefined)
    return addDays(first, count * plan.interval.every * (plan.interval.unit === 'week' ? 7 : 1));
  return Temporal.PlainDate.from(first)
    .add({ months: skipMonths + count * months })
    .toString();
}

/** The part of a plan that its days depend on. */
export type PlanDays = Pick<BillingPlan, 'anchor' | 'trialDays' | 'interval' | 'since'>;

function sinceOf(plan: PlanDays): { period: number; skipMonths: number } {
  return plan.since ?? { period: 1, skipMonths: 0 };
}

/** Months of an interval; undefined for days and weeks, whose length is fixed. */
function monthsOf({ every, unit }: Interval): number | undefined {
  if (unit === 'month') return every;
  return unit === 'year' ? 12 * every : undefined;
}

export function planOf(input: ParsedSubscriptionInput): BillingPlan {
  const { reference, anchor, trialDays, interval, timeZone, billAt, jitter, periods, endsOn } = input;
  return {
    reference,
    anchor,
    trialDays,
    interval,
    timeZone,
    billAt,
    jitterMs: jitterMs(jitter),
    ...(periods !== undefined && { periods }),
    ...(endsOn !== undefined && { endsOn }),
  };
}

/** A period counts as on time up to this long after its due time. */
export const ON_TIME_MS = 24 * 3_600_000;

interface DuePeriods {
  /** Periods to bill now: one after the other, oldest first. */
  bill?: PeriodRange;
  /** Periods that are never billed, only reported. */
  missed?: PeriodRange;
  /** The first period that is not due yet; undefined if the plan ends before it. */
  next?: Period;
}

/**
 * What to do at `now` with the unbilled period `from` and its successors. Normally one is due and is billed, whatever
 * the policy. If several came due, `billAll` bills each, `billLatest` only the last that is not to be skipped, and `skip`
 * only the last and only if it is on time.
 */
export function periodsDue(
  plan: BillingPlan,
  from: number,
  now: number,
  policy: MissedPeriods,
  skipped: readonly number[] = [],
): DuePeriods {
  const last = latestDue(plan, from, now);
  const next = periodOf(plan, last === undefined ? from : last.period + 1);
  const upcoming = next === undefined ? {} : { next };
  if (last === undefined) return upcoming;
  const firstBilled = firstToBill(from, last, now, policy, skipped);
  return {
    ...(firstBilled <= last.period && { bill: { first: firstBilled, last: last.period } }),
    ...(firstBilled > from && { missed: { first: from, last: firstBilled - 1 } }),
    ...upcoming,
  };
}

/** Like {@link periodsDue}, after a pause, even if called much later because an open bill delayed the next ones. */
export function periodsDueAfter(
  { at, policy, allUntil }: Resumed,
  plan: BillingPlan,
  from: number,
  now: number,
  later: MissedPeriods,
  skipped: readonly number[] = [],
): DuePeriods {
  if (allUntil !== undefined) {
    const { bill } = periodsDue(plan, from, allUntil, 'billAll');
    const rest = (bill?.last ?? from - 1) + 1;
    const { next, ...others } = periodsDueAfter({ at, policy: 'skip' }, plan, rest, now, later, skipped);
    return { ...(bill === undefined ? others : { bill }), ...(next !== undefined && { next }) };
  }
  const paused = periodsDue(plan, from, at, policy, skipped);
  if (policy === 'billAll' && paused.bill !== undefined) return periodsDue(plan, from, now, 'billAll');
  const due = periodsDue(plan, paused.missed === undefined ? from : paused.missed.last + 1, now, later, skipped);
  // Decided once: if the period was to be billed when the pause ended, it stays so, however long ago that is.
  if (later === 'skip' && paused.bill !== undefined) {
    const { next: _due, ...ofPause } = paused;
    return { ...ofPause, ...(due.next !== undefined && { next: due.next }) };
  }
  const last = due.missed?.last ?? paused.missed?.last;
  return { ...due, ...(last !== undefined && { missed: { first: from, last } }) };
}

function firstToBill(
  from: number,
  last: Period,
  now: number,
  policy: MissedPeriods,
  skipped: readonly number[],
): number {
  if (policy === 'billAll') return from;
  if (policy === 'billLatest') {
    let latest = last.period;
    while (latest > from && skipped.includes(latest)) latest -= 1;
    return skipped.includes(latest) ? last.period : latest;
  }
  return now - last.dueAt <= ON_TIME_MS ? last.period : last.period + 1;
}

/** What would come after the plan's last period if it went on. For a plan that ends; `from` is not billed yet. */
export function periodAfterLast(plan: BillingPlan, from: number): Period {
  const last = latestDue(plan, from, Number.POSITIVE_INFINITY)?.period ?? from - 1;
  return { period: last + 1, date: startOf(plan, last + 1), dueAt: periodEndsAt(plan, last) };
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

/** Billing only the latest period surprises a buyer least after an outage on our side. */
export const MISSED_PERIODS_DEFAULT: MissedPeriods = 'billLatest';

/** A period that an operator bills by command. Times are epoch ms. */
interface BilledByPerson {
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
