import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import {
  type AbsenceEvidence,
  isAbsenceProven,
  nextReadDelay,
  noteEmptyRead,
  startAbsence,
} from '../../src/domain/absence.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LAST_ATTEMPT = Date.UTC(2027, 0, 31, 10);

/** Evidence after empty reads at these minutes since the last attempt could have ended. */
function readAt(...minutes: number[]): AbsenceEvidence {
  return minutes.reduce((so, at) => noteEmptyRead(so, LAST_ATTEMPT + at * MINUTE), startAbsence(LAST_ATTEMPT));
}

describe('the proof that nothing was done', () => {
  test.each([
    ['three reads over an hour, the first after 15 minutes', [15, 45, 75], true],
    ['three reads, the second right before the third', [15, 74.9, 75], true],
    ['more reads than needed', [15, 16, 17, 40, 75], true],
    ['no read', [], false],
    ['one read, however late', [600], false],
    ['two reads over a day', [15, 1440], false],
    ['three reads over less than an hour', [15, 45, 74.999], false],
    ['three reads, the first too early', [14.999, 45, 75], false],
    ['many early reads and two that count', [0, 1, 2, 5, 14, 15, 75], false],
    ['early reads, which neither help nor harm', [0, 5, 14, 20, 50, 80], true],
    ['three reads at once, a day later', [1440, 1440, 1440], false],
  ])('%s: %j (proven: %s)', (_name, minutes, proven) => {
    expect(isAbsenceProven(readAt(...minutes))).toBe(proven);
  });

  test('needs three reads over 60 minutes, the first 15 minutes after the last attempt, for any times of reading', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -30, max: 300 }), { maxLength: 10 }), (times) => {
        const minutes = times.toSorted((a, b) => a - b);
        const counted = minutes.filter((minute) => minute >= 15);
        const [first = 0] = counted;
        const proven = counted.length >= 3 && (counted.at(-1) ?? 0) - first >= 60;
        expect(isAbsenceProven(readAt(...minutes))).toBe(proven);
      }),
      { numRuns: 1_000 },
    );
  });

  test('is a value: noting a read changes no earlier evidence', () => {
    const before = readAt(15);
    noteEmptyRead(before, LAST_ATTEMPT + 45 * MINUTE);
    expect(before.emptyReads).toHaveLength(1);
  });
});

interface Search {
  provenAfterMin: number | undefined;
  reads: number;
  longestWaitMin: number;
}

/**
 * Reads when told to, on a virtual clock, until absence is proven. `extra` are minutes at which something else, an
 * event or an operator, makes the flow read as well; `unreadable` reads bring no answer.
 */
function search(options: { extra?: number[]; unreadable?: (read: number) => boolean; begin?: number }): Search {
  const { unreadable = () => false, begin = -65_000 } = options;
  const extra = (options.extra ?? []).map((minute) => LAST_ATTEMPT + minute * MINUTE).toSorted((a, b) => a - b);
  let evidence = startAbsence(LAST_ATTEMPT);
  let now = LAST_ATTEMPT + begin;
  let longestWaitMin = 0;
  for (let reads = 0; reads < 500; reads += 1) {
    const delay = nextReadDelay(evidence, reads, now);
    longestWaitMin = Math.max(longestWaitMin, delay / MINUTE);
    const wake = extra.find((at) => at > now && at < now + delay);
    now = wake ?? now + delay;
    if (!unreadable(reads)) evidence = noteEmptyRead(evidence, now);
    if (isAbsenceProven(evidence)) {
      return { provenAfterMin: (now - LAST_ATTEMPT) / MINUTE, reads: reads + 1, longestWaitMin };
    }
  }
  return { provenAfterMin: undefined, reads: 500, longestWaitMin };
}

