import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planBilling } from '../../activities/billing.js';
import type { BillingPlan } from '../../src/contract/billing-activities.js';
import type { BillingSchedule, FutureBill, PreviewRequest } from '../../src/contract/subscription-bills.js';
import { amountFaults, amountOf } from '../../src/domain/bill-amounts.js';
import { periodOf } from '../../src/domain/billing-calendar.js';
import { billsToCome, scheduleAfter } from '../../src/domain/bills-to-come.js';
import { amountsOf, carriedAmounts } from '../../workflows/billing/carried-state.js';
import { fullOr } from '../support/counts.js';
import { anyPlan, planFor } from './calendar-arbitraries.js';

type Change = NonNullable<PreviewRequest['change']>;

const anyAmount = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 99_999 }));
const anyAmounts = (from: number) =>
  fc
    .uniqueArray(fc.record({ fromPeriod: fc.integer({ min: from, max: 12 }), amount: anyAmount }), {
      maxLength: 4,
      selector: ({ fromPeriod }) => fromPeriod,
    })
    .map((amounts) => amounts.toSorted((x, y) => x.fromPeriod - y.fromPeriod));

const anyChange: fc.Arbitrary<Change> = fc.oneof(
  fc
    .record(
      {
        amount: anyAmount,
        interval: fc.constantFrom({ every: 1, unit: 'week' }, { every: 3, unit: 'month' }, { every: 1, unit: 'year' }),
        billAt: fc.constantFrom('00:15', '16:00'),
      } as const,
      { requiredKeys: [] },
    )
    .map((changePlan) => ({ changePlan })),
  fc.record({ amount: anyAmount, fromPeriod: fc.integer({ min: 1, max: 12 }) }).map((changePlan) => ({ changePlan })),
  anyAmounts(1).map((amounts) => ({ changePlan: { amounts } })),
  fc
    .record({ period: fc.integer({ min: 1, max: 12 }), undo: fc.constantFrom(true as const, undefined) })
    .map((skipPeriod) => ({ skipPeriod })),
);

const anyStart = fc.record({
  plan: fc
    .record({ plan: anyPlan, periods: fc.constantFrom(undefined, 6, 20) })
    .map(({ plan, periods }): BillingPlan => ({ ...plan, ...(periods !== undefined && { periods }) })),
  amount: anyAmount,
  amounts: anyAmounts(2),
});

/** A command on the day after a bill, period by period. */
const anyLife = fc.array(fc.option(anyChange, { nil: undefined }), { minLength: 8, maxLength: 8 });

const DAY = 86_400_000;

/** What a subscription does: asks its calendar, decides by the amounts, and leaves what the next run needs. */
class Life {
  readonly bills: FutureBill[] = [];

  constructor(
    public schedule: BillingSchedule,
    public now: number,
  ) {}

  /** Bills the next period; false if there is none. */
  billNext(): boolean {
    const { plan, next } = this.schedule;
    const ask = { plan, from: next, policy: 'billLatest', dunning: undefined, previous: undefined } as const;
    const asked = planBilling({ ...ask, now: this.now, lastPaid: undefined });
    if (asked.next === undefined) return false;
    this.now = asked.next.dueAt;
    const { bill } = planBilling({ ...ask, now: this.now, lastPaid: undefined });
    if (bill === undefined) throw new Error('its next period is not due when it was said to be');
    const amount = amountOf(this.schedule, bill.period);
    const isSkipped = this.schedule.skipped?.includes(bill.period) === true;
    this.bills.push({
      period: bill.period,
      date: bill.date,
      dueAt: new Date(this.now).toISOString(),
      ...(amount !== undefined && { amount }),
      ...(isSkipped && { skipped: true as const }),
    });
    const { amounts, ...rest } = this.schedule;
    // As the next run finds them.
    this.schedule = { ...rest, next: bill.period + 1, amounts: amountsOf(carriedAmounts(amounts)) };
    return true;
  }
}

const begun = ({ plan, amount, amounts }: { plan: BillingPlan; amount: number; amounts: BillingSchedule['amounts'] }) =>
  new Life({ plan, next: 1, amounts: [{ fromPeriod: 1, amount }, ...amounts] }, (periodOf(plan, 1)?.dueAt ?? 0) - DAY);

