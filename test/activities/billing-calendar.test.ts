import { describe, expect, test } from 'vitest';
import { classifyAttempt, planBilling } from '../../activities/billing.js';
import { changePlan } from '../../src/domain/changed-plan.js';
import type { BillingPlan, PlanBillingCall } from '../../src/contract/billing-activities.js';

const PLAN: BillingPlan = {
  reference: 'club-7',
  anchor: '2027-01-31',
  trialDays: 0,
  interval: { every: 1, unit: 'month' },
  timeZone: 'Europe/Rome',
  billAt: '10:00',
  jitterMs: 0,
};
/** 10:00 in Rome, which is an hour ahead of UTC until 28 March 2027 and two hours from then on. */
const DUE = [
  Date.UTC(2027, 0, 31, 9),
  Date.UTC(2027, 1, 28, 9),
  Date.UTC(2027, 2, 31, 8),
  Date.UTC(2027, 3, 30, 8),
] as const;

const call = (change: Partial<PlanBillingCall>): PlanBillingCall => ({
  plan: PLAN,
  from: 1,
  now: DUE[0],
  policy: 'billLatest',
  dunning: undefined,
  previous: undefined,
  lastPaid: undefined,
  ...change,
});

describe('what a subscription is told to bill', () => {
  test('is nothing before the first period is due', () => {
    const { ahead: _ahead, ...now } = planBilling(call({ now: DUE[0] - 1 }));
    expect(now).toEqual({ next: { period: 1, date: '2027-01-31', dueAt: DUE[0] } });
  });

  test('is told ahead as it will be when it is due, so that a flow which nobody disturbed need not ask again', () => {
    const { ahead } = planBilling(call({ now: DUE[0] - 1 }));
    expect(ahead).toEqual(planBilling(call({ now: DUE[0] })));
    const resumed = { at: DUE[0] - 2, policy: 'billAll' } as const;
    expect(planBilling(call({ now: DUE[0] - 1, resumed })).ahead).toEqual(ahead);
    const last = { plan: { ...PLAN, periods: 1 } };
    const { after: _after, ...then } = planBilling(call({ ...last, now: DUE[0] }));
    expect(planBilling(call({ ...last, now: DUE[0] - 1 })).ahead).toEqual(then);
    const held = { previous: { declines: 2, faults: 0, hold: 'card' } } as const;
    expect(planBilling(call({ ...held, now: DUE[0] - 1 })).ahead).toEqual(planBilling(call({ ...held, now: DUE[0] })));
  });

  test('is a period from the moment at which it is due, with the time until the next one to be paid in', () => {
    expect(planBilling(call({}))).toEqual({
      bill: {
        period: 1,
        date: '2027-01-31',
        endsAt: DUE[1],
        state: { declines: 0, faults: 0 },
        step: { do: 'attempt' },
      },
      next: { period: 2, date: '2027-02-28', dueAt: DUE[1] },
    });
  });

  test('is, of several that came due unseen, the latest, and the others are reported', () => {
    const planned = planBilling(call({ now: DUE[2] + 1 }));
    expect(planned.bill).toMatchObject({ period: 3, date: '2027-03-31', endsAt: DUE[3] });
    expect(planned.missed).toEqual({ first: 1, last: 2 });
    expect(planned.next?.period).toBe(4);
  });

  test('is, where all are to be billed, the oldest first, and each has until the next regular one', () => {
    const planned = planBilling(call({ now: DUE[2] + 1, policy: 'billAll' }));
    expect(planned.bill).toMatchObject({ period: 1, date: '2027-01-31', endsAt: DUE[3] });
    expect(planned.missed).toBeUndefined();
  });

  test('is, of the last period of a plan, billed late, given a day to be tried again', () => {
    const plan = { ...PLAN, periods: 1 };
    expect(planBilling(call({ plan })).bill?.endsAt).toBe(DUE[1]);
    const late = DUE[2];
    expect(planBilling(call({ plan, now: late })).bill?.endsAt).toBe(late + 86_400_000);
    expect(planBilling(call({ plan, now: late })).next).toBeUndefined();
  });

  test('is nothing after the last period, which ends as if another one came; what was not paid for ends nothing', () => {
    const plan = { ...PLAN, periods: 3 };
    const after = { period: 4, date: '2027-04-30', dueAt: DUE[3] };
    expect(planBilling(call({ plan, from: 4, now: DUE[2], lastPaid: 3 }))).toEqual({ endsAt: DUE[3], after });
    expect(planBilling(call({ plan, from: 4, now: DUE[2], lastPaid: 2 }))).toEqual({ endsAt: DUE[2], after });
    expect(planBilling(call({ plan, from: 4, now: DUE[2] }))).toEqual({ after });
    expect(planBilling(call({ plan, from: 1, now: DUE[2], policy: 'billAll' })).after).toEqual(after);
    const interval = { every: 1, unit: 'day' } as const;
    const { plan: changed } = changePlan({ plan, from: 3, now: DUE[1], interval, billAt: undefined });
    expect(planBilling(call({ plan: changed, from: 4, now: DUE[2], lastPaid: 1 }))).not.toHaveProperty('endsAt');
  });

  test('waits behind a payment of the period before of which nobody knows what it did', () => {
    const previous = { declines: 0, faults: 0, hold: 'outcome' as const };
    expect(planBilling(call({ from: 2, now: DUE[1], previous })).bill?.step).toEqual({ do: 'block' });
  });

  test('is by the policy of a pause only what came due in it', () => {
    const resumed = { at: DUE[1], policy: 'skip' as const };
    const planned = planBilling(call({ now: DUE[2] + 1, resumed, policy: 'billLatest' }));
    expect(planned.bill?.period).toBe(3);
    expect(planned.missed).toEqual({ first: 1, last: 2 });
  });
});

describe('an attempt at a bill', () => {
  const attempt = { plan: PLAN, dunning: undefined, endsAt: DUE[1], state: { declines: 0, faults: 0 }, now: DUE[0] };

  test('that was declined softly is tried again the next day at ten, in the zone of the subscription', () => {
    const result = {
      status: 'declined',
      category: 'payment_method_declined',
      retryable: 'newReference',
      confirmed: true,
    } as const;
    expect(classifyAttempt({ ...attempt, result })).toEqual({
      state: { declines: 1, faults: 0, firstDeclinedAt: DUE[0] },
      step: { do: 'retry', at: Date.UTC(2027, 1, 1, 9), after: 'decline' },
    });
  });

  test('whose outcome nobody knows blocks everything', () => {
    expect(classifyAttempt({ ...attempt, result: { status: 'unknown' } }).step).toEqual({ do: 'block' });
  });
});

test('another interval keeps the day of the anchor: from the last of January monthly to the last of May', () => {
  const interval = { every: 3, unit: 'month' } as const;
  const { plan: quarterly } = changePlan({ plan: PLAN, from: 2, now: DUE[1] - 1, interval, billAt: undefined });
  const dates = [DUE[1], Date.UTC(2027, 4, 31, 8)].map((now, index) => {
    return planBilling(call({ plan: quarterly, from: index + 2, now })).bill?.date;
  });
  expect(dates).toEqual(['2027-02-28', '2027-05-31']);
});
