import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planBilling } from '../../activities/billing.js';
import type { BillingPlan } from '../../src/contract/billing-activities.js';
import { FLOWS } from '../../src/contract/flows.js';
import { MISSED_PERIODS, subscriptionInputSchema } from '../../src/contract/subscription.js';
import { periodsBilledBefore } from '../../src/domain/billed-through.js';
import { periodOf, planOf } from '../../src/domain/billing-calendar.js';
import { checkSubscription } from '../../src/domain/check-subscription.js';
import { fullOr } from '../support/counts.js';
import { anyPlan, planFor } from './calendar-arbitraries.js';

const DAY_MS = 86_400_000;
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** A plan, and the number of the last of its periods that was billed elsewhere. */
const takenOver = fc.record({ plan: anyPlan, billed: fc.integer({ min: 1, max: 60 }) });

function dateOf(plan: BillingPlan, n: number): string {
  return periodOf(plan, n)?.date ?? '';
}

/** Everything that a subscription is told to bill, in order, when it asks at these moments (epoch ms, rising). */
function billedAt(
  plan: BillingPlan,
  first: number,
  moments: readonly number[],
  policy: 'billAll' | 'billLatest' | 'skip',
) {
  const periods: { period: number; date: string }[] = [];
  let from = first;
  for (const now of moments) {
    for (;;) {
      const { bill, missed } = planBilling({
        ...{ plan, from, now, policy },
        ...{ dunning: undefined, previous: undefined, lastPaid: undefined },
      });
      if (bill !== undefined) periods.push({ period: bill.period, date: bill.date });
      from = Math.max(from, (missed?.last ?? 0) + 1, (bill?.period ?? 0) + 1);
      if (bill === undefined) break;
    }
  }
  return periods;
}

