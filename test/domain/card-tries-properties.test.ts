import { expect, test } from 'vitest';
import fc from 'fast-check';
import type { CardCap } from '../../src/contract/declines.js';
import { capsOf, cardLimit, type DeclinedTry, declinedTriesAt, SCHEME_CAPS } from '../../src/domain/card-tries.js';
import { fullOr } from '../support/counts.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.parse('2027-01-31T09:00:00Z');

/** A limit that configuration takes. */
const anyCap: fc.Arbitrary<CardCap> = fc
  .record({ tries: fc.integer({ min: 1, max: 15 }), days: fc.integer({ min: 1, max: 30 }) })
  .filter(({ tries, days }) => days > 1 || tries <= 10);

/** What is wanted, one after the other: how much later, with which card, and whether it is declined. */
const anyWish = fc.record({
  // Mostly soon and with one card, so that several limits hold at the same time.
  after: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 2 * HOUR }) },
    { weight: 1, arbitrary: fc.constantFrom(0, 1, DAY - 1, DAY, 30 * DAY) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 10 * DAY }) },
  ),
  card: fc.oneof({ weight: 4, arbitrary: fc.constant<string>('card-1') }, fc.constantFrom('card-2', 'card-3')),
  /** Comes when the limit ends, or a millisecond before. */
  waits: fc.constantFrom('no' as const, 'until' as const, 'almost' as const),
  isDeclined: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
});
type Wish = typeof anyWish extends fc.Arbitrary<infer Each> ? Each : never;

/** The declines of a subscription that tries whenever its limits let it. */
function declinesOf(wishes: readonly Wish[], capAt: (index: number) => CardCap | undefined): DeclinedTry[] {
  const sent: DeclinedTry[] = [];
  let kept: DeclinedTry[] = [];
  let now = START;
  for (const [index, { after, card, waits, isDeclined }] of wishes.entries()) {
    now += after;
    const caps = capsOf(capAt(index));
    const limit = cardLimit(kept, card, now, caps);
    if (limit !== undefined) {
      expect(limit.freeAt).toBeGreaterThan(now);
      if (waits === 'no') continue;
      now = waits === 'until' ? limit.freeAt : limit.freeAt - 1;
      const isFree = cardLimit(kept, card, now, caps) === undefined;
      expect(isFree).toBe(waits === 'until');
      if (!isFree) continue;
    }
    if (!isDeclined) continue;
    sent.push({ token: card, at: now });
    // As carried from run to run.
    kept = declinedTriesAt([...declinedTriesAt(kept, now), { token: card, at: now }], now);
  }
  return sent;
}

/** The most declines of one card in any such time. */
function mostWithin(tries: readonly DeclinedTry[], days: number): number {
  const counts = tries.map(
    ({ token, at }) => tries.filter((one) => one.token === token && one.at >= at && one.at < at + days * DAY).length,
  );
  return Math.max(0, ...counts);
}

test('no card is declined more often than its unit and the schemes allow, whatever is tried when and with which card', () => {
  const reached = new Set<string>();
  const wishes = fc.array(anyWish, { minLength: 20, maxLength: 120, size: 'max' });
  fc.assert(
    fc.property(wishes, fc.option(anyCap, { nil: undefined }), (all, own) => {
      const sent = declinesOf(all, () => own);
      for (const { tries, days } of capsOf(own)) {
        const most = mostWithin(sent, days);
        expect(most).toBeLessThanOrEqual(tries);
        if (most === tries) reached.add(`${tries} in ${days}`);
      }
    }),
    { numRuns: fullOr(1_000, 100) },
  );
  // It would say nothing if the limits were never met.
  for (const { tries, days } of SCHEME_CAPS) expect(reached).toContain(`${tries} in ${days}`);
});

test('the limits of the schemes hold however the unit changes its own', () => {
  const wishes = fc.array(anyWish, { minLength: 20, maxLength: 120, size: 'max' });
  const changes = fc.array(fc.option(anyCap, { nil: undefined }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(wishes, changes, (all, caps) => {
      const sent = declinesOf(all, (index) => caps[index % caps.length]);
      for (const { tries, days } of SCHEME_CAPS) expect(mostWithin(sent, days)).toBeLessThanOrEqual(tries);
    }),
    { numRuns: fullOr(1_000, 100) },
  );
});

test('more cards than are kept do not make it forget the tries of the first', () => {
  const others = Array.from({ length: 30 }, (_, card) => Array.from({ length: 10 }, () => `other-${card}`)).flat();
  const cards = [...Array.from({ length: 5 }, () => 'card-1'), ...others, 'card-1'];
  const wishes = cards.map((card): Wish => ({ after: HOUR, card, waits: 'no', isDeclined: true }));
  const sent = declinesOf(wishes, () => ({ tries: 5, days: 30 }));
  expect(mostWithin(sent, 30)).toBe(5);
});
