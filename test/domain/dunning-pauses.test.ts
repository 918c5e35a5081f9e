import { describe, expect, test } from 'vitest';
import {
  afterAttempt,
  afterPause,
  type DunningContext,
  dunningPolicyOf,
  givenUpWait,
  heldFor,
  NOTHING_TRIED,
  openPeriod,
} from '../../src/domain/dunning.js';
import type { DunningState, Hold } from '../../src/contract/billing-activities.js';
import type { OnGivenUp } from '../../src/contract/subscription.js';
import { MONTHLY } from './calendar-arbitraries.js';
import { at, context, FIRST_TRY, HARD, HOUR, PERIOD_END, SOFT } from './dunning-cases.js';

const DAY = 24 * HOUR;
const DECLINED: DunningState = { declines: 1, faults: 0, firstDeclinedAt: FIRST_TRY };

describe('time in which nothing could be tried', () => {
  test.each<[string, DunningState, number, DunningState]>([
    ['puts the retries off', DECLINED, 5 * HOUR, { ...DECLINED, heldMs: 5 * HOUR }],
    ['adds to what put them off before', { ...DECLINED, heldMs: DAY }, HOUR, { ...DECLINED, heldMs: 25 * HOUR }],
    ['of no length changes nothing', DECLINED, 0, DECLINED],
    ['takes nothing away where a clock was set back', { ...DECLINED, heldMs: DAY }, -1, { ...DECLINED, heldMs: DAY }],
    ['before the first decline puts nothing off', NOTHING_TRIED, DAY, NOTHING_TRIED],
  ])('%s', (_name, state, ms, expected) => {
    expect(heldFor(state, ms)).toStrictEqual(expected);
  });
});

describe('after a pause', () => {
  /** Waits for another card until 1 April, 10:00. */
  const waiting = afterAttempt(NOTHING_TRIED, HARD, context());
  const UNTIL = at('2027-04-01', '10:00');

  test.each([
    ['an hour', HOUR, { giveUpAt: UNTIL + HOUR }],
    ['ten days', 10 * DAY, { giveUpAt: at('2027-04-11', '10:00') }],
    ['all the time until the next bill', 24 * DAY, { giveUpAt: PERIOD_END }],
    ['more time than the next bill leaves', 24 * DAY + 1, { giveUpAt: PERIOD_END, cutShort: true }],
    ['half a year', 180 * DAY, { giveUpAt: PERIOD_END, cutShort: true }],
  ])('of %s the buyer has as long to bring a card as before it, up to the next bill', (_of, ms, until) => {
    expect(afterPause(waiting, ms, context({ now: FIRST_TRY + ms }))).toStrictEqual({
      state: { ...DECLINED, hold: 'card', heldMs: ms },
      step: { do: 'wait', for: 'card', ...until },
    });
  });

  test.each<[string, number, number]>([
    ['at once where its hour has passed', 30 * HOUR, at('2027-03-26', '20:00')],
    ['at its own hour where that is still to come', 14 * HOUR, at('2027-03-26', '10:00')],
  ])('a retry for which the next bill leaves no later day is made %s', (_when, paused, expected) => {
    const periodEndsAt = at('2027-03-27', '10:00');
    const once = afterAttempt(NOTHING_TRIED, SOFT, context({ periodEndsAt }));
    const now = paused === 30 * HOUR ? at('2027-03-26', '20:00') : at('2027-03-26', '00:30');
    expect(afterPause(once, paused, context({ periodEndsAt, now })).step).toEqual({
      do: 'retry',
      at: expected,
      after: 'decline',
    });
  });

  test.each([
    ['that is over by then is made at once, and what it has waited counts once', 5 * DAY, 5 * DAY],
    ['that is still to come keeps its time', HOUR / 6, HOUR / 4],
  ])('a retry after a fault %s', (_when, ms, heldMs) => {
    const faultAt = at('2027-03-26', '10:00');
    const fault = afterAttempt(DECLINED, { status: 'notExecuted' }, context({ now: faultAt }));
    expect(afterPause(fault, ms, context({ now: faultAt + ms }))).toEqual({
      state: { ...DECLINED, faults: 1, heldMs },
      step: { do: 'retry', at: faultAt + heldMs, after: 'fault' },
    });
  });

  test.each([
    ['a payment whose outcome nobody knows stays so', afterAttempt(DECLINED, { status: 'unknown' }, context()).step],
    ['a period that was paid stays paid', afterAttempt(DECLINED, { status: 'succeeded' }, context()).step],
    ['a period that was given up stays given up', { do: 'giveUp', effect: 'cancel' } as const],
  ])('%s', (_name, step) => {
    const after = afterPause({ state: DECLINED, step }, DAY, context({ now: FIRST_TRY + DAY }));
    expect(after).toEqual({ state: { ...DECLINED, heldMs: DAY }, step });
  });

  test('a period that was never tried is tried', () => {
    const opened = openPeriod(undefined, context());
    expect(afterPause(opened, DAY, context({ now: FIRST_TRY + DAY }))).toEqual({
      state: { declines: 0, faults: 0 },
      step: { do: 'attempt' },
    });
  });
});

describe('a decline after a pause that moved the remaining retries past the next bill', () => {
  const late = (onGivenUp: OnGivenUp | undefined): DunningContext =>
    context({ now: at('2027-04-24', '10:00'), policy: dunningPolicyOf(onGivenUp && { onGivenUp }, MONTHLY) });
  const paused: DunningState = { ...DECLINED, heldMs: 29 * DAY };

  test.each<[OnGivenUp | undefined, OnGivenUp]>([
    [undefined, 'continue'],
    ['cancel', 'continue'],
    ['pause', 'pause'],
    ['continue', 'continue'],
  ])('cancels nobody whose card has not had all its retries: given up by %s, it is %s', (asked, effect) => {
    expect(afterAttempt(paused, SOFT, late(asked))).toEqual({
      state: { ...paused, declines: 2 },
      step: { do: 'giveUp', effect },
    });
  });

  test('cancels as agreed where all retries were made', () => {
    const all: DunningState = { ...DECLINED, declines: 4, heldMs: DAY };
    const { step } = afterAttempt(all, SOFT, context({ now: at('2027-04-20', '10:00') }));
    expect(step).toEqual({ do: 'giveUp', effect: 'cancel' });
  });
});

test.each<[Hold, OnGivenUp, boolean, OnGivenUp]>([
  ['card', 'cancel', false, 'cancel'],
  ['card', 'cancel', true, 'continue'],
  ['card', 'pause', false, 'pause'],
  ['card', 'pause', true, 'pause'],
  ['card', 'continue', true, 'continue'],
  ['person', 'cancel', false, 'pause'],
  ['person', 'cancel', true, 'pause'],
  ['confirmation', 'cancel', true, 'pause'],
])(
  'a wait for a %s that ends by "%s" (cut short: %s) leads to "%s": a buyer who had less time than agreed is not cancelled',
  (hold, onGivenUp, cutShort, effect) => {
    const policy = dunningPolicyOf({ onGivenUp }, MONTHLY);
    expect(givenUpWait({ ...DECLINED, hold }, policy, cutShort)).toBe(effect);
  },
);
