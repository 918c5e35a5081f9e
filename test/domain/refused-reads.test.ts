import { describe, expect, test } from 'vitest';
import { isNotOffered, noteRefusedRead, type RefusedReads, REFUSING_STATUSES } from '../../src/domain/absence.js';

const MINUTE = 60_000;
const START = Date.parse('2027-01-31T09:00:00Z');

/** A read that was refused at these minutes, each time by an answer of the service. */
function refusedAt(...minutes: number[]): RefusedReads | undefined {
  let refused: RefusedReads | undefined;
  for (const minute of minutes) refused = noteRefusedRead(refused, START + minute * MINUTE, false);
  return refused;
}

test.each([
  [404, true],
  [405, true],
  [501, true],
  // Of these the service says nothing about the read itself.
  [400, false],
  [401, false],
  [403, false],
  [410, false],
  [429, false],
  [500, false],
  [503, false],
])('an answer with %i is a refusal of the read itself: %s', (status, refuses) => {
  expect(REFUSING_STATUSES.includes(status)).toBe(refuses);
});

describe('the count of refusals', () => {
  test('begins with the first one', () => {
    expect(noteRefusedRead(undefined, START, false)).toStrictEqual({
      times: 1,
      firstAt: START,
      lastAt: START,
      bySetting: false,
    });
  });

  test('adds each one, and keeps when the first and the last of them came', () => {
    expect(refusedAt(0, 4, 9)).toStrictEqual({
      times: 3,
      firstAt: START,
      lastAt: START + 9 * MINUTE,
      bySetting: false,
    });
  });

  test.each([
    ['by the setting at first', true, false],
    ['by the setting at last', false, true],
    ['by the setting each time', true, true],
  ])('remembers that it was %s', (_name, first, last) => {
    const before = noteRefusedRead(undefined, START, first);
    expect(noteRefusedRead(before, START + MINUTE, last)).toMatchObject({ times: 2, bySetting: true });
  });
});

describe('money rule 6: a read counts as not offered', () => {
  test.each<[string, RefusedReads | undefined, boolean]>([
    ['where it was never refused', undefined, false],
    ['after one refusal', refusedAt(0), false],
    ['after two refusals over a day', refusedAt(0, 24 * 60), false],
    ['after three at once', refusedAt(0, 0, 0), false],
    [
      'after a hundred within a millisecond less than 15 minutes',
      refusedAt(...Array(99).fill(0), 15 - 1 / MINUTE),
      false,
    ],
    ['after three over a millisecond less than 15 minutes', refusedAt(0, 7, 15 - 1 / MINUTE), false],
    ['after three over 15 minutes exactly', refusedAt(0, 7, 15), true],
    ['after three of which the first two came together', refusedAt(0, 0, 15), true],
    ['after four over an hour', refusedAt(0, 1, 2, 60), true],
  ])('%s', (_name, refused, notOffered) => {
    expect(isNotOffered(refused)).toBe(notOffered);
  });

  test("at once by the unit's setting", () => {
    expect(isNotOffered(noteRefusedRead(undefined, START, true))).toBe(true);
  });
});
