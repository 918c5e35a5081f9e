import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  earlierRuns,
  type EarlierRuns,
  holdOfCommand,
  isCaptureOf,
  isReplaced,
  isReplacedByDeadline,
  lastSequences,
} from '../../src/domain/sent-before.js';

const DEADLINE = 1_000;
const HOLD = {
  number: 1,
  authorizedAt: 0,
  terms: { captureBy: DEADLINE },
  voidsBefore: 0,
  sequences: { capture: 0, void: 0 },
};
const SECOND = { ...HOLD, number: 2 };
const NOTHING: EarlierRuns = { firstSent: {}, commands: {}, cancelled: false, isKept: true, deadline: DEADLINE };
const sent = (firstSent: Record<string, number>, more: Partial<EarlierRuns> = {}): EarlierRuns => ({
  ...NOTHING,
  firstSent,
  ...more,
});
const accepted = (name: string, at: number, answered = true) => ({ commands: { it: { name, at, answered } } });

describe('the deadline of a hold was for the run before a reset', () => {
  const DAY = 24 * 60 * 60_000;
  const hold = { ...HOLD, authorizedAt: 10 * DAY, terms: { captureBy: 16 * DAY } };
  const deadline = (firstSent: Record<string, number>, change: Partial<typeof hold> = {}, startedAt = 0) =>
    earlierRuns(sent(firstSent), { ...hold, ...change }, startedAt).deadline;

  test('the same where this run has authorized it, too', () => {
    expect(deadline({ 'authorize:1': 10 * DAY - 10 * 60_000 })).toBe(16 * DAY);
    expect(deadline({}, {}, 10 * DAY)).toBe(16 * DAY);
    expect(deadline({ 'authorize:1': 3 * DAY }, { number: 2 })).toBe(16 * DAY);
  });

  test('earlier where this run has only found it', () => {
    expect(deadline({ 'authorize:1': 4 * DAY })).toBe(10 * DAY);
    expect(deadline({ 'authorize:1': 10 * DAY - 10 * 60_000 - 1 })).toBe(16 * DAY - 10 * 60_000 - 1);
    expect(deadline({}, {}, 3 * DAY)).toBe(9 * DAY);
    expect(deadline({ 'authorize:2': 9 * DAY }, { number: 2 })).toBe(15 * DAY);
  });

  test('beside what was sent', () => {
    expect(earlierRuns(sent({ 'void:1': 1 }), HOLD, 0)).toEqual(sent({ 'void:1': 1 }));
  });
});

test('a hold is replaced once the next one was authorized, and not while only its payment was made', () => {
  expect(isReplaced(sent({ 'createPayment:2': 1 }), HOLD)).toBe(false);
  expect(isReplaced(sent({ 'createPayment:2': 1, 'authorize:2': 2 }), HOLD)).toBe(true);
  expect(isReplaced(sent({ 'createPayment:2': 1, 'authorize:2': 2 }), SECOND)).toBe(false);
});

describe('a command that the engine gives again', () => {
  test.each<[string, EarlierRuns, typeof HOLD, 'earlier' | 'this' | 'later']>([
    ['of a hold that was not replaced', sent({}, accepted('void', 5)), HOLD, 'this'],
    ['accepted before the next hold', sent({ 'createPayment:2': 10 }, accepted('capture', 10)), HOLD, 'this'],
    ['accepted after the next hold', sent({ 'createPayment:2': 10 }, accepted('reauthorize', 11)), HOLD, 'later'],
    ['accepted before this hold', sent({ 'createPayment:2': 10 }, accepted('capture', 9)), SECOND, 'earlier'],
    ['accepted with this hold', sent({ 'createPayment:2': 10 }, accepted('capture', 10)), SECOND, 'this'],
    ['given since the reset, to a hold that was not replaced', sent({}), HOLD, 'this'],
    ['given since the reset, to one that was', sent({ 'createPayment:2': 10 }), HOLD, 'later'],
    ['answered before a hold that only this run has made', sent({}, accepted('capture', 5)), SECOND, 'earlier'],
    ['not answered before such a hold', sent({}, accepted('capture', 5, false)), SECOND, 'this'],
  ])('is for the hold at whose time it was accepted: one %s', (_what, before, hold, which) => {
    expect(holdOfCommand(before, hold, 'it')).toBe(which);
  });

  test('is for one hold of all: those before it are over, and those after it are still to come', () => {
    const begins = fc.uniqueArray(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(begins, fc.integer({ min: 0, max: 1_001 }), (times, at) => {
        const began = times.toSorted((one, other) => one - other);
        const before = sent(
          Object.fromEntries(began.map((time, index) => [`createPayment:${index + 2}`, time])),
          accepted('capture', at),
        );
        const holds = [1, ...began.map((_time, index) => index + 2)].map((number) => ({ ...HOLD, number }));
        const which = holds.map((hold) => holdOfCommand(before, hold, 'it'));
        const first = which.indexOf('this');
        expect(which.slice(0, first)).toEqual(which.slice(0, first).map(() => 'later'));
        expect(first).toBeGreaterThanOrEqual(0);
        expect(which.slice(first).every((one, index) => (index === 0 ? one === 'this' : one !== 'later'))).toBe(true);
      }),
    );
  });
});

