import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { MISSED_PERIODS } from '../../src/contract/subscription.js';
import {
  periodOf,
  MISSED_PERIODS_DEFAULT,
  ON_TIME_MS,
  periodsDue,
  periodsDueAfter,
} from '../../src/domain/billing-calendar.js';
import { fullOr } from '../support/counts.js';
import { anyPlan, planFor } from './calendar-arbitraries.js';

const plan = planFor();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
function dueAt(n: number): number {
  const period = periodOf(plan, n);
  if (period === undefined) throw new Error(`There is no period ${n}`);
  return period.dueAt;
}
const anyPolicy = fc.constantFrom(...MISSED_PERIODS);

describe('without an outage', () => {
  test.each(MISSED_PERIODS)('by %s, each period is billed when it is due, and nothing before', (policy) => {
    expect(periodsDue(plan, 1, dueAt(1) - 1, policy)).toEqual({ next: periodOf(plan, 1) });
    expect(periodsDue(plan, 1, dueAt(1), policy)).toEqual({ bill: { first: 1, last: 1 }, next: periodOf(plan, 2) });
    expect(periodsDue(plan, 4, dueAt(4) + HOUR, policy)).toEqual({
      bill: { first: 4, last: 4 },
      next: periodOf(plan, 5),
    });
  });
});

describe('after an outage from period 3 to a week into period 7', () => {
  const now = dueAt(7) + 7 * DAY;
  const next = periodOf(plan, 8);

  test('billAll bills each of them', () => {
    expect(periodsDue(plan, 3, now, 'billAll')).toEqual({ bill: { first: 3, last: 7 }, next });
  });

  test('billLatest, the default, bills the last and reports the rest', () => {
    expect(MISSED_PERIODS_DEFAULT).toBe('billLatest');
    expect(periodsDue(plan, 3, now, 'billLatest')).toEqual({
      bill: { first: 7, last: 7 },
      missed: { first: 3, last: 6 },
      next,
    });
  });

  test.each([
    [
      'the last before those that are to be skipped',
      [6, 7],
      { bill: { first: 5, last: 7 }, missed: { first: 3, last: 4 } },
    ],
    [
      'the last, which is skipped, where all are to be',
      [3, 4, 5, 6, 7],
      { bill: { first: 7, last: 7 }, missed: { first: 3, last: 6 } },
    ],
  ])('billLatest bills %s', (_which, skipped, due) => {
    expect(periodsDue(plan, 3, now, 'billLatest', skipped)).toEqual({ ...due, next });
    const resumed = { at: dueAt(7), policy: 'billLatest' as const };
    expect(periodsDueAfter(resumed, plan, 3, now, 'skip', skipped)).toEqual({ ...due, next });
  });

  test('skip bills none and reports all, but still bills one that came due within the last day', () => {
    expect(periodsDue(plan, 3, now, 'skip')).toEqual({ missed: { first: 3, last: 7 }, next });
    const onTime = { bill: { first: 7, last: 7 }, missed: { first: 3, last: 6 }, next };
    expect(periodsDue(plan, 3, dueAt(7) + ON_TIME_MS, 'skip')).toEqual(onTime);
    expect(periodsDue(plan, 3, dueAt(7) + ON_TIME_MS + 1, 'skip').bill).toBeUndefined();
  });
});

