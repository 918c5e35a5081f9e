import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { Interval } from '../../src/contract/subscription.js';
import type { BillingPlan, Period } from '../../src/contract/billing-activities.js';
import { periodEndsAt, periodOf, withInterval } from '../../src/domain/billing-calendar.js';
import { fullOr } from '../support/counts.js';
import { anyPlan, MONTHLY, planFor } from './calendar-arbitraries.js';

const DAY_MS = 86_400_000;

/** @throws when the plan has ended before */
function at(plan: BillingPlan, n: number): Period {
  const period = periodOf(plan, n);
  if (period === undefined) throw new Error(`The plan ended before period ${n}`);
  return period;
}
const dates = (plan: BillingPlan, numbers: readonly number[]): string[] => numbers.map((n) => at(plan, n).date);

/** The rule in its own words: so many months on, the same day of the month or the last one it has. */
function dayByRule(anchor: string, { every, unit }: Interval, count: number): string {
  const [year = 0, month = 0, day = 0] = anchor.split('-').map(Number);
  if (unit === 'day' || unit === 'week') {
    return iso(Date.UTC(year, month - 1, day) + count * every * (unit === 'week' ? 7 : 1) * DAY_MS);
  }
  const months = month - 1 + count * every * (unit === 'year' ? 12 : 1);
  const lastDay = new Date(Date.UTC(year, months + 1, 0)).getUTCDate();
  return iso(Date.UTC(year, months, Math.min(day, lastDay)));
}
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

function periodsInTenYears({ every, unit }: Interval): number {
  return Math.floor({ day: 3_652, week: 521, month: 120, year: 10 }[unit] / every);
}

