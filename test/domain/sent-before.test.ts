import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  earlierRuns,
  type EarlierRuns,
  isOfLaterHold,
  isReplacedByDeadline,
  lastVoidBeforeNext,
  replacedAt,
} from '../../src/domain/sent-before.js';

const DEADLINE = 1_000;
const HOLD = { number: 1, authorizedAt: 0, terms: { captureBy: DEADLINE }, sequences: { capture: 0, void: 0 } };
const before = (firstSent: Record<string, number>, isKept = true): EarlierRuns => ({
  firstSent,
  isKept,
  deadline: DEADLINE,
});

describe('the deadline of a hold was for the run before a reset', () => {
  const DAY = 24 * 60 * 60_000;
  const hold = { ...HOLD, authorizedAt: 10 * DAY, terms: { captureBy: 16 * DAY } };
  const deadline = (firstSent: Record<string, number>, change: Partial<typeof hold> = {}, startedAt = 0) =>
    earlierRuns({ firstSent, isKept: true }, { ...hold, ...change }, startedAt).deadline;

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
    expect(earlierRuns({ firstSent: { 'void:1': 1 }, isKept: false }, HOLD, 0)).toEqual({
      firstSent: { 'void:1': 1 },
      isKept: false,
      deadline: DEADLINE,
    });
  });
});

describe('the hold that replaced one before a reset', () => {
  test('began when its payment was first sent', () => {
    const sent = before({ 'createPayment:1': 1, 'createPayment:2': 700, 'createPayment:3': 900 });
    expect(replacedAt(sent, HOLD)).toBe(700);
    expect(replacedAt(sent, { ...HOLD, number: 2 })).toBe(900);
    expect(replacedAt(sent, { ...HOLD, number: 3 })).toBeUndefined();
  });
});

describe('a command that the engine gives again', () => {
  const byDeadline = { 'void:1': DEADLINE, 'createPayment:2': DEADLINE + 5 };
  const byCommand = { 'void:1': 500, 'createPayment:2': 505 };

  test.each<[string, Parameters<typeof isOfLaterHold>[2], Record<string, number>, boolean]>([
    ['a capture of a hold that was not replaced', 'capture', { 'capture:1': 400 }, false],
    ['a void of a hold that was not replaced', 'void', { 'void:1': 400 }, false],
    ['a reauthorization of a hold that was not replaced', 'reauthorize', { 'void:1': DEADLINE }, false],
    ['a capture sent before the next hold', 'capture', { ...byDeadline, 'capture:1': 400 }, false],
    ['a capture sent after the next hold', 'capture', { ...byDeadline, 'capture:1': DEADLINE + 9 }, true],
    ['a capture that was never sent', 'capture', byDeadline, true],
    ['a void sent before the deadline', 'void', { ...byDeadline, 'void:1': 400, 'void:2': DEADLINE }, false],
    ['a void whose key is that of the deadline', 'void', byDeadline, true],
    ['a void that was never sent', 'void', { 'createPayment:2': DEADLINE }, true],
    ['a reauthorization after that of the deadline', 'reauthorize', byDeadline, true],
    ['a reauthorization before the deadline', 'reauthorize', byCommand, false],
    ['a void after a reauthorization by command', 'void', byCommand, true],
    ['a capture after a reauthorization by command', 'capture', { ...byCommand, 'capture:1': 600 }, true],
  ])('was meant for the hold that it was executed on: %s', (_what, command, sent, later) => {
    expect(isOfLaterHold(before(sent), HOLD, command, false)).toBe(later);
  });

  test('is of this hold if it is a void before the command that replaced it', () => {
    expect(isOfLaterHold(before(byCommand), HOLD, 'void', true)).toBe(false);
    expect(isOfLaterHold(before(byDeadline), HOLD, 'void', true)).toBe(true);
  });

  test('is looked up under the key that it would take now', () => {
    const hold = { ...HOLD, sequences: { capture: 2, void: 1 } };
    const sent = before({
      'capture:1': 1,
      'capture:2': 2,
      'capture:3': 2_000,
      'createPayment:2': DEADLINE,
      'void:1': 3,
    });
    expect(isOfLaterHold(sent, hold, 'capture', false)).toBe(true);
    expect(isOfLaterHold(sent, { ...hold, sequences: { capture: 1, void: 0 } }, 'capture', false)).toBe(false);
    expect(isOfLaterHold(sent, { ...hold, sequences: { capture: 1, void: 0 } }, 'void', false)).toBe(false);
    expect(isOfLaterHold(sent, hold, 'void', false)).toBe(true);
  });
});

describe('a hold that a reset run finds ended', () => {
  test.each<[string, EarlierRuns, 'voided' | 'expired', boolean]>([
    ['was replaced before', before({ 'void:1': 10, 'createPayment:2': 20 }), 'voided', true],
    ['was voided by its deadline', before({ 'void:1': DEADLINE }), 'voided', true],
    ['was voided by its deadline at last', before({ 'void:1': 10, 'void:2': DEADLINE }), 'voided', true],
    ['was voided before its deadline', before({ 'void:1': DEADLINE - 1 }), 'voided', false],
    ['was voided before its deadline, and has lapsed', before({ 'void:1': DEADLINE - 1 }), 'expired', false],
    ['was voided by somebody else', before({ 'capture:1': 10 }), 'voided', false],
    ['has lapsed, and nobody has voided it', before({ 'capture:1': DEADLINE }), 'expired', true],
    ['has lapsed, and no history tells', before({}, false), 'expired', false],
  ])('is replaced by its deadline only where that has ended it: it %s', (_what, sent, endedAs, replaced) => {
    expect(isReplacedByDeadline(sent, HOLD, endedAs)).toBe(replaced);
  });

  test('is not judged by the voids that this run has sent, which the run before sent too', () => {
    const sent = before({ 'void:1': DEADLINE + 1 });
    expect(isReplacedByDeadline(sent, { ...HOLD, sequences: { capture: 0, void: 1 } }, 'voided')).toBe(false);
  });

  test('is never held again after a void from before its deadline alone, whatever else was sent', () => {
    const others = fc.dictionary(
      fc.constantFrom('capture:1', 'capture:2', 'authorize:1', 'authorize:2', 'createPayment:1'),
      fc.integer({ min: 0, max: 5_000 }),
    );
    const voids = fc.dictionary(
      fc.integer({ min: 1, max: 9 }).map((sequence) => `void:${sequence}`),
      fc.integer({ min: 0, max: DEADLINE - 1 }),
      { minKeys: 1 },
    );
    fc.assert(
      fc.property(others, voids, fc.constantFrom('voided' as const, 'expired' as const), (more, sent, endedAs) => {
        expect(isReplacedByDeadline(before({ ...more, ...sent }), HOLD, endedAs)).toBe(false);
      }),
    );
  });
});

describe('the voids of the next hold', () => {
  test('take the keys after those that the run before had used when it replaced the hold', () => {
    const sent = before({ 'void:1': 10, 'void:3': 30, 'void:2': 20, 'createPayment:2': 30, 'void:4': 40 });
    expect(lastVoidBeforeNext(sent, HOLD)).toBe(3);
    expect(lastVoidBeforeNext(sent, { ...HOLD, sequences: { capture: 0, void: 6 } })).toBe(6);
    expect(lastVoidBeforeNext(before({ 'void:2': 20 }), HOLD)).toBe(2);
    expect(lastVoidBeforeNext(before({ 'capture:7': 1 }), HOLD)).toBe(0);
  });
});