describe('a hold that a reset run finds ended', () => {
  test.each<[string, EarlierRuns, 'voided' | 'expired', boolean]>([
    ['was replaced before', sent({ 'void:1': 10, 'authorize:2': 20 }, accepted('void', 5)), 'voided', true],
    ['was voided by its deadline', sent({ 'void:1': DEADLINE }), 'voided', true],
    ['was voided by its deadline at last', sent({ 'void:1': 10, 'void:2': DEADLINE }), 'voided', true],
    ['was voided before its deadline', sent({ 'void:1': DEADLINE - 1 }), 'voided', false],
    ['was voided before its deadline, and has lapsed', sent({ 'void:1': DEADLINE - 1 }), 'expired', false],
    ['was to be voided by a command', sent({ 'void:1': DEADLINE }, accepted('void', 0)), 'voided', false],
    ['was to be captured by a command', sent({ 'void:1': DEADLINE }, accepted('capture', 0)), 'voided', true],
    ['was to be voided by a cancel', sent({ 'void:1': DEADLINE }, { cancelled: true }), 'voided', false],
    ['was voided by somebody else', sent({ 'capture:1': 10 }), 'voided', false],
    ['has lapsed, and nobody has voided it', sent({ 'capture:1': DEADLINE }), 'expired', true],
    ['has lapsed, and a flow has ended with it', sent({}, { hasEnded: true }), 'expired', false],
    [
      'was voided by its deadline, and a flow has ended with it',
      sent({ 'void:1': DEADLINE }, { hasEnded: true }),
      'voided',
      false,
    ],
    ['was replaced before, by a flow that has ended', sent({ 'authorize:2': 20 }, { hasEnded: true }), 'voided', true],
    ['has lapsed, and no history tells', sent({}, { isKept: false }), 'expired', false],
  ])('is replaced by its deadline only where that has ended it: it %s', (_what, before, endedAs, replaced) => {
    expect(isReplacedByDeadline(before, HOLD, endedAs)).toBe(replaced);
  });

  test('is classified by its own voids, and by the commands since it began', () => {
    const before = sent({ 'void:1': DEADLINE + 1, 'createPayment:2': 500 }, accepted('void', 499));
    expect(isReplacedByDeadline(before, { ...SECOND, voidsBefore: 1 }, 'voided')).toBe(false);
    expect(isReplacedByDeadline(before, SECOND, 'voided')).toBe(true);
    expect(isReplacedByDeadline({ ...before, ...accepted('void', 500) }, SECOND, 'voided')).toBe(false);
    const made = sent({ 'void:1': DEADLINE + 1 }, accepted('void', 499));
    expect(isReplacedByDeadline(made, { ...SECOND, authorizedAt: 500 }, 'voided')).toBe(true);
    expect(isReplacedByDeadline(made, { ...SECOND, authorizedAt: 499 }, 'voided')).toBe(false);
  });

  test('is never held again after a void from before its deadline alone, whatever else was sent', () => {
    const others = fc.dictionary(
      fc.constantFrom('capture:1', 'capture:2', 'authorize:1', 'createPayment:1', 'createPayment:2'),
      fc.integer({ min: 0, max: 5_000 }),
    );
    const voids = fc.dictionary(
      fc.integer({ min: 1, max: 9 }).map((sequence) => `void:${sequence}`),
      fc.integer({ min: 0, max: DEADLINE - 1 }),
      { minKeys: 1 },
    );
    fc.assert(
      fc.property(others, voids, fc.constantFrom('voided' as const, 'expired' as const), (more, early, endedAs) => {
        expect(isReplacedByDeadline(sent({ ...more, ...early }), HOLD, endedAs)).toBe(false);
      }),
    );
  });
});

describe('the keys of the next hold', () => {
  test('follow those that the run before had used when it replaced this one', () => {
    const before = sent({
      'void:1': 10,
      'void:3': 30,
      'void:2': 20,
      'createPayment:2': 30,
      'void:4': 40,
      'capture:2': 5,
    });
    expect(lastSequences(before, HOLD)).toEqual({ capture: 2, void: 3 });
    expect(lastSequences(before, { ...HOLD, sequences: { capture: 5, void: 6 } })).toEqual({ capture: 5, void: 6 });
  });

  test('follow all of them where only this run replaces it', () => {
    expect(lastSequences(sent({ 'void:2': 20, 'capture:7': 1 }), HOLD)).toEqual({ capture: 7, void: 2 });
    expect(lastSequences(sent({}), HOLD)).toEqual({ capture: 0, void: 0 });
  });
});

describe('a capture was made for', () => {
  const capture = (at: number) => ({ name: 'capture', at, answered: true });
  const two = sent({ 'capture:1': 11, 'capture:2': 21 }, { commands: { a: capture(10), b: capture(20) } });

  test('the command that was accepted last before it was sent', () => {
    expect(isCaptureOf(two, 'a', 1)).toBe(true);
    expect(isCaptureOf(two, 'b', 2)).toBe(true);
    expect(isCaptureOf(two, 'a', 2)).toBe(false);
    expect(isCaptureOf(two, 'b', 1)).toBe(false);
  });

  test('no command that had one of its own before, or had none', () => {
    const deadline = sent({ 'capture:1': 11, 'capture:2': 21 }, { commands: { a: capture(10) } });
    expect(isCaptureOf(deadline, 'a', 2)).toBe(false);
    const unsent = sent({ 'capture:1': 21 }, { commands: { a: capture(10), b: capture(20) } });
    expect(isCaptureOf(unsent, 'a', 1)).toBe(false);
    expect(isCaptureOf(unsent, 'b', 1)).toBe(true);
  });

  test('nobody of whom nothing is known, and no command of another name', () => {
    expect(isCaptureOf(two, 'c', 2)).toBe(false);
    expect(isCaptureOf(two, 'constructor', 2)).toBe(false);
    expect(isCaptureOf(two, 'b', 3)).toBe(false);
    expect(isCaptureOf(sent({ 'capture:1': 11 }, accepted('void', 10)), 'it', 1)).toBe(false);
  });
});
