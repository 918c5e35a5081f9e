import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { HoldAct, HoldTerms, Pursuit } from '../../src/domain/hold.js';
import {
  DEFAULT_HOLD_MS,
  EXPIRY_MARGIN_MS,
  holdAct,
  holdTerms,
  longestDeadline,
  pursuitDelay,
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
function live(terms: HoldTerms, when: Pursuit['onDeadline'], cancelAt: number, delays: Iterator<number>): Lived[] {
  const lived: Lived[] = [];
  let now = SENT;
  let pursuit = { tries: 0, lastTryAt: 0, captureFailed: false };
  for (let count = 0; count < 2_000; count += 1) {
    const next = holdAct(terms, { ...pursuit, mustVoid: now >= cancelAt, onDeadline: when }, now);
    lived.push({ at: now, act: next.act });
    if (next.act === 'expire') return lived;
    const took = Number(delays.next().value);
    if (next.act === 'wait') {
      expect(next.until).toBeGreaterThan(now);
      now = next.until + (took % 3 === 0 ? took % MINUTE : 0);
      continue;
    }
    now += took % HOUR;
    pursuit = {
      tries: pursuit.tries + 1,
      lastTryAt: now,
      captureFailed: pursuit.captureFailed || next.act === 'capture',
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
        expect(last?.at).toBeGreaterThanOrEqual(terms.heldUntil + EXPIRY_MARGIN_MS);
        expect(lived.filter(({ act }) => act === 'expire')).toHaveLength(1);
      }),
    );
  });

  test('is pursued: where it was looked at between deadline and end, something was tried', () => {
    fc.assert(
      fc.property(lives, ({ terms, lived }) => {
        const looks = lived.filter(({ at }) => at >= terms.captureBy && at < terms.heldUntil);
        if (looks.length > 0) expect(lived.some(({ act }) => act === 'capture' || act === 'void')).toBe(true);
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

  test('is not touched before its deadline unless it has to be let go', () => {
    fc.assert(
      fc.property(lives, ({ terms, cancelAt, lived }) => {
        const early = lived.filter(({ at, act }) => at < terms.captureBy && at < cancelAt && act !== 'wait');
        expect(early.filter(({ at }) => at < terms.heldUntil + EXPIRY_MARGIN_MS)).toEqual([]);
        const mustVoid = lived.filter(({ at }) => at >= cancelAt).map(({ act }) => act);
        expect(mustVoid).not.toContain('capture');
      }),
    );
  });
});

describe('the terms of a hold', () => {
  test('never put the deadline later than the margin before its end, nor after what was asked for', () => {
    fc.assert(
      fc.property(asked, ({ holdMs, authorizedAfter, deadlineMs, warningMs }) => {
        const terms = holdTerms(SENT, SENT + authorizedAfter, holdMs, { deadlineMs, warningMs });
        expect(terms.heldUntil).toBe(SENT + holdMs);
        expect(terms.captureBy).toBeLessThanOrEqual(SENT + longestDeadline(holdMs));
        expect(terms.captureBy).toBeLessThanOrEqual(SENT + authorizedAfter + (deadlineMs ?? 6 * DAY));
        expect(terms.warnAt).toBeLessThanOrEqual(terms.captureBy);
        expect(Object.values(terms).every(Number.isSafeInteger)).toBe(true);
      }),
    );
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

test('the end of a hold is pursued again and again, ever more slowly, but at least every six hours', () => {
  const delays = Array.from({ length: 30 }, (_, tries) => pursuitDelay(tries));
  expect(delays).toEqual(delays.toSorted((a, b) => a - b));
  expect(delays.at(-1)).toBe(6 * HOUR);
});

test('a review of a hold ends before the hold does, and not before it began', () => {
  fc.assert(
    fc.property(duration(30 * DAY), duration(30 * DAY), (holdMs, begunAfter) => {
      const latest = reviewMargin(SENT + holdMs, SENT + begunAfter);
      expect(latest).toBeLessThanOrEqual(SENT + holdMs);
      if (begunAfter <= holdMs) expect(latest).toBeGreaterThanOrEqual(SENT + begunAfter);
    }),
  );
});

const terms: HoldTerms = { warnAt: 1_000, captureBy: 2_000, heldUntil: 3_000 };
const untried: Pursuit = { mustVoid: false, onDeadline: 'void', tries: 0, lastTryAt: 0, captureFailed: false };
const GONE = terms.heldUntil + EXPIRY_MARGIN_MS;

describe('a hold that nobody has let go of', () => {
  test('is voided once before it is called expired, however late that is', () => {
    expect(holdAct(terms, untried, GONE)).toEqual({ act: 'void' });
    expect(holdAct(terms, { ...untried, tries: 1, lastTryAt: GONE }, GONE)).toEqual({ act: 'expire' });
  });

  test('is captured at its deadline where asked, but not once it has lapsed', () => {
    const pursuit: Pursuit = { ...untried, onDeadline: 'capture' };
    expect(holdAct(terms, pursuit, terms.captureBy)).toEqual({ act: 'capture' });
    expect(holdAct(terms, pursuit, terms.heldUntil)).toEqual({ act: 'void' });
  });
});
