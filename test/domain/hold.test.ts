import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import {
  DEFAULT_HOLD_MS,
  type HoldAct,
  holdAct,
  type HoldTerms,
  holdTerms,
  longestDeadline,
  type Retries,
  releaseDelay,
  reviewMargin,
} from '../../src/domain/hold.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SENT = Date.UTC(2027, 0, 31);

const duration = (max: number) => fc.integer({ min: 0, max });
const asked = fc.record({
  holdMs: fc.oneof(fc.constant(DEFAULT_HOLD_MS), fc.integer({ min: 1, max: 60 * DAY })),
  /** From the POST to the answer that it is authorized. */
  authorizedAfter: fc.oneof(duration(MINUTE), duration(10 * DAY)),
  deadlineMs: fc.option(fc.integer({ min: MINUTE, max: 40 * DAY }), { nil: undefined }),
  warningMs: fc.option(duration(40 * DAY), { nil: undefined }),
});
const anyTerms = asked.map(({ holdMs, authorizedAfter, ...rest }) =>
  holdTerms(SENT, SENT + authorizedAfter, holdMs, rest),
);
const onDeadline = fc.constantFrom('capture' as const, 'void' as const);
/** What the flow does when it is told to act, or how it oversleeps: each step of a story takes time. */
const steps = fc.infiniteStream(duration(30 * HOUR));

interface Lived {
  at: number;
  act: HoldAct['act'];
}

/** Lives through a hold in which nothing that is tried ever ends it. */
function live(terms: HoldTerms, when: Retries['onDeadline'], cancelAt: number, delays: Iterator<number>): Lived[] {
  const lived: Lived[] = [];
  let now = SENT;
  let retries = { tries: 0, lastTryAt: 0, captureFailed: false };
  for (let count = 0; count < 2_000; count += 1) {
    const next = holdAct(terms, { ...retries, mustVoid: now >= cancelAt, onDeadline: when }, now);
    lived.push({ at: now, act: next.act });
    if (next.act === 'expire') return lived;
    const took = Number(delays.next().value);
    if (next.act === 'wait') {
      expect(next.until).toBeGreaterThan(now);
      now = next.until + (took % 3 === 0 ? took % MINUTE : 0);
      continue;
    }
    now += took % HOUR;
    retries = {
      tries: retries.tries + 1,
      lastTryAt: now,
      captureFailed: retries.captureFailed || next.act === 'capture',
    };
  }
  throw new Error('the hold never ended');
}

const lives = fc
  .record({ terms: anyTerms, when: onDeadline, cancelAfter: fc.option(duration(10 * DAY), { nil: undefined }), steps })
  .map(({ terms, when, cancelAfter, steps: delays }) => {
    const cancelAt = cancelAfter === undefined ? Number.POSITIVE_INFINITY : SENT + cancelAfter;
    return { terms, when, cancelAt, lived: live(terms, when, cancelAt, delays[Symbol.iterator]()) };
  });

describe('a hold that nothing ends', () => {
  test('ends by itself, whatever its terms, failures and clock, and never before its margin', () => {
    fc.assert(
      fc.property(lives, ({ terms, lived }) => {
        const last = lived.at(-1);
        expect(last?.act).toBe('expire');
        expect(last?.at).toBeGreaterThanOrEqual(terms.heldUntil + HOUR);
        expect(lived.filter(({ act }) => act === 'expire')).toHaveLength(1);
      }),
    );
  });

  test('is tried again: by the first look between its deadline and its end something was tried', () => {
    fc.assert(
      fc.property(lives, ({ terms, lived }) => {
        const first = lived.find(({ at }) => at >= terms.captureBy && at < terms.heldUntil);
        // Lives that were asleep all that time don't count as runs.
        fc.pre(first !== undefined);
        const sofar = lived.slice(0, lived.indexOf(first) + 1).map(({ act }) => act);
        expect(sofar.some((act) => act === 'capture' || act === 'void')).toBe(true);
      }),
    );
  });

  test('is never captured after a void was tried, nor twice, nor after it has ended', () => {
    fc.assert(
      fc.property(lives, ({ when, lived }) => {
        const acts = lived.filter(({ act }) => act === 'capture' || act === 'void').map(({ act }) => act);
        expect(acts.slice(1)).not.toContain('capture');
        if (when === 'void') expect(acts).not.toContain('capture');
      }),
    );
  });

  test('is not touched before its deadline unless it has to be released', () => {
    fc.assert(
      fc.property(lives, ({ terms, cancelAt, lived }) => {
        const early = lived.filter(({ at, act }) => at < terms.captureBy && at < cancelAt && act !== 'wait');
        expect(early.filter(({ at }) => at < terms.heldUntil + HOUR)).toEqual([]);
        const mustVoid = lived.filter(({ at }) => at >= cancelAt).map(({ act }) => act);
        expect(mustVoid).not.toContain('capture');
      }),
    );
  });
});

