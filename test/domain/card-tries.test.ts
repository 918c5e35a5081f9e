import { describe, expect, test } from 'vitest';
import { cardFreeAt, type DeclinedTry, declinedTriesAt } from '../../src/domain/decline.js';

const HOUR = 3_600_000;
const DAYS_30 = 30 * 24 * HOUR;
const START = Date.parse('2027-01-31T09:00:00Z');
const CARD = '7b0f6c1e-1c2d-4e3f-8a4b-5c6d7e8f9a0b';
const OTHER = 'a1b2c3d4-0000-4000-8000-00000000000f';

/** One decline an hour, the first at START. */
const hourly = (count: number, token = CARD): DeclinedTry[] =>
  Array.from({ length: count }, (_, index) => ({ token, at: START + index * HOUR }));

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
    expect(cardFreeAt(hourly(count), CARD, now)).toBe(freeAt);
  });

  test('never at all may be tried now', () => {
    expect(cardFreeAt(undefined, CARD, now)).toBeUndefined();
  });

  test('15 times may be tried at the moment that was told, and not a millisecond earlier', () => {
    const tries = hourly(15);
    const freeAt = START + DAYS_30;
    expect(cardFreeAt(tries, CARD, freeAt - 1)).toBe(freeAt);
    expect(cardFreeAt(tries, CARD, freeAt)).toBeUndefined();
    // It is declined once more: the next one may leave once the second of the fifteen is 30 days old.
    const again = [...tries, { token: CARD, at: freeAt }];
    expect(cardFreeAt(again, CARD, freeAt)).toBe(freeAt + HOUR);
  });

  test('is the same card however the letters of its token are written', () => {
    const tries = hourly(14, CARD.toUpperCase());
    expect(cardFreeAt([...tries, { token: CARD, at: now }], CARD, now)).toBe(START + DAYS_30);
    expect(cardFreeAt(hourly(15), CARD.toUpperCase(), now)).toBe(START + DAYS_30);
    expect(cardFreeAt(hourly(15, CARD.toUpperCase()), CARD, now)).toBe(START + DAYS_30);
  });

  test('does not count the declines of another card', () => {
    const tries = [...hourly(14), ...hourly(15, OTHER)];
    expect(cardFreeAt(tries, CARD, now)).toBeUndefined();
    expect(cardFreeAt(tries, OTHER, now)).toBe(START + DAYS_30);
  });
});
