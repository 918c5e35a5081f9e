import { describe, expect, test } from 'vitest';
import {
  afterAttempt,
  type DunningContext,
  openPeriod,
  dunningPolicyOf,
  afterCardChange,
  attemptRefusal,
  NOTHING_TRIED,
  nextFaultRetry,
} from '../../src/domain/dunning.js';
import type { AttemptResult, DunningState } from '../../src/contract/billing-activities.js';
import { MONTHLY } from './calendar-arbitraries.js';
import {
  MINUTE,
  at,
  local,
  FIRST_TRY,
  PERIOD_END,
  context,
  declined,
  SOFT,
  HARD,
  UNCONFIRMED,
} from './dunning-cases.js';

describe('a soft decline', () => {
  test('is also what a provider answers without a reason: its card is not charged thirty times a month', () => {
    let state: DunningState = NOTHING_TRIED;
    let tries = 0;
    for (let now = FIRST_TRY; ; tries += 1) {
      const next = afterAttempt(state, declined('provider_error'), context({ now }));
      state = next.state;
      if (next.step.do !== 'retry') {
        expect(next.step).toEqual({ do: 'giveUp', effect: 'cancel' });
        break;
      }
      now = next.step.at;
    }
    expect([tries, state.declines]).toEqual([4, 5]);
  });

  test('is tried again after 1, 3, 5 and 7 days at 10:00, across a change of the clocks, then given up', () => {
    let state: DunningState = NOTHING_TRIED;
    const retries: string[] = [];
    let now = FIRST_TRY;
    for (;;) {
      const next = afterAttempt(state, SOFT, context({ now }));
      state = next.state;
      if (next.step.do !== 'retry') {
        expect(next.step).toEqual({ do: 'giveUp', effect: 'cancel' });
        break;
      }
      expect(next.step.after).toBe('decline');
      retries.push(local(next.step.at));
      now = next.step.at;
    }
    expect(retries).toEqual(['2027-03-26', '2027-03-28', '2027-03-30', '2027-04-01'].map((day) => `${day} 10:00:00`));
    expect(state.declines).toBe(5);
  });

  test('of another card on the day of a retry waits for the next day of the list', () => {
    const once = afterAttempt(NOTHING_TRIED, SOFT, context()).state;
    const newCard = afterCardChange(once);
    const { step } = afterAttempt(newCard, SOFT, context({ now: at('2027-03-26', '09:59') }));
    expect(step).toEqual({ do: 'retry', at: at('2027-03-28', '10:00'), after: 'decline' });
  });

  test('is not tried again once the period is over', () => {
    const periodEndsAt = at('2027-03-28', '10:00');
    const once = afterAttempt(NOTHING_TRIED, SOFT, context({ periodEndsAt }));
    expect(once.step).toEqual({ do: 'retry', at: at('2027-03-26', '10:00'), after: 'decline' });
    const twice = afterAttempt(once.state, SOFT, context({ periodEndsAt, now: at('2027-03-26', '10:01') }));
    expect(twice.step).toEqual({ do: 'giveUp', effect: 'cancel' });
  });
});