test('a short hold whose first void did not end it is voided again within minutes, and not left in silence', () => {
  const terms = { warnAt: SENT, captureBy: SENT + 1_700, heldUntil: SENT + 2_000 };
  const tried = (tries: number) => ({
    ...({ mustVoid: false, onDeadline: 'capture', captureFailed: false } as const),
    ...{ tries, lastTryAt: SENT + 3_000 },
  });
  const now = SENT + 3_000;
  expect(holdAct(terms, tried(1), now)).toEqual({ act: 'wait', until: now + MINUTE, soon: true });
  expect(holdAct(terms, tried(1), now + MINUTE)).toEqual({ act: 'void' });
  expect(holdAct(terms, tried(3), now + 15 * MINUTE)).toEqual({ act: 'void' });
  expect(holdAct(terms, tried(4), now)).toEqual({ act: 'wait', until: now + HOUR - 1_000, soon: true });
});

describe('the terms of a hold', () => {
  test('never put the deadline later than the margin before its end, nor after what was asked for', () => {
    fc.assert(
      fc.property(asked, ({ holdMs, authorizedAfter, deadlineMs, warningMs }) => {
        const terms = holdTerms(SENT, SENT + authorizedAfter, holdMs, { deadlineMs, warningMs });
        expect(terms.heldUntil).toBe(SENT + holdMs);
        // An hour, or a seventh of a hold that is shorter than seven.
        expect(terms.heldUntil - terms.captureBy).toBeGreaterThanOrEqual(Math.min(HOUR, Math.floor(holdMs / 7)));
        expect(terms.captureBy).toBeLessThanOrEqual(SENT + authorizedAfter + (deadlineMs ?? 6 * DAY));
        expect(terms.warnAt).toBeLessThanOrEqual(terms.captureBy);
        expect(Object.values(terms).every(Number.isSafeInteger)).toBe(true);
      }),
    );
  });

  test.each([
    ['7 days', 7 * DAY, 7 * DAY - HOUR],
    ['2 days', 2 * DAY, 47 * HOUR],
    ['7 hours', 7 * HOUR, 6 * HOUR],
    ['70 minutes', 70 * MINUTE, 60 * MINUTE],
    ['7 minutes', 7 * MINUTE, 6 * MINUTE],
    ['7 ms', 7, 6],
    ['nothing', 0, 0],
  ])(
    'end a hold of %s, whatever is asked for, an hour or a seventh before the provider releases',
    (_of, holdMs, most) => {
      expect(longestDeadline(holdMs)).toBe(most);
      expect(holdTerms(SENT, SENT, holdMs, { deadlineMs: 40 * DAY }).captureBy).toBe(SENT + most);
      // It was authorized late: the hold began with the POST all the same.
      expect(holdTerms(SENT, SENT + DAY, holdMs, { deadlineMs: 40 * DAY }).captureBy).toBe(SENT + most);
    },
  );

  test.each([
    ['7 days', 7 * DAY, 6 * DAY],
    ['8 days', 8 * DAY, 6 * DAY],
    ['3.5 days', 3.5 * DAY, 3 * DAY],
    ['14 hours', 14 * HOUR, 12 * HOUR],
  ])('are of a hold of %s six days or six sevenths, where nobody says otherwise', (_of, holdMs, deadlineMs) => {
    expect(holdTerms(SENT, SENT, holdMs, {}).captureBy).toBe(SENT + deadlineMs);
  });

  test('warn exactly as long before the deadline as was asked for', () => {
    fc.assert(
      fc.property(asked, ({ holdMs, authorizedAfter, deadlineMs, warningMs }) => {
        fc.pre(warningMs !== undefined);
        const { captureBy, warnAt } = holdTerms(SENT, SENT + authorizedAfter, holdMs, { deadlineMs, warningMs });
        expect(captureBy - warnAt).toBe(warningMs);
      }),
    );
  });

  test.each([
    ['an hour before a hold of a week ends', 7 * DAY, 7 * DAY - HOUR],
    ['an hour before a hold of seven hours ends', 7 * HOUR, 6 * HOUR],
    ['a seventh before a hold of seventy minutes ends', 70 * MINUTE, HOUR],
    ['a seventh before a hold of seven minutes ends', 7 * MINUTE, 6 * MINUTE],
    ['at once where nothing is held', 0, 0],
  ])('never let the deadline come later than %s, so that there is time to end it', (_name, holdMs, latest) => {
    expect(longestDeadline(holdMs)).toBe(latest);
    expect(holdTerms(SENT, SENT, holdMs, { deadlineMs: 60 * DAY }).captureBy - SENT).toBe(latest);
    // Authorized late: the hold runs from the POST on.
    expect(holdTerms(SENT, SENT + holdMs, holdMs, { deadlineMs: DAY }).captureBy - SENT).toBeLessThanOrEqual(latest);
  });

  test('are six days with a warning of twelve hours where nobody says otherwise', () => {
    expect(holdTerms(SENT, SENT, DEFAULT_HOLD_MS, {})).toEqual({
      warnAt: SENT + 6 * DAY - 12 * HOUR,
      captureBy: SENT + 6 * DAY,
      heldUntil: SENT + 7 * DAY,
    });
    expect(holdTerms(SENT, SENT, DEFAULT_HOLD_MS, { deadlineMs: 10 * MINUTE })).toMatchObject({
      warnAt: SENT + 5 * MINUTE,
    });
  });
});

