import { describe, expect, test } from 'vitest';
import { capsOf, cardLimit, type DeclinedTry, declinedTriesAt } from '../../src/domain/card-tries.js';

const HOUR = 3_600_000;
const DAYS_30 = 30 * 24 * HOUR;
const START = Date.parse('2027-01-31T09:00:00Z');
const CARD = '7b0f6c1e-1c2d-4e3f-8a4b-5c6d7e8f9a0b';
const OTHER = 'a1b2c3d4-0000-4000-8000-00000000000f';

/** One decline an hour, the first at START. */
const hourly = (count: number, token = CARD): DeclinedTry[] =>
  Array.from({ length: count }, (_, index) => ({ token, at: START + index * HOUR }));

/** By the limit of subscriptions whose history records none. */
const freeAtBy = (tries: readonly DeclinedTry[] | undefined, token: string, now: number): number | undefined =>
  cardLimit(tries, token, now, undefined)?.freeAt;

describe('the declines that still count', () => {
  test('are none before the first', () => {
    expect(declinedTriesAt(undefined, START)).toEqual([]);
    expect(declinedTriesAt([], START)).toEqual([]);
  });

  test.each([
    ['at the moment of the decline', 0, true],
    ['a millisecond before 30 days are over', DAYS_30 - 1, true],
    ['once 30 days are over', DAYS_30, false],
    ['a millisecond later', DAYS_30 + 1, false],
  ])('%s: %s', (_name, later, counts) => {
    const tries = hourly(1);
    expect(declinedTriesAt(tries, START + later)).toEqual(counts ? tries : []);
  });

  test('are those of every card, oldest first', () => {
    const tries = [...hourly(1), { token: OTHER, at: START + 1 }, { token: CARD, at: START + 2 }];
    expect(declinedTriesAt(tries, START + DAYS_30)).toEqual(tries.slice(1));
  });

  test('are the latest 200 where there are more', () => {
    const now = START + 201 * HOUR;
    expect(declinedTriesAt(hourly(200), now)).toEqual(hourly(200));
    expect(declinedTriesAt(hourly(201), now)).toEqual(hourly(201).slice(1));
  });
});

describe('a card that was declined', () => {
  const now = START + 20 * HOUR;

  test.each([
    ['never', 0, undefined],
    ['14 times in 30 days', 14, undefined],
    ['15 times in 30 days', 15, START + DAYS_30],
    ['16 times in 30 days', 16, START + HOUR + DAYS_30],
  ])('%s may be tried again only when fewer than 15 are left of the last 30 days', (_name, count, freeAt) => {
    expect(freeAtBy(hourly(count), CARD, now)).toBe(freeAt);
  });

  test('never at all may be tried now', () => {
    expect(freeAtBy(undefined, CARD, now)).toBeUndefined();
  });

  test('15 times may be tried at the moment that was told, and not a millisecond earlier', () => {
    const tries = hourly(15);
    const freeAt = START + DAYS_30;
    expect(freeAtBy(tries, CARD, freeAt - 1)).toBe(freeAt);
    expect(freeAtBy(tries, CARD, freeAt)).toBeUndefined();
    // It is declined once more: the next one may leave once the second of the fifteen is 30 days old.
    const again = [...tries, { token: CARD, at: freeAt }];
    expect(freeAtBy(again, CARD, freeAt)).toBe(freeAt + HOUR);
  });

  test('is the same card however the letters of its token are written', () => {
    const tries = hourly(14, CARD.toUpperCase());
    expect(freeAtBy([...tries, { token: CARD, at: now }], CARD, now)).toBe(START + DAYS_30);
    expect(freeAtBy(hourly(15), CARD.toUpperCase(), now)).toBe(START + DAYS_30);
    expect(freeAtBy(hourly(15, CARD.toUpperCase()), CARD, now)).toBe(START + DAYS_30);
  });

  test('does not count the declines of another card', () => {
    const tries = [...hourly(14), ...hourly(15, OTHER)];
    expect(freeAtBy(tries, CARD, now)).toBeUndefined();
    expect(freeAtBy(tries, OTHER, now)).toBe(START + DAYS_30);
  });
});

describe('recorded limits', () => {
  const now = START + 12 * HOUR;

  test('are those of the schemes where the unit has none: 10 tries in 24 hours, and 15 in 30 days', () => {
    expect(cardLimit(hourly(9), CARD, now, capsOf(undefined))).toBeUndefined();
    expect(cardLimit(hourly(10), CARD, now, capsOf(undefined))).toEqual({
      freeAt: START + 24 * HOUR,
      cap: { tries: 10, days: 1 },
    });
    expect(cardLimit(hourly(15), CARD, START + 15 * HOUR, capsOf(undefined))).toEqual({
      freeAt: START + DAYS_30,
      cap: { tries: 15, days: 30 },
    });
  });

  test('of a unit count beside those of the schemes: the one that lasts longest is told', () => {
    const cap = { tries: 2, days: 7 };
    expect(cardLimit(hourly(1), CARD, now, capsOf(cap))).toBeUndefined();
    expect(cardLimit(hourly(3), CARD, now, capsOf(cap))).toEqual({ freeAt: START + HOUR + 7 * 24 * HOUR, cap });
    expect(cardLimit(hourly(15), CARD, START + 15 * HOUR, capsOf(cap))?.freeAt).toBe(START + DAYS_30);
  });

  test('let no card be tried while as many declines as are kept are younger than 30 days', () => {
    const tries = Array.from({ length: 200 }, (_, index) => ({ token: `card-${index}`, at: START + index }));
    expect(cardLimit(tries.slice(1), CARD, now, capsOf(undefined))).toBeUndefined();
    expect(cardLimit(tries, CARD, now, capsOf(undefined))).toEqual({ freeAt: START + DAYS_30, cap: undefined });
    expect(cardLimit(tries, CARD, now, undefined)).toBeUndefined();
  });
});
