import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { KNOWN_BY } from '../../src/contract/statuses.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import type { TransactionRecord } from '../../src/contract/transaction.js';
import { HOUR } from '../../src/domain/schedules.js';
import type { NextStep, SettlingProgress } from '../../src/domain/settling.js';
import { nextSettlingStep } from '../../src/domain/settling.js';
import { advance, isFinal, isUnconfirmedFailure } from '../../src/domain/transitions.js';
import { anyRecord, openRecord, OURS } from './records.js';

const SECOND = 1_000;
const FRESH: SettlingProgress = { polls: 0, reposts: 0, canRepost: true, readBack: false, unconfirmedForMs: 0 };
const record = (status: TransactionRecord['status'], category?: string): TransactionRecord => ({
  transactionId: OURS,
  status,
  ...(category !== undefined && { category }),
});
const PENDING = record('Pending');
const NETWORK = record('Failed', 'provider_network_error');
const PROVIDER_ERROR = record('Failed', 'provider_error');

const read = (waitMs: number): NextStep => ({ end: false, waitMs, by: 'read' });
const repost = (waitMs: number): NextStep => ({ end: false, waitMs, by: 'repost' });
const CONFIRMED: NextStep = { end: true, confirmed: true };
const UNCONFIRMED: NextStep = { end: true, confirmed: false };

describe('the next step towards a final status', () => {
  test.each<[string, TransactionRecord, KnownBy, Partial<SettlingProgress>, NextStep]>([
    ['a success ends', record('Succeed'), 'reply', {}, CONFIRMED],
    ['a decline ends', record('Failed', 'payment_method_declined'), 'reply', {}, CONFIRMED],
    ['a failure without a category ends', record('Failed'), 'webhook', {}, CONFIRMED],
    ['pending is polled after 5 s at first', PENDING, 'reply', {}, read(5 * SECOND)],
    ['then after 15 s', PENDING, 'poll', { polls: 1 }, read(15 * SECOND)],
    ['then after 1 min', PENDING, 'poll', { polls: 2 }, read(60 * SECOND)],
    ['then after 5 min', PENDING, 'poll', { polls: 3 }, read(300 * SECOND)],
    ['then after 15 min', PENDING, 'poll', { polls: 4 }, read(900 * SECOND)],
    ['then hourly', PENDING, 'poll', { polls: 5 }, read(HOUR)],
    ['for ever', PENDING, 'poll', { polls: 10_000 }, read(HOUR)],
    ['provider_error in a reply is read once after 5 s', PROVIDER_ERROR, 'reply', {}, read(5 * SECOND)],
    ['and ends when read back', PROVIDER_ERROR, 'reply', { readBack: true }, CONFIRMED],
    ['provider_error by webhook ends', PROVIDER_ERROR, 'webhook', {}, CONFIRMED],
    ['provider_error by poll ends', PROVIDER_ERROR, 'poll', {}, CONFIRMED],
    ['provider_network_error is sent again', NETWORK, 'reply', {}, repost(15 * SECOND)],
    ['by webhook too', NETWORK, 'webhook', {}, repost(15 * SECOND)],
    ['a second time', NETWORK, 'reply', { reposts: 1 }, repost(45 * SECOND)],
    ['a third time', NETWORK, 'reply', { reposts: 2 }, repost(180 * SECOND)],
    ['a fourth time', NETWORK, 'reply', { reposts: 3 }, repost(360 * SECOND)],
    ['and then only read', NETWORK, 'reply', { reposts: 4 }, read(5 * SECOND)],
    ['or at once only read when nothing may be sent', NETWORK, 'reply', { canRepost: false }, read(5 * SECOND)],
    ['never beyond its hour', NETWORK, 'poll', { reposts: 4, polls: 9, unconfirmedForMs: HOUR - 7 }, read(7)],
    ['and believed when it has stood for an hour', NETWORK, 'poll', { unconfirmedForMs: HOUR }, UNCONFIRMED],
  ])('%s', (_name, known, knownBy, progress, expected) => {
    expect(nextSettlingStep(known, knownBy, { ...FRESH, ...progress })).toEqual(expected);
  });

  test('keeps every rule for any knowledge and any progress', () => {
    const progress = fc.record({
      polls: fc.nat(50),
      reposts: fc.nat(8),
      canRepost: fc.boolean(),
      readBack: fc.boolean(),
      unconfirmedForMs: fc.oneof(fc.nat(2 * HOUR), fc.constantFrom(0, HOUR - 1, HOUR)),
    });
    fc.assert(
      fc.property(anyRecord, fc.constantFrom(...KNOWN_BY), progress, (known, knownBy, so) => {
        const step = nextSettlingStep(known, knownBy, so);
        if (step.end) {
          if (step.confirmed) expect(isFinal(known)).toBe(true);
          else expect(isUnconfirmedFailure(known) && so.unconfirmedForMs >= HOUR).toBe(true);
          return;
        }
        expect(step.waitMs).toBeGreaterThan(0);
        expect(step.waitMs).toBeLessThanOrEqual(HOUR);
        if (step.by === 'repost') expect(isUnconfirmedFailure(known) && so.canRepost && so.reposts < 4).toBe(true);
        expect(known.status).not.toBe('Succeed');
      }),
      { numRuns: 2_000 },
    );
  });
});