test('the end of a hold is tried again and again, ever more slowly, but at least every six hours', () => {
  const delays = Array.from({ length: 30 }, (_, tries) => releaseDelay(tries));
  expect(delays).toEqual(delays.toSorted((a, b) => a - b));
  expect(delays.at(-1)).toBe(6 * HOUR);
});

test.each([
  ['7 days left', 7 * DAY, 7 * DAY - 12 * HOUR],
  ['2 days left', 2 * DAY, 36 * HOUR],
  ['1 day left', DAY, 18 * HOUR],
  ['4 minutes left', 4 * MINUTE, 3 * MINUTE],
  ['nothing left', 0, 0],
  ['a hold that is over', -HOUR, -HOUR],
])('a review begun with %s leaves the last quarter of it, at most 12 hours, for releasing', (_of, left, latest) => {
  expect(reviewMargin(SENT + left, SENT)).toBe(SENT + latest);
});

test('a review of a hold ends before the hold does, and not before it began', () => {
  fc.assert(
    fc.property(duration(30 * DAY), duration(30 * DAY), (holdMs, begunAfter) => {
      const latest = reviewMargin(SENT + holdMs, SENT + begunAfter);
      expect(latest).toBeLessThanOrEqual(SENT + holdMs);
      expect(latest).toBeGreaterThanOrEqual(SENT + Math.min(begunAfter, holdMs));
    }),
  );
});