describe('the days of a plan', () => {
  test('are counted from the anchor, so that a short month shortens no later one', () => {
    const plan = planFor();
    expect(dates(plan, [1, 2, 3, 4, 14, 15])).toEqual([
      '2027-01-31',
      '2027-02-28',
      '2027-03-31',
      '2027-04-30',
      '2028-02-29',
      '2028-03-31',
    ]);
  });

  test('of a yearly plan from 29 February are 28 February, and 29 in leap years', () => {
    const plan = planFor({ anchor: '2028-02-29', interval: { every: 1, unit: 'year' } });
    expect(dates(plan, [1, 2, 4, 5, 9])).toEqual([
      '2028-02-29',
      '2029-02-28',
      '2031-02-28',
      '2032-02-29',
      '2036-02-29',
    ]);
    expect(at({ ...plan, anchor: '2096-02-29' }, 5).date).toBe('2100-02-28');
  });

  test('begin after the trial and are counted from there', () => {
    expect(dates(planFor({ trialDays: 14 }), [1, 2, 3])).toEqual(['2027-02-14', '2027-03-14', '2027-04-14']);
    expect(dates(planFor({ anchor: '2027-12-17', trialDays: 14 }), [1, 3])).toEqual(['2027-12-31', '2028-02-29']);
  });

  test('are those of the rule for every anchor of a leap cycle, over ten years', () => {
    const step = fullOr(1, 97);
    for (let day = Date.UTC(2027, 0, 1); day < Date.UTC(2031, 0, 1); day += step * DAY_MS) {
      const plan = planFor({ anchor: iso(day), timeZone: 'UTC' });
      const numbers = Array.from({ length: 120 }, (_, index) => index + 1);
      expect(dates(plan, numbers)).toEqual(numbers.map((n) => dayByRule(plan.anchor, MONTHLY, n - 1)));
    }
  });

  test('of any plan, in any zone, are those of the rule, rise without end, and leave one bill to each period', () => {
    fc.assert(
      fc.property(anyPlan, (plan) => {
        const anchor = iso(Date.parse(plan.anchor) + plan.trialDays * DAY_MS);
        const count = periodsInTenYears(plan.interval);
        // All of a rare interval; of a frequent one a stretch that begins anywhere.
        const from = count <= 40 ? 1 : 1 + ((plan.reference.length * 97) % (count - 40));
        const numbers = Array.from({ length: Math.min(count, 40) }, (_, index) => from + index);
        const periods = numbers.map((n) => at(plan, n));
        expect(periods.map(({ period }) => period)).toEqual(numbers);
        expect(periods.map(({ date }) => date)).toEqual(numbers.map((n) => dayByRule(anchor, plan.interval, n - 1)));
        // The day that Samoa left out may coincide with the next (see local-time.test.ts).
        const late = periods.filter(
          ({ dueAt, date }, index) => date !== '2011-12-30' && dueAt >= (periods[index + 1]?.dueAt ?? Infinity),
        );
        expect(late).toEqual([]);
        expect(numbers.slice(0, -1).map((n) => periodEndsAt(plan, n))).toEqual(
          periods.slice(1).map(({ dueAt }) => dueAt),
        );
      }),
      { numRuns: fullOr(2_000, 40) },
    );
  });

  test('do not depend on which periods were asked for before', () => {
    const plan = planFor({ timeZone: 'America/New_York', billAt: '02:30' });
    const forwards = Array.from({ length: 24 }, (_, index) => at(plan, index + 1));
    const backwards = Array.from({ length: 24 }, (_, index) => at(plan, 24 - index)).toReversed();
    expect(backwards).toEqual(forwards);
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('exist for no period numbered %p', (n) => {
    expect(() => periodOf(planFor(), n)).toThrow(RangeError);
  });
});

describe('the end of a plan', () => {
  test('comes after so many periods', () => {
    const plan = planFor({ periods: 12 });
    expect(periodOf(plan, 12)?.date).toBe('2027-12-31');
    expect(periodOf(plan, 13)).toBeUndefined();
  });

  test('comes on its day, on which no period begins any more: a year of months is twelve', () => {
    const plan = planFor({ endsOn: '2028-01-31' });
    expect(periodOf(plan, 12)?.date).toBe('2027-12-31');
    expect(periodOf(plan, 13)).toBeUndefined();
    expect(periodOf({ ...plan, endsOn: '2028-02-01' }, 13)?.date).toBe('2028-01-31');
  });

  test('leaves the last period its full length', () => {
    const endless = planFor();
    expect(periodEndsAt(planFor({ periods: 12 }), 12)).toBe(at(endless, 13).dueAt);
  });
});

describe('a change of interval', () => {
  const quarterly: Interval = { every: 3, unit: 'month' };
  const fortnightly: Interval = { every: 2, unit: 'week' };

  test('between months and years keeps the day of the anchor, however short the month of the change', () => {
    const changed = withInterval(planFor(), 2, quarterly);
    expect(dates(changed, [2, 3, 4])).toEqual(['2027-02-28', '2027-05-31', '2027-08-31']);
    const twice = withInterval(changed, 4, { every: 1, unit: 'year' });
    expect(dates(twice, [4, 5])).toEqual(['2027-08-31', '2028-08-31']);
  });

  test('to or from days and weeks counts from the day of the change', () => {
    const changed = withInterval(planFor({ trialDays: 7 }), 3, fortnightly);
    expect(dates(changed, [3, 4])).toEqual(['2027-04-07', '2027-04-21']);
    expect(dates(withInterval(changed, 4, MONTHLY), [4, 5])).toEqual(['2027-04-21', '2027-05-21']);
  });

  test('knows no period from before it', () => {
    expect(() => periodOf(withInterval(planFor(), 5, quarterly), 4)).toThrow(
      new RangeError('4 is no period of this plan: its interval holds from period 5 on'),
    );
  });

  test('moves no period that the old plan had already begun, and never back', () => {
    fc.assert(
      fc.property(anyPlan, anyPlan, fc.integer({ min: 1, max: 30 }), (plan, { interval }, n) => {
        const changed = withInterval(plan, n, interval);
        expect(at(changed, n)).toEqual(at(plan, n));
        expect(at(changed, n + 1).dueAt).toBeGreaterThan(at(changed, n).dueAt);
      }),
      { numRuns: fullOr(2_000, 100) },
    );
  });
});