describe('the times of reading', () => {
  test('reach the proof 75 minutes after the last attempt, with few reads, when every read is empty', () => {
    const found = search({});
    expect(found.provenAfterMin).toBeGreaterThanOrEqual(75);
    expect(found.provenAfterMin).toBeLessThanOrEqual(77);
    expect(found.reads).toBeLessThanOrEqual(10);
  });

  test('reach it also when the search begins long after the last attempt', () => {
    const found = search({ begin: 600 * MINUTE });
    expect(found.provenAfterMin).toBeLessThanOrEqual(600 + 15 + 62);
  });

  test('reach it however many reads bring no answer, as soon as three do', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40), { maxLength: 20 }), (broken) => {
        const found = search({ unreadable: (read) => broken.includes(read) });
        expect(found.provenAfterMin).toBeDefined();
        expect(found.provenAfterMin).toBeLessThanOrEqual(80 + 60);
      }),
    );
  });

  test('are not put off by reads that events or an operator cause in between', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 90 }), { maxLength: 40 }), (extra) => {
        const found = search({ extra });
        expect(found.provenAfterMin).toBeLessThanOrEqual(80);
        expect(found.longestWaitMin).toBeLessThanOrEqual(60);
      }),
    );
  });

  test('never hammer: after the first minutes reads are at least a minute apart', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -10, max: 200 }), { maxLength: 8 }),
        fc.integer({ min: 2, max: 60 }),
        fc.integer({ min: -20, max: 300 }),
        (minutes, reads, now) => {
          const evidence = readAt(...minutes.toSorted((a, b) => a - b));
          expect(nextReadDelay(evidence, reads, LAST_ATTEMPT + now * MINUTE)).toBeGreaterThanOrEqual(MINUTE);
        },
      ),
    );
  });
});

describe('the wait until the next read', () => {
  const SECOND = 1_000;
  const END = LAST_ATTEMPT;
  const SETTLED = END + 15 * MINUTE;
  const FIRST = SETTLED + 2 * MINUTE;
  const none = startAbsence(END);
  const empty = (...at: number[]) => at.reduce(noteEmptyRead, none);

  test.each([
    ['5 s at first, in case the transaction does exist', none, 0, END, 5 * SECOND],
    ['15 s then', none, 1, END, 15 * SECOND],
    ['the time until reads count, where polls are slower', none, 5, SETTLED - 10 * MINUTE, 10 * MINUTE],
    ['a minute at least', none, 5, SETTLED - 1, MINUTE],
    ['a minute from the moment at which reads count', none, 0, SETTLED, MINUTE],
    ['a minute while no list can be read', none, 44, SETTLED + MINUTE, MINUTE],
    ['an hour after 45 reads that brought nothing', none, 45, SETTLED + MINUTE, HOUR],
    ['an hour for two weeks more', none, 380, SETTLED + MINUTE, HOUR],
    ['a day after that', none, 381, SETTLED + MINUTE, 24 * HOUR],
    ['half an hour after the first read that counts', empty(FIRST), 6, FIRST, 30 * MINUTE],
    ['what is left of it', empty(FIRST), 6, FIRST + 20 * MINUTE, 10 * MINUTE],
    ['a minute at least, then too', empty(FIRST), 6, FIRST + 30 * MINUTE - 1, MINUTE],
    ['a minute once it is over', empty(FIRST), 44, FIRST + 30 * MINUTE, MINUTE],
    ['an hour once it is over, after 45 reads', empty(FIRST), 45, FIRST + 30 * MINUTE, HOUR],
    ['an hour once it is over, for two weeks', empty(FIRST), 380, FIRST + 30 * MINUTE, HOUR],
    ['a day once it is over, after that', empty(FIRST), 381, FIRST + 30 * MINUTE, 24 * HOUR],
    ['until an hour after the first with two', empty(FIRST, FIRST + 30 * MINUTE), 7, FIRST + 30 * MINUTE, 30 * MINUTE],
    ['no longer with more', empty(FIRST, FIRST + 1, FIRST + 2, FIRST + 3), 9, FIRST + 3, 60 * MINUTE - 3],
  ])('is %s', (_name, evidence, readsSoFar, now, ms) => {
    expect(nextReadDelay(evidence, readsSoFar, now)).toBe(ms);
  });
});