interface Run {
  endedAt: number | undefined;
  reposts: { at: number }[];
  confirmed: boolean | undefined;
  known: TransactionRecord;
}

/** Follows one transaction on a virtual clock: `answers` are what the service says, one per call, the last for ever. */
function follow(answers: readonly TransactionRecord[], canRepost: boolean, limitMs: number): Run {
  const progress = { ...FRESH, canRepost };
  const [first = PENDING] = answers;
  const run: Run = { endedAt: undefined, reposts: [], confirmed: undefined, known: first };
  let knownBy: KnownBy = 'reply';
  let unconfirmedSince: number | undefined;
  for (let now = 0, call = 1; now <= limitMs; call += 1) {
    unconfirmedSince = isUnconfirmedFailure(run.known) ? (unconfirmedSince ?? now) : undefined;
    progress.unconfirmedForMs = unconfirmedSince === undefined ? 0 : now - unconfirmedSince;
    const step = nextSettlingStep(run.known, knownBy, progress);
    if (step.end) return { ...run, endedAt: now, confirmed: step.confirmed };
    now += step.waitMs;
    const answer = answers[Math.min(call, answers.length - 1)] ?? run.known;
    const next = advance(run.known, answer);
    if (step.by === 'repost') {
      progress.reposts += 1;
      run.reposts.push({ at: now });
    } else {
      progress.polls += 1;
      progress.readBack = true;
    }
    if (next.status !== run.known.status) knownBy = step.by === 'repost' ? 'reply' : 'poll';
    run.known = next;
  }
  return run;
}

describe('following a transaction to its end', () => {
  test('asks a provider that stays unreachable four more times within 10 minutes and believes it after an hour', () => {
    const run = follow([NETWORK], true, 2 * HOUR);
    expect(run.reposts.map(({ at }) => at)).toEqual([15_000, 60_000, 240_000, 600_000]);
    expect(run).toMatchObject({ endedAt: HOUR, confirmed: false });
  });

  test('sends nothing again when nothing may be sent, and still waits the hour', () => {
    expect(follow([NETWORK], false, 2 * HOUR)).toMatchObject({ endedAt: HOUR, confirmed: false, reposts: [] });
  });

  test('takes the success that a repeated question brings', () => {
    const run = follow([NETWORK, NETWORK, record('Succeed')], true, HOUR);
    expect(run).toMatchObject({ endedAt: 60_000, confirmed: true, known: { status: 'Succeed' } });
  });

  test('never ends a transaction that stays pending', () => {
    expect(follow([PENDING], true, 30 * 24 * HOUR).endedAt).toBeUndefined();
  });

  test('always ends soon after a final answer, never sends more than 5 times, never invents an answer', () => {
    const story = fc.tuple(fc.array(openRecord, { minLength: 1, maxLength: 12 }), anyRecord, fc.boolean());
    fc.assert(
      fc.property(story, ([open, last, canRepost]) => {
        const run = follow([...open, last], canRepost, 40 * HOUR);
        expect(run.reposts.length).toBeLessThanOrEqual(canRepost ? 4 : 0);
        if (last.status !== 'Pending') expect(run.endedAt).toBeDefined();
        if (run.endedAt === undefined) expect(isFinal(run.known)).toBe(false);
        else if (run.confirmed === true) expect(run.known.status).toBe(last.status);
        else expect(isUnconfirmedFailure(run.known) && run.endedAt >= HOUR).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});