describe('a subscription that was billed elsewhere before', () => {
  test.each([
    ['2027-01-30', 0],
    ['2027-01-31', 1],
    ['2027-02-27', 1],
    ['2027-02-28', 2],
    ['2027-03-30', 2],
    ['2027-03-31', 3],
    ['2031-02-28', 50],
  ])('through %s has had %i periods of the 31st', (day, periods) => {
    expect(periodsBilledBefore(planFor(), day)).toBe(periods);
  });

  test('counts its trial as the calendar does', () => {
    const plan = planFor({ trialDays: 14 });
    expect(periodsBilledBefore(plan, '2027-02-13')).toBe(0);
    expect(periodsBilledBefore(plan, '2027-02-14')).toBe(1);
  });

  test('has had as many as are named, and none without a word', () => {
    expect(periodsBilledBefore(planFor(), 7)).toBe(7);
    expect(periodsBilledBefore(planFor(), undefined)).toBe(0);
  });

  test('means one period by its number and by each of its days, in any plan', () => {
    fc.assert(
      fc.property(takenOver, fc.double({ min: 0, max: 1, noNaN: true }), ({ plan, billed }, share) => {
        const begin = Date.parse(dateOf(plan, billed));
        const days = (Date.parse(dateOf(plan, billed + 1)) - begin) / DAY_MS;
        const day = iso(begin + Math.floor(share * (days - 1)) * DAY_MS);
        for (const through of [billed, dateOf(plan, billed), day, iso(begin + (days - 1) * DAY_MS)])
          expect(periodsBilledBefore(plan, through)).toBe(billed);
        expect(periodsBilledBefore(plan, iso(begin - DAY_MS))).toBe(billed - 1);
      }),
      { numRuns: fullOr(2_000, 40) },
    );
  });

  test('is billed no period up to then again, and each later one on the day that its anchor says', () => {
    const delays = fc.array(fc.integer({ min: 0, max: 5 * 366 * DAY_MS }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(takenOver, fc.boolean(), delays, fc.constantFrom(...MISSED_PERIODS), (of, byDay, after, policy) => {
        const { plan, billed } = of;
        const first = periodsBilledBefore(plan, byDay ? dateOf(plan, billed) : billed) + 1;
        // It is started, or comes back after an outage, whenever that is: also long before the first bill.
        const since = Date.parse(plan.anchor) - 30 * DAY_MS;
        const moments = after.map((ms) => since + ms).toSorted((one, other) => one - other);
        const told = billedAt(plan, first, moments, policy);
        for (const { period, date } of told) {
          expect(period).toBeGreaterThan(billed);
          expect(date > dateOf(plan, billed)).toBe(true);
          expect(date).toBe(dateOf(plan, period));
        }
        expect(new Set(told.map(({ period }) => period)).size).toBe(told.length);
        if (policy !== 'billAll') return;
        const due = (n: number): boolean => (periodOf(plan, n)?.dueAt ?? Infinity) <= (moments.at(-1) ?? 0);
        const all: number[] = [];
        for (let n = billed + 1; due(n); n += 1) all.push(n);
        expect(told.map(({ period }) => period)).toEqual(all);
      }),
      { numRuns: fullOr(1_000, 20) },
    );
  });
});

const UUID = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';
const INPUT = {
  reference: 'club-7',
  customerId: UUID,
  token: UUID,
  amount: 999,
  currency: 'EUR',
  interval: { every: 1, unit: 'month' },
  anchor: '2026-08-31',
  timeZone: 'Europe/Rome',
};
/** Period 5 began on 31 December, period 6 begins on 31 January. */
const NOW = Date.parse('2027-01-15T12:00:00Z');

function check(change: object, now = NOW) {
  return checkSubscription({ ...INPUT, ...change }, now);
}
function faults(change: object, now = NOW): string[] {
  const checked = check(change, now);
  return 'faults' in checked ? checked.faults : [];
}

describe('billedThrough', () => {
  test.each([5, '2026-12-31', '2027-01-15', 6, 17, '2028-01-31'])(
    'of %p is enough for an anchor in the past: nothing that is due is left',
    (billedThrough) => {
      expect(check({ billedThrough })).toMatchObject({ input: { billedThrough, anchor: '2026-08-31' } });
    },
  );

  test('of the first period is for one that was paid at checkout, on its first day', () => {
    expect(faults({ anchor: '2027-01-15', billedThrough: 1 })).toEqual([]);
    expect(faults({ anchor: '2027-01-15', billedThrough: '2027-01-15' })).toEqual([]);
  });

  test.each([4, '2026-12-30'])(
    'of %p leaves a period of the past, and missedPeriods must say of it',
    (billedThrough) => {
      const checked = check({ billedThrough });
      expect(checked).toEqual({
        faults: [
          'billedThrough: period 5, the first one to bill, began in the past, on 2026-12-31; today is 2027-01-15 in ' +
            'Europe/Rome: give the last period that was billed, or say with missedPeriods what to do with the periods ' +
            'since then (billAll, billLatest or skip)',
        ],
        // One that runs is joined all the same.
        late: expect.any(Object),
      });
      expect(faults({ billedThrough, missedPeriods: 'billAll' })).toEqual([]);
      expect(faults({ billedThrough }, Date.parse('2026-12-31T22:00:00Z'))).toEqual([]);
      expect(faults({ billedThrough }, Date.parse('2026-12-31T23:00:00Z'))).toHaveLength(1);
    },
  );

  test.each<[unknown, object, string]>([
    [0, {}, '0 is neither the number of a period from 1 to 99998 nor a day of it, such as 2027-01-31'],
    [1.5, {}, '1.5 is neither'],
    [99_999, {}, '99999 is neither'],
    ['5', {}, '"5" is neither'],
    ['2026-13-01', {}, '"2026-13-01" is neither'],
    [null, {}, 'a value of type object is neither'],
    ['2026-08-30', {}, '2026-08-30 is before the first period, which begins on 2026-08-31: leave it out'],
    ['2026-08-31', { trialDays: 1 }, '2026-08-31 is before the first period, which begins on 2026-09-01'],
    [12, { periods: 12 }, 'nothing would ever be billed: 12 periods were billed before, and the plan ends after 12'],
    ['2027-08-01', { periods: 12 }, 'nothing would ever be billed: 12 periods were billed before'],
    [
      5,
      { endsOn: '2027-01-31' },
      'nothing would ever be billed: period 6 would begin on 2027-01-31, and endsOn is 2027-01-31',
    ],
    [99_998, { interval: { every: 10, unit: 'year' } }, '99998 leaves nothing to bill before the year 2200'],
    [2_081, {}, '2081 leaves nothing to bill before the year 2200'],
    ['2199-12-31', {}, '2199-12-31 leaves nothing to bill before the year 2200'],
  ])('of %p with %j is refused, whatever runs', (billedThrough, more, fault) => {
    const checked = check({ billedThrough, ...more });
    expect(checked).toEqual({ faults: [expect.stringContaining(`billedThrough: ${fault}`)] });
  });

  test('may leave the last period of the plan, and the last day of the calendar', () => {
    expect(faults({ billedThrough: 11, periods: 12 })).toEqual([]);
    expect(faults({ billedThrough: 5, endsOn: '2027-02-01' })).toEqual([]);
    expect(faults({ billedThrough: 2_080 })).toEqual([]);
  });

  test('is refused beside all other faults, and compared with no field that is at fault itself', () => {
    const lines = faults({ billedThrough: '2026-08-30', amount: -1, currency: 'eur', timeZone: 'Mars/Olympus' });
    expect(lines.map((line) => line.slice(0, line.indexOf(':'))).toSorted()).toEqual([
      'amount',
      'billedThrough',
      'currency',
      'timeZone',
    ]);
    for (const [field, value] of Object.entries({ anchor: 'soon', interval: 'monthly', trialDays: -1 }))
      expect(faults({ billedThrough: '2020-01-01', [field]: value })).toEqual([
        expect.stringMatching(new RegExp(`^${field}: `)),
      ]);
  });

  test('belongs to what was asked for; an input without it is what it has always been', () => {
    const parsed = subscriptionInputSchema.parse({ ...INPUT, missedPeriods: 'skip', jitter: '15 minutes' });
    const { fingerprint } = FLOWS.subscription;
    // Of an input of before there was a billedThrough, with the jitter that was the default then.
    expect(fingerprint(parsed)).toBe('a5e645051d4a07e17d95c581da007a196afd45f88173908e7f243638fbd7ebb6');
    const prints = [undefined, 5, 6, '2026-12-31'].map((billedThrough) => fingerprint({ ...parsed, billedThrough }));
    expect(new Set(prints).size).toBe(4);
    expect(planOf({ ...parsed, billedThrough: 5 })).toEqual(planOf(parsed));
  });
});
