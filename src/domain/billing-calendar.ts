import { Temporal } from 'temporal-polyfill';
import type { Interval } from '../contract/subscription.js';
import type { BillingPlan, Period } from '../contract/billing-activities.js';
import { fractionOf, spread } from './jitter.js';
import { addDays, instantOf } from './local-time.js';

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

/** When period `n` ends (epoch ms): when the next one is due, or would be due if the plan continued. */
export function periodEndsAt(changed: BillingPlan, n: number): number {
  const plan = planFor(changed, n + 1);
  return dueOf(plan, dateOf(plan, n + 1));
}

/** When the last paid period `lastPaid` ends (epoch ms); undefined if it ended before the plan changed. */
export function paidUntil(plan: BillingPlan, lastPaid: number): number | undefined {
  return lastPaid + 1 < sinceOf(planFor(plan, lastPaid + 1)).period ? undefined : periodEndsAt(plan, lastPaid);
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

function dueOf({ reference, billAt, timeZone, jitterMs: most }: BillingPlan, date: string): number {
  return spread(instantOf(date, billAt, timeZone), most, fractionOf(reference), timeZone);
}

function dateOf(plan: BillingPlan, n: number): string {
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

function sinceOf(plan: BillingPlan): { period: number; skipMonths: number } {
  return plan.since ?? { period: 1, skipMonths: 0 };
}

/** Months of an interval; undefined for days and weeks, whose length is fixed. */
function monthsOf({ every, unit }: Interval): number | undefined {
  if (unit === 'month') return every;
  return unit === 'year' ? 12 * every : undefined;
}