describe('a preview', () => {
  test('is what is billed afterwards, before and after any change, until the next command', () => {
    fc.assert(
      fc.property(anyStart, anyLife, (start, changes) => {
        const life = begun(start);
        for (const change of changes) {
          if (!life.billNext()) break;
          life.now += Math.floor(DAY / 4);
          const before = billsToCome(life.schedule, 3, life.now);
          const after = change === undefined ? life.schedule : scheduleAfter(life.schedule, change, life.now);
          const isDone = !('refusal' in after);
          const foreseen = isDone ? billsToCome(after, 3, life.now) : before;
          const copy = new Life(isDone ? after : life.schedule, life.now);
          while (copy.bills.length < 3 && copy.billNext());
          expect(foreseen).toEqual(copy.bills);
          if (isDone) life.schedule = after;
        }
      }),
      { numRuns: fullOr(200, 10) },
    );
  });

  test('of a change keeps every bill that is due or billed already, and every one before its first period', () => {
    fc.assert(
      fc.property(anyStart, fc.integer({ min: 1, max: 12 }), anyAmount, (start, fromPeriod, amount) => {
        const life = begun(start);
        life.billNext();
        life.now += 60_000;
        const before = billsToCome(life.schedule, 12, life.now);
        const after = scheduleAfter(life.schedule, { changePlan: { fromPeriod, amount } }, life.now);
        if ('refusal' in after) {
          expect(fromPeriod === 1 || fromPeriod > 6 || before.length === 0).toBe(true);
          return;
        }
        const changed = billsToCome(after, 12, life.now);
        const expected = before.map((bill) => (bill.period < fromPeriod ? bill : { ...bill, amount }));
        expect(changed).toEqual(expected);
      }),
      { numRuns: fullOr(200, 15) },
    );
  });
});

describe('what can not be done', () => {
  const plan = planFor({ periods: 12 });
  const schedule: BillingSchedule = { plan, next: 3, amounts: [{ fromPeriod: 1, amount: 999 }] };
  /** The day after period 2. */
  const now = Date.parse('2027-03-01T12:00:00Z');

  test.each<[string, BillingSchedule, Change, string, boolean]>([
    [
      'an amount for what is billed',
      schedule,
      { changePlan: { amount: 1, fromPeriod: 2 } },
      'fromPeriod: 2 is billed, due or over already; the first one that can change is 3',
      true,
    ],
    [
      'amounts of which some are late',
      schedule,
      {
        changePlan: {
          amounts: [
            { fromPeriod: 1, amount: 1 },
            { fromPeriod: 2, amount: 2 },
            { fromPeriod: 13, amount: 2 },
          ],
        },
      },
      'amounts.0.fromPeriod: 1 is billed, due or over already; the first one that can change is 3; amounts.1.fromPeriod: 2 is billed, due or over already; the first one that can change is 3; amounts.2.fromPeriod: 13 is never billed: the plan ends before',
      true,
    ],
    [
      'an amount of a metered one',
      { ...schedule, metered: true, amounts: [] },
      { changePlan: { amount: 1 } },
      'amount: it is metered, so setAmount supplies each amount',
      true,
    ],
    [
      'a skip of what is billed',
      schedule,
      { skipPeriod: { period: 2 } },
      'period 2 is billed, due or over already; the first one that can be skipped is 3',
      false,
    ],
    ['a skip beyond the end', schedule, { skipPeriod: { period: 13 } }, 'the plan ends before period 13', false],
    [
      'a skip twice',
      { ...schedule, skipped: [4] },
      { skipPeriod: { period: 4 } },
      'period 4 is to be skipped already',
      false,
    ],
    ['an undo of none', schedule, { skipPeriod: { period: 4, undo: true } }, 'period 4 is not to be skipped', false],
    [
      'an undo of a skip that is over',
      { ...schedule, skipped: [2] },
      { skipPeriod: { period: 2, undo: true } },
      'period 2 is not to be skipped',
      false,
    ],
    [
      'anything after a cancel',
      { ...schedule, cancelAtPeriodEnd: true },
      { changePlan: { amount: 1 } },
      'it is cancelled at the end of the present period',
      false,
    ],
    ['anything after the end', { ...schedule, ended: true }, { skipPeriod: { period: 4 } }, 'it has ended', false],
  ])('is %s', (_what, given, change, refusal, isInput) => {
    expect(scheduleAfter(given, change, now)).toEqual({ refusal, isInput });
  });

  test('is a skip of a period that is due, though not open yet', () => {
    const late = Date.parse('2027-03-31T09:00:00Z');
    expect(scheduleAfter(schedule, { skipPeriod: { period: 3 } }, late)).toEqual({
      refusal: 'period 3 is due already',
      isInput: false,
    });
    expect(billsToCome(schedule, 1, late)).toMatchObject([{ period: 4, date: '2027-04-30', amount: 999 }]);
  });
});

test('amounts that hold from before the first period that can change need no days of the plan', () => {
  const plan = planFor({ endsOn: '2190-01-01' });
  const changed = { ...plan, since: { period: 5, skipMonths: 4 } };
  const first = { period: 6, date: '2027-06-30', dueAt: 0 };
  const faults = (from?: number) =>
    amountFaults({ amounts: [], plan: changed }, { amount: 1, fromPeriod: 2 }, first, from);
  expect(faults(1)).toEqual([]);
  expect(faults()).toEqual([expect.stringMatching(/^fromPeriod: 2 is billed, due or over already/)]);
});

test('amounts are carried as they are, from the next period on', () => {
  fc.assert(
    fc.property(fc.tuple(anyAmount, anyAmounts(2)), fc.integer({ min: 1, max: 14 }), ([amount, later], period) => {
      const amounts = [{ fromPeriod: 1, amount }, ...later];
      expect(amountOf({ amounts: amountsOf(carriedAmounts(amounts)) }, period)).toBe(amountOf({ amounts }, period));
    }),
  );
});
