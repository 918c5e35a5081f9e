import { describe, expect, test } from 'vitest';
import type { BillingPlan } from '../../src/contract/billing-activities.js';
import { paidUntil, periodEndsAt, periodOf, planFrom, withInterval } from '../../src/domain/billing-calendar.js';
import { instantOf } from '../../src/domain/local-time.js';
import { planFor } from './calendar-arbitraries.js';

const at = (date: string, time: string): number => instantOf(date, time, 'Europe/Rome');
const QUARTERLY = { every: 3, unit: 'month' } as const;

/** Monthly from 31 January 2027, at 10:00. */
const FIRST = planFor();
/** At noon from period 3 on, which was not due yet when that was asked for. */
const SECOND: BillingPlan = { ...FIRST, billAt: '12:00', before: { period: 3, plan: FIRST } };
/** At 18:00 from period 5 on. */
const THIRD: BillingPlan = { ...FIRST, billAt: '18:00', before: { period: 5, plan: SECOND } };

describe('a plan that was changed while periods were still to be billed', () => {
  test.each([
    [1, '2027-01-31', '10:00'],
    [2, '2027-02-28', '10:00'],
    [3, '2027-03-31', '12:00'],
    [4, '2027-04-30', '12:00'],
    [5, '2027-05-31', '18:00'],
    [6, '2027-06-30', '18:00'],
  ])('bills period %i on %s at %s, the hour that was agreed when it fell due', (period, date, time) => {
    expect(periodOf(THIRD, period)).toEqual({ period, date, dueAt: at(date, time) });
    expect(periodEndsAt(THIRD, period - 1)).toBe(at(date, time));
  });

  test('keeps the old interval for them, and the new one begins with its first period', () => {
    const changed = { ...withInterval(FIRST, 4, QUARTERLY), before: { period: 4, plan: FIRST } };
    expect([1, 2, 3, 4, 5, 6].map((n) => periodOf(changed, n)?.date)).toEqual([
      '2027-01-31',
      '2027-02-28',
      '2027-03-31',
      '2027-04-30',
      '2027-07-31',
      '2027-10-31',
    ]);
  });

  test('ends with the new plan: a period of the old one is billed even so', () => {
    const ended = { ...FIRST, endsOn: '2027-03-31', before: { period: 3, plan: FIRST } };
    expect([1, 2, 3].map((n) => periodOf(ended, n)?.date)).toEqual(['2027-01-31', '2027-02-28', undefined]);
  });
});

describe('what is kept of earlier plans', () => {
  const { before: _second, ...thirdAlone } = THIRD;
  const { before: _first, ...secondAlone } = SECOND;

  test.each<[string, BillingPlan, number, BillingPlan]>([
    ['is all while each has a period to bill', THIRD, 1, THIRD],
    ['is all while the oldest has one', THIRD, 2, THIRD],
    ['is not the oldest once its last is closed', THIRD, 3, { ...THIRD, before: { period: 5, plan: secondAlone } }],
    ['is the plan before while it has one', THIRD, 4, { ...THIRD, before: { period: 5, plan: secondAlone } }],
    ['is none once all that is left is of the newest', THIRD, 5, thirdAlone],
    ['is none ever after', THIRD, 60, thirdAlone],
    ['is nothing where there was none', FIRST, 1, FIRST],
  ])('%s', (_name, plan, from, kept) => {
    expect(planFrom(plan, from)).toStrictEqual(kept);
    for (let n = from; n < from + 8; n += 1) expect(periodOf(planFrom(plan, from), n)).toEqual(periodOf(plan, n));
  });
});

describe('what a buyer has paid for', () => {
  const quarterlyFromFive = withInterval(FIRST, 5, QUARTERLY);
  const keepsTheOld = { ...quarterlyFromFive, before: { period: 5, plan: FIRST } };

  test.each<[string, BillingPlan, number, number | undefined]>([
    ['lasts until the next period begins', FIRST, 1, at('2027-02-28', '10:00')],
    ['lasts as long after the last period of a plan', planFor({ periods: 2 }), 2, at('2027-03-31', '10:00')],
    ['lasts until the new plan begins', quarterlyFromFive, 4, at('2027-05-31', '10:00')],
    ['lasts for the new interval once that is paid', quarterlyFromFive, 5, at('2027-08-31', '10:00')],
    ['is over where even the period after it was of a plan that is gone', quarterlyFromFive, 3, undefined],
    ['is long over where it was of a plan that is gone', quarterlyFromFive, 1, undefined],
    ['is known of an old plan that is kept', keepsTheOld, 3, at('2027-04-30', '10:00')],
    ['is known of an old plan up to the new one', keepsTheOld, 4, at('2027-05-31', '10:00')],
    ['ends at the hour of the plan that follows', SECOND, 2, at('2027-03-31', '12:00')],
  ])('%s', (_name, plan, lastPaid, until) => {
    expect(paidUntil(plan, lastPaid)).toBe(until);
  });
});
