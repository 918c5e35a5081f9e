import { describe, expect, test } from 'vitest';
import type { Retryable } from '../../src/contract/charge.js';
import { retryableBy } from '../../src/domain/decline.js';
import type { DunningContext } from '../../src/domain/dunning.js';
import { afterAttempt, afterPause, openPeriod } from '../../src/domain/dunning.js';
import { dunningPolicyOf } from '../../src/domain/dunning-policy.js';
import type { AttemptResult, DunningState, DunningStep } from '../../src/domain/dunning-state.js';
import { afterCardChange, attemptRefusal, givenUp, NOTHING_TRIED } from '../../src/domain/dunning-state.js';
import { nextFaultRetry } from '../../src/domain/dunning-times.js';
import { instantOf } from '../../src/domain/local-time.js';
import { MONTHLY, wallClock } from './calendar-arbitraries.js';

const ROME = 'Europe/Rome';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const at = (date: string, time: string): number => instantOf(date, time, ROME);
const local = (ms: number): string => wallClock(ms, ROME);
const FIRST_TRY = at('2027-03-25', '10:04');
const PERIOD_END = at('2027-04-25', '10:00');

function context(change: Partial<DunningContext> = {}): DunningContext {
  const policy = dunningPolicyOf(undefined, MONTHLY);
  return { policy, now: FIRST_TRY, timeZone: ROME, jitterMs: 0, fraction: 0, periodEndsAt: PERIOD_END, ...change };
}
function declined(category: string, subCategory?: string): AttemptResult & { retryable: Retryable } {
  return { status: 'declined', category, retryable: retryableBy(category, subCategory), confirmed: true };
}
const SOFT = declined('payment_method_declined', 'insufficient_funds');
const HARD = declined('payment_method_declined', 'lost_stolen_card');
const UNCONFIRMED: AttemptResult = {
  status: 'declined',
  category: 'provider_network_error',
  retryable: 'nobody',
  confirmed: false,
};

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

describe('what nobody can retry', () => {
  test.each([declined('provider_authentication_error'), { status: 'refused' as const }])(
    '%p waits for a person, and pauses rather than cancels when none comes',
    (result) => {
      const { state, step } = afterAttempt(NOTHING_TRIED, result, context());
      expect(step).toEqual({ do: 'wait', for: 'person', giveUpAt: at('2027-04-01', '10:00') });
      expect(attemptRefusal(state, context().policy, 'schedule')).toBe('needsPerson');
      expect(attemptRefusal(state, context().policy, 'person')).toBeUndefined();
      expect(givenUp(state, context().policy)).toBe('pause');
      expect(givenUp(state, { ...context().policy, onGivenUp: 'continue' })).toBe('continue');
    },
  );
});

describe('a fault', () => {
  test.each([{ status: 'notExecuted' as const }, declined('provider_network_error')])(
    '%p uses no attempt: it is tried again after 15 min, 1 h, 4 h, 12 h, then daily',
    (result) => {
      let state: DunningState = NOTHING_TRIED;
      const delays: number[] = [];
      let now = FIRST_TRY;
      for (let count = 0; count < 6; count += 1) {
        const next = afterAttempt(state, result, context({ now }));
        state = next.state;
        if (next.step.do !== 'retry') throw new Error(`It went on with ${next.step.do}`);
        expect(next.step.after).toBe('fault');
        delays.push((next.step.at - now) / HOUR);
        now = next.step.at;
      }
      expect(delays).toEqual([0.25, 1, 4, 12, 24, 24]);
      expect(state.declines).toBe(0);
    },
  );

  test('that lasts until the period is over leaves it unpaid and harms the subscription no further', () => {
    const now = PERIOD_END - 15 * MINUTE;
    const { step } = afterAttempt(NOTHING_TRIED, { status: 'notExecuted' }, context({ now }));
    expect(step).toEqual({ do: 'giveUp', effect: 'continue' });
  });

  test('between two declines changes neither their number nor the days of the retries', () => {
    const once = afterAttempt(NOTHING_TRIED, SOFT, context()).state;
    const fault = afterAttempt(once, { status: 'notExecuted' }, context({ now: at('2027-03-26', '10:00') })).state;
    const { state, step } = afterAttempt(fault, SOFT, context({ now: at('2027-03-26', '10:15') }));
    expect(state).toEqual({ declines: 2, faults: 0, firstDeclinedAt: FIRST_TRY, heldMs: 15 * MINUTE });
    expect(step).toMatchObject({ do: 'retry', at: at('2027-03-28', '10:00') });
  });
});

test('a pause of days moves the schedule by as many, and one of hours by none', () => {
  const once = afterAttempt(NOTHING_TRIED, SOFT, context());
  const resumed = (day: string, time: string, hours: number): DunningStep =>
    afterPause(once, hours * HOUR, context({ now: at(day, time) })).step;
  expect(resumed('2027-03-25', '15:04', 5)).toEqual(once.step);
  expect(resumed('2027-04-04', '11:04', 240)).toEqual({ do: 'retry', at: at('2027-04-05', '10:00'), after: 'decline' });
});

describe('a doubt', () => {
  test.each(['unknown', 'pending'] as const)('(%s) blocks everybody, with another card too', (status) => {
    const { state, step } = afterAttempt(NOTHING_TRIED, { status }, context());
    expect(step).toEqual({ do: 'block' });
    for (const held of [state, afterCardChange(state)]) {
      expect(attemptRefusal(held, context().policy, 'schedule')).toBe('unresolved');
      expect(attemptRefusal(held, context().policy, 'person')).toBe('unresolved');
      expect(attemptRefusal(held, context().policy, 'personAtRisk')).toBe('unresolved');
    }
  });

  test('ends with the outcome, which counts once', () => {
    const blocked = afterAttempt(NOTHING_TRIED, { status: 'unknown' }, context()).state;
    expect(afterAttempt(blocked, { status: 'succeeded' }, context())).toEqual({
      state: { declines: 0, faults: 0 },
      step: { do: 'nothing' },
    });
    expect(afterAttempt(blocked, SOFT, context()).state).toEqual(afterAttempt(NOTHING_TRIED, SOFT, context()).state);
  });

  test('about a failure that the provider never confirmed is for a person alone: no schedule, no other card', () => {
    const { state, step } = afterAttempt(NOTHING_TRIED, UNCONFIRMED, context());
    expect(step).toMatchObject({ do: 'wait', for: 'confirmation' });
    expect(state.declines).toBe(0);
    expect(attemptRefusal(afterCardChange(state), context().policy, 'schedule')).toBe('unresolved');
    expect(attemptRefusal(state, context().policy, 'person')).toBe('unconfirmed');
    expect(attemptRefusal(state, context().policy, 'personAtRisk')).toBeUndefined();
    expect(givenUp(state, context().policy)).toBe('pause');
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
