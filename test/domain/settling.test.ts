import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { HOUR_MS as HOUR } from '../../src/contract/time-units.js';
import { KNOWN_BY, type KnownBy } from '../../src/contract/statuses.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import {
  nextSettlingStep,
  type NextStep,
  type SettlingProgress,
  isFinal,
  isInDoubt,
  isUnconfirmedFailure,
} from '../../src/domain/settling.js';
import { anyRecord, OURS } from './records.js';

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
const OPEN_ERROR: TransactionRecord = { ...PROVIDER_ERROR, earlierTryOpen: true };
const OPEN_DECLINE: TransactionRecord = { ...record('Failed', 'payment_method_declined'), earlierTryOpen: true };

const read = (waitMs: number): NextStep => ({ end: false, waitMs, by: 'read' });
const repost = (waitMs: number): NextStep => ({ end: false, waitMs, by: 'repost' });
const CONFIRMED: NextStep = { end: true, confirmed: true };
const UNCONFIRMED: NextStep = { end: true, confirmed: false };

const UNEXPLAINED = { unexplained: true, polls: 9, unconfirmedForMs: HOUR - 7 };

describe('the next step towards a final status', () => {
  test.each<[string, TransactionRecord, KnownBy, Partial<SettlingProgress>, NextStep]>([
    ['a success ends', record('Succeed'), 'reply', {}, CONFIRMED],
    ['a success ends, whatever category it carries', record('Succeed', 'provider_error'), 'reply', {}, CONFIRMED],
    ['a decline ends', record('Failed', 'payment_method_declined'), 'reply', {}, CONFIRMED],
    ['a failure without a category ends', record('Failed'), 'webhook', {}, CONFIRMED],
    ['pending is polled after 5 s at first', PENDING, 'reply', {}, read(5 * SECOND)],
    ['then after 15 s', PENDING, 'poll', { polls: 1 }, read(15 * SECOND)],
    ['then after 1 min', PENDING, 'poll', { polls: 2 }, read(60 * SECOND)],
    ['then after 5 min', PENDING, 'poll', { polls: 3 }, read(300 * SECOND)],
    ['then after 15 min', PENDING, 'poll', { polls: 4 }, read(900 * SECOND)],
    ['then hourly', PENDING, 'poll', { polls: 5 }, read(HOUR)],
    ['for two weeks', PENDING, 'poll', { polls: 340 }, read(HOUR)],
    ['then daily for ever', PENDING, 'poll', { polls: 10_000 }, read(24 * HOUR)],
    ['for at most the hour if an event calls it failed and not why', PENDING, 'poll', UNEXPLAINED, read(7)],
    ['after which that counts', PENDING, 'poll', { ...UNEXPLAINED, unconfirmedForMs: HOUR }, UNCONFIRMED],
    ['provider_error in a reply is read once after 5 s', PROVIDER_ERROR, 'reply', {}, read(5 * SECOND)],
    ['and ends when read back', PROVIDER_ERROR, 'reply', { readBack: true }, CONFIRMED],
    ['is sent again where no read is offered', PROVIDER_ERROR, 'reply', { unreadable: true }, repost(SECOND)],
    ['but once', PROVIDER_ERROR, 'reply', { unreadable: true, repostedInDoubt: true }, UNCONFIRMED],
    ['and not where nothing may be sent', PROVIDER_ERROR, 'reply', { unreadable: true, canRepost: false }, UNCONFIRMED],
    ['provider_error by webhook ends', PROVIDER_ERROR, 'webhook', {}, CONFIRMED],
    ['provider_error by poll ends', PROVIDER_ERROR, 'poll', {}, CONFIRMED],
    ['beside an unanswered try it is sent again', OPEN_ERROR, 'reply', { readBack: true }, repost(15 * SECOND)],
    ['also by poll', OPEN_ERROR, 'poll', {}, repost(15 * SECOND)],
    ['or read', OPEN_ERROR, 'webhook', { canRepost: false }, read(5 * SECOND)],
    ['and unconfirmed after an hour', OPEN_ERROR, 'poll', { unconfirmedForMs: HOUR }, UNCONFIRMED],
    ['a decline ends beside an unanswered try', OPEN_DECLINE, 'reply', {}, CONFIRMED],
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
      unreadable: fc.boolean(),
      repostedInDoubt: fc.boolean(),
      unconfirmedForMs: fc.oneof(fc.nat(2 * HOUR), fc.constantFrom(0, HOUR - 1, HOUR)),
    });
    fc.assert(
      fc.property(anyRecord, fc.constantFrom(...KNOWN_BY), progress, (known, knownBy, so) => {
        const step = nextSettlingStep(known, knownBy, so);
        if (step.end) {
          const doubted = isInDoubt(known, knownBy) && !so.readBack;
          const isLast = so.unconfirmedForMs >= HOUR || (so.unreadable && (so.repostedInDoubt || !so.canRepost));
          if (step.confirmed) expect(isFinal(known) && !doubted).toBe(true);
          else if (doubted) expect(isLast).toBe(true);
          else expect(isUnconfirmedFailure(known) && so.unconfirmedForMs >= HOUR).toBe(true);
          return;
        }
        expect(step.waitMs).toBeGreaterThan(0);
        expect(step.waitMs).toBeLessThanOrEqual(HOUR);
        const oncePerDoubt = isInDoubt(known, knownBy) && so.unreadable && !so.repostedInDoubt;
        const mayAsk = oncePerDoubt || (isUnconfirmedFailure(known) && so.reposts < 4);
        if (step.by === 'repost') expect(so.canRepost && mayAsk).toBe(true);
        expect(known.status).not.toBe('Succeed');
      }),
      { numRuns: 2_000 },
    );
  });
});

/** ms after the first answer at which the nth POST, or the nth read, of a transaction that stays as it is leaves. */
function timesOf(known: TransactionRecord, by: 'polls' | 'reposts', count: number): number[] {
  let at = 0;
  return Array.from({ length: count }, (_, nth) => {
    const step = nextSettlingStep(known, 'poll', { ...FRESH, [by]: nth });
    if (step.end) throw new Error(`ends after ${nth}`);
    return (at += step.waitMs);
  });
}

describe('over time', () => {
  test('a provider that stays unreachable is asked four more times, the last of them after 10 minutes', () => {
    expect(timesOf(NETWORK, 'reposts', 4)).toEqual([15_000, 60_000, 240_000, 600_000]);
  });

  test('what stays pending is read after 5 s, 20 s, 80 s, 6 min 20 s, 21 min 20 s, then hourly, then daily without an end', () => {
    const times = timesOf(PENDING, 'polls', 24 * 30);
    expect(times.slice(0, 7)).toEqual([5_000, 20_000, 80_000, 380_000, 1_280_000, 4_880_000, 8_480_000]);
    expect(times.at(-1)).toBe(1_280_000 + 336 * HOUR + (24 * 30 - 5 - 336) * 24 * HOUR);
  });
});
