import { describe, expect, test } from 'vitest';
import {
  afterAttempt,
  afterPause,
  afterCardChange,
  attemptRefusal,
  givenUp,
  NOTHING_TRIED,
} from '../../src/domain/dunning.js';
import type { DunningState, DunningStep } from '../../src/contract/billing-activities.js';
import { MINUTE, HOUR, at, FIRST_TRY, PERIOD_END, context, declined, SOFT, UNCONFIRMED } from './dunning-cases.js';

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