test.each(['2027-03-24', '2027-03-27', '2027-03-28', '2027-10-30', '2027-10-31'])(
  'a first decline so late in its period that no retry fits cancels nobody who did not ask for that, at any hour of %s',
  (day) => {
    const hours = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:30`);
    const effects = (policy: DunningContext['policy']): string[] =>
      hours.flatMap((hour) => {
        const now = at(day, hour);
        const late = { now, jitterMs: 6 * 3_600_000, fraction: 0.9, periodEndsAt: now + 86_400_000, policy };
        const { step } = afterAttempt(NOTHING_TRIED, SOFT, context(late));
        return step.do === 'giveUp' ? [step.effect] : [];
      });
    expect(new Set(effects(dunningPolicyOf(undefined, MONTHLY)))).toEqual(new Set(['continue']));
    expect(new Set(effects(dunningPolicyOf({ onGivenUp: 'cancel' }, MONTHLY)))).toEqual(new Set(['cancel']));
  },
);

test.each([SOFT, HARD])('the last decline that the policy allows gives the period up: %p', (result) => {
  const policy = { ...dunningPolicyOf(undefined, MONTHLY), maxAttempts: 2 };
  const once = afterAttempt(NOTHING_TRIED, SOFT, context({ policy }));
  expect(once.step.do).toBe('retry');
  const twice = afterAttempt(once.state, result, context({ policy, now: at('2027-03-26', '10:00') }));
  expect(twice.step).toEqual({ do: 'giveUp', effect: 'cancel' });
  expect(attemptRefusal(afterCardChange(twice.state), policy, 'person')).toBe('noAttemptsLeft');
});

describe('a hard decline', () => {
  test.each([
    ['payment_method_declined', 'lost_stolen_card'],
    ['payment_method_declined', 'transaction_denied_by_cardholder'],
    ['payment_method_error', undefined],
    // Sub-categories come with any category, one that sounds like a fault included.
    ['provider_error', 'lost_stolen_card'],
  ])('(%s, %s) waits for another card, no longer than the retries would have taken', (category, subCategory) => {
    const { state, step } = afterAttempt(NOTHING_TRIED, declined(category, subCategory), context());
    expect(step).toEqual({ do: 'wait', for: 'card', giveUpAt: at('2027-04-01', '10:00') });
    expect(attemptRefusal(state, context().policy, 'schedule')).toBe('needsNewCard');
    expect(attemptRefusal(state, context().policy, 'person')).toBe('needsNewCard');
    expect(attemptRefusal(afterCardChange(state), context().policy, 'schedule')).toBeUndefined();
  });

  test('on the last day of the retries still leaves three days to bring a card, but not past the period', () => {
    const soft = afterAttempt(NOTHING_TRIED, SOFT, context()).state;
    const now = at('2027-04-01', '10:00');
    expect(afterAttempt(soft, HARD, context({ now })).step).toMatchObject({ giveUpAt: at('2027-04-04', '10:00') });
    const periodEndsAt = at('2027-04-02', '10:00');
    expect(afterAttempt(soft, HARD, context({ now, periodEndsAt })).step).toMatchObject({ giveUpAt: periodEndsAt });
    const over = afterAttempt(soft, HARD, context({ now, periodEndsAt: now }));
    expect(over.step).toEqual({ do: 'giveUp', effect: 'cancel' });
  });
});

describe('the next period', () => {
  const april = { now: PERIOD_END, periodEndsAt: at('2027-05-25', '10:00') };
  const after = (result: AttemptResult): DunningState => afterAttempt(NOTHING_TRIED, result, context()).state;

  test.each([undefined, after({ status: 'succeeded' }), after(SOFT), after(UNCONFIRMED), after({ status: 'refused' })])(
    'begins afresh with an attempt after %p',
    (previous) => {
      expect(openPeriod(previous, context(april))).toEqual({ state: NOTHING_TRIED, step: { do: 'attempt' } });
    },
  );

  test('tries no card that was declined for good in the one before, but waits for another', () => {
    const { state, step } = openPeriod(after(HARD), context(april));
    expect(step).toEqual({ do: 'wait', for: 'card', giveUpAt: at('2027-05-02', '10:00') });
    expect(attemptRefusal(state, context().policy, 'person')).toBe('needsNewCard');
    expect(openPeriod(afterCardChange(after(HARD)), context(april)).step).toEqual({ do: 'attempt' });
  });

  test('waits for the outcome of the one before', () => {
    expect(openPeriod(after({ status: 'unknown' }), context(april)).step).toEqual({ do: 'block' });
  });
});

describe('the policy', () => {
  test('by default retries four times in a week, with eight declines at most, then cancels', () => {
    const expected = {
      retryDays: [1, 3, 5, 7],
      localHour: 10,
      maxAttempts: 8,
      onGivenUp: 'cancel',
      onCutShort: 'continue',
    };
    expect(dunningPolicyOf(undefined, MONTHLY)).toEqual(expected);
    expect(dunningPolicyOf({ onGivenUp: 'pause', localHour: 8 }, MONTHLY)).toEqual({
      ...expected,
      onGivenUp: 'pause',
      onCutShort: 'pause',
      localHour: 8,
    });
  });

  test('by default keeps the retries that end before the next bill', () => {
    expect(dunningPolicyOf(undefined, { every: 1, unit: 'week' })).toMatchObject({
      retryDays: [1, 3, 5],
      onGivenUp: 'cancel',
    });
  });

  test('by default cancels nobody for one declined bill of many', () => {
    const daily = { every: 1, unit: 'day' } as const;
    expect(dunningPolicyOf(undefined, daily)).toMatchObject({ retryDays: [], onGivenUp: 'continue' });
    expect(dunningPolicyOf({ onGivenUp: 'cancel' }, daily).onGivenUp).toBe('cancel');
    expect(dunningPolicyOf({ retryDays: [] }, MONTHLY).onGivenUp).toBe('cancel');
  });
});

test.each<[string, AttemptResult, DunningState['hold'], string]>([
  ['a card that is lost', HARD, 'card', 'cancel'],
  ['a rule of the merchant', declined('blocked_by_decision_engine'), 'person', 'pause'],
  ['an empty account', SOFT, undefined, 'cancel'],
])(
  'the last attempt that was declined for %s says what giving up means, and who may bill again',
  (_name, result, hold, effect) => {
    const policy = { ...dunningPolicyOf({ maxAttempts: 1 }, MONTHLY) };
    expect(afterAttempt(NOTHING_TRIED, result, context({ policy }))).toStrictEqual({
      state: { declines: 1, faults: 0, firstDeclinedAt: FIRST_TRY, ...(hold !== undefined && { hold }) },
      step: { do: 'giveUp', effect },
    });
  },
);

test('a policy without retries gives up as it says: no bill was cut short', () => {
  const policy = dunningPolicyOf({ retryDays: [] }, MONTHLY);
  expect(afterAttempt(NOTHING_TRIED, SOFT, context({ policy })).step).toEqual({ do: 'giveUp', effect: 'cancel' });
});

test.each([
  [1, 15],
  [2, 60],
  [3, 4 * 60],
  [4, 12 * 60],
  [5, 24 * 60],
  [18, 24 * 60],
  [19, 7 * 24 * 60],
  [50, 7 * 24 * 60],
])(
  'fault %i in a row is sent again after %i minutes and the share of a quarter that the reference has',
  (faults, minutes) => {
    const clock = context({ fraction: 0.5 });
    expect(nextFaultRetry(faults, clock)).toBe(FIRST_TRY + minutes * MINUTE * 1.125);
    const periodEndsAt = FIRST_TRY + minutes * MINUTE * 1.125;
    expect(nextFaultRetry(faults, { ...clock, periodEndsAt })).toBeUndefined();
    expect(nextFaultRetry(faults, { ...clock, periodEndsAt: periodEndsAt + 1 })).toBe(periodEndsAt);
  },
);