describe('after a pause from period 3 to a week into period 7, while an open bill held up what followed until period 10', () => {
  const at = dueAt(7) + 7 * DAY;
  const now = dueAt(10) + 2 * DAY;
  const next = periodOf(plan, 11);

  test.each([
    ['skip', 'billAll', { missed: { first: 3, last: 7 }, bill: { first: 8, last: 10 } }],
    ['skip', 'billLatest', { missed: { first: 3, last: 9 }, bill: { first: 10, last: 10 } }],
    ['skip', 'skip', { missed: { first: 3, last: 10 } }],
    ['billLatest', 'skip', { missed: { first: 3, last: 6 }, bill: { first: 7, last: 7 } }],
    ['billLatest', 'billAll', { missed: { first: 3, last: 6 }, bill: { first: 7, last: 10 } }],
    ['billAll', 'billLatest', { bill: { first: 3, last: 10 } }],
  ] as const)('%s is for what the pause held, and %s for what came due later', (policy, later, due) => {
    expect(periodsDueAfter({ at, policy }, plan, 3, now, later)).toEqual({ ...due, next });
  });

  test('what the pause leaves to be billed is not planned again, neither at once nor when an open bill is over', () => {
    const bill = { first: 7, last: 7 };
    const missed = { first: 3, last: 6 };
    const atOnce = periodsDueAfter({ at, policy: 'billLatest' }, plan, 3, at, 'skip');
    expect(atOnce).toEqual({ bill, missed, next: periodOf(plan, 8) });
    const onTime = dueAt(7) + HOUR;
    const held = periodsDueAfter({ at: onTime, policy: 'skip' }, plan, 3, onTime + 25 * HOUR, 'skip');
    expect(held).toEqual({ bill, missed, next: periodOf(plan, 8) });
    const ended = periodsDueAfter({ at, policy: 'billLatest' }, { ...plan, periods: 7 }, 3, now, 'skip');
    expect(ended).toStrictEqual({ bill, missed });
  });

  test('an earlier billAll bills what was due when the pause began, and nothing that came due in it', () => {
    const resumed = { at, policy: 'billAll', allUntil: dueAt(4) + HOUR } as const;
    expect(periodsDueAfter(resumed, plan, 3, now, 'billLatest')).toEqual({ bill: { first: 3, last: 4 }, next });
    for (const later of MISSED_PERIODS)
      expect(periodsDueAfter(resumed, plan, 5, now, later)).toEqual(
        periodsDueAfter({ at, policy: 'skip' }, plan, 5, now, later),
      );
  });

  test('a single period of a pause is billed where nothing was missed, and nothing is reported', () => {
    const resumed = { at: dueAt(3) + HOUR, policy: 'billLatest' } as const;
    const due = { bill: { first: 3, last: 3 }, next: periodOf(plan, 4) };
    expect(periodsDueAfter(resumed, plan, 3, resumed.at + HOUR, 'billLatest')).toStrictEqual(due);
    expect(periodsDueAfter({ ...resumed, policy: 'skip' }, plan, 3, resumed.at, 'skip')).toStrictEqual(due);
  });

  test('nothing of the pause is left once its last period is dealt with', () => {
    for (const policy of MISSED_PERIODS) {
      expect(periodsDueAfter({ at, policy }, plan, 8, now, 'billLatest')).toEqual(
        periodsDue(plan, 8, now, 'billLatest'),
      );
    }
  });
});

test('a plan that ended during an outage has no next period, and its last ones are still dealt with', () => {
  const ended = { ...plan, periods: 5 };
  expect(periodsDue(ended, 3, dueAt(20), 'billLatest')).toEqual({
    bill: { first: 5, last: 5 },
    missed: { first: 3, last: 4 },
  });
  expect(periodsDue(ended, 6, dueAt(20), 'billAll')).toStrictEqual({});
});

test('years of daily periods are found in a moment', () => {
  const daily = planFor({ anchor: '2000-01-01', interval: { every: 1, unit: 'day' } });
  const now = Date.parse('2027-01-31T12:00:00Z');
  const { bill, missed, next } = periodsDue(daily, 1, now, 'billLatest');
  expect(bill).toEqual({ first: 9_893, last: 9_893 });
  expect(missed).toEqual({ first: 1, last: 9_892 });
  expect(next).toEqual(periodOf(daily, 9_894));
});

test('every period that is due is either billed or reported, never both and never neither', () => {
  fc.assert(
    fc.property(anyPlan, anyPolicy, fc.integer({ min: 1, max: 50 }), fc.nat(3_000), (some, policy, from, days) => {
      const begin = periodOf(some, from)?.dueAt ?? 0;
      const now = begin - DAY + days * DAY;
      const { bill, missed, next } = periodsDue(some, from, now, policy);
      const covered = [missed, bill].filter((range) => range !== undefined);
      let expected = from;
      for (const { first, last } of covered) {
        expect(first).toBe(expected);
        expect(last).toBeGreaterThanOrEqual(first);
        expected = last + 1;
      }
      expect(next?.period).toBe(expected);
      expect(next?.dueAt).toBeGreaterThan(now);
      if (expected > from) expect(periodOf(some, expected - 1)?.dueAt).toBeLessThanOrEqual(now);
      if (policy !== 'billAll' && bill !== undefined) expect(bill.first).toBe(bill.last);
    }),
    { numRuns: fullOr(4_000, 120) },
  );
});

test('whenever it is looked, no period is billed twice: what was dealt with is not asked for again', () => {
  fc.assert(
    fc.property(anyPlan, anyPolicy, fc.array(fc.nat(90), { maxLength: 20 }), (some, policy, waits) => {
      let now = (periodOf(some, 1)?.dueAt ?? 0) - 1;
      let from = 1;
      let lastBilled = 0;
      for (const days of waits) {
        now += days * DAY;
        const { bill, next } = periodsDue(some, from, now, policy);
        if (bill !== undefined) {
          expect(bill.first).toBeGreaterThan(lastBilled);
          lastBilled = bill.last;
        }
        from = next?.period ?? from;
        expect(periodsDue(some, from, now, policy)).toEqual({ next });
      }
    }),
    { numRuns: fullOr(1_500, 60) },
  );
});