/** A hold of two days with a deadline after one; 12 hours before it somebody is warned. */
const terms: HoldTerms = { warnAt: SENT + 12 * HOUR, captureBy: SENT + DAY, heldUntil: SENT + 2 * DAY };
const untried: Retries = { mustVoid: false, onDeadline: 'void', tries: 0, lastTryAt: 0, captureFailed: false };
const until = (ms: number, soon: boolean): HoldAct => ({ act: 'wait', until: SENT + ms, soon });
const tried = (tries: number, at: number): Partial<Retries> => ({ tries, lastTryAt: SENT + at });
const CAPTURE = { onDeadline: 'capture' } as const;

describe('what becomes of a hold that nobody commands anything about', () => {
  test.each<[string, number, Partial<Retries>, HoldAct]>([
    ['at first it waits for its warning', 0, {}, until(12 * HOUR, false)],
    ['then for its deadline', 12 * HOUR, {}, until(DAY, true)],
    ['to the last ms', DAY - 1, CAPTURE, until(DAY, true)],
    ['at the deadline it is released', DAY, {}, { act: 'void' }],
    ['or taken, where that was asked for', DAY, CAPTURE, { act: 'capture' }],
    ['but not again where a capture may have been made', DAY, { ...CAPTURE, captureFailed: true }, { act: 'void' }],
    ['nor one ms after it has lapsed', 2 * DAY, CAPTURE, { act: 'void' }],
    ['a cancel releases it at once', 0, { mustVoid: true }, { act: 'void' }],
    ['also where the deadline would take it', DAY, { ...CAPTURE, mustVoid: true }, { act: 'void' }],
    ['a void that failed is tried again after 1 min', DAY, tried(1, DAY), until(DAY + MINUTE, true)],
    ['which then is over', DAY + MINUTE, tried(1, DAY), { act: 'void' }],
    ['a second time after 5 min', DAY + HOUR, tried(2, DAY + HOUR), until(DAY + HOUR + 5 * MINUTE, true)],
    ['a third time after 15 min', DAY + HOUR, tried(3, DAY + HOUR), until(DAY + HOUR + 15 * MINUTE, true)],
    ['a fourth time after 1 h', DAY + HOUR, tried(4, DAY + HOUR), until(DAY + 2 * HOUR, true)],
    ['a fifth time after 2 h', DAY + HOUR, tried(5, DAY + HOUR), until(DAY + 3 * HOUR, true)],
    ['and then every 6 h', DAY + HOUR, tried(6, DAY + HOUR), until(DAY + 7 * HOUR, true)],
    ['never waiting past the end and its hour', 47 * HOUR, tried(9, 47 * HOUR), until(49 * HOUR, true)],
    [
      'a capture that failed is not tried again',
      DAY + HOUR,
      { ...CAPTURE, ...tried(1, DAY), captureFailed: true },
      { act: 'void' },
    ],
    ['also once it has lapsed, for the clocks may differ', 48 * HOUR, tried(1, DAY), { act: 'void' }],
    ['but what was never tried is released first', 48 * HOUR, {}, { act: 'void' }],
    ['however late that is', 90 * DAY, {}, { act: 'void' }],
    ['an hour after its end it is gone', 49 * HOUR, tried(1, DAY), { act: 'expire' }],
    ['and not before', 49 * HOUR - 1, tried(1, DAY), { act: 'void' }],
    ['however it was to end', 49 * HOUR, { ...CAPTURE, ...tried(1, DAY), mustVoid: true }, { act: 'expire' }],
  ])('%s', (_name, after, retries, expected) => {
    expect(holdAct(terms, { ...untried, ...retries }, SENT + after)).toEqual(expected);
  });
});

test('what was never tried is tried at once, however far back the clock has been set since', () => {
  const terms = holdTerms(SENT, SENT, DEFAULT_HOLD_MS, {});
  const retries: Retries = {
    tries: 0,
    lastTryAt: SENT + DAY,
    captureFailed: false,
    mustVoid: true,
    onDeadline: 'void',
  };
  expect(holdAct(terms, retries, SENT)).toEqual({ act: 'void' });
});
