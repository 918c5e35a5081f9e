import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countOutgoing, type DaySums } from '../../src/domain/outgoing.js';

const noSums = (): DaySums => ({ sums: new Map(), cards: new Map(), keys: new Map() });

const LIMITS = { perDay: 100, perCard: 2 };

const asked = fc.record({
  key: fc.constantFrom('k1', 'k2', 'k3', 'k4', 'k5', 'k6'),
  amount: fc.integer({ min: 1, max: 70 }),
  currency: fc.constantFrom('EUR', 'JPY'),
  card: fc.option(fc.constantFrom('c1', 'c2'), { nil: undefined }),
  approved: fc.boolean(),
});
/** A key is always of the same operation: of one payment, in its currency, to its card. */
const consistent = fc.array(asked, { maxLength: 40 }).map((all) =>
  all.map(({ card: _card, approved, ...each }) => {
    const first = all.find(({ key }) => key === each.key) ?? each;
    const { card } = first as { card?: string | undefined };
    return {
      ...each,
      currency: first.currency,
      ...(card !== undefined && { card }),
      ...(approved && { approved: true as const }),
    };
  }),
);

test('the sums of a day are those of its keys, and only what is approved goes beyond the limits', () => {
  fc.assert(
    fc.property(consistent, (requests) => {
      const day = noSums();
      const counted = new Map<string, { amount: number; currency: string; card?: string; approved: boolean }>();
      for (const { key, amount, currency, card, approved } of requests) {
        const request = { key, amount, currency, ...(card !== undefined && { card }), ...LIMITS };
        const answer = countOutgoing(day, approved === true ? { ...request, approved } : request);
        if (approved === true) expect(answer).toEqual({ counted: true });
        const before = counted.get(key);
        const isApproved = approved === true || (before?.amount === amount && before.approved);
        if (answer.counted)
          counted.set(key, { amount, currency, ...(card !== undefined && { card }), approved: isApproved });
        // A repeat changes nothing.
        const sums = JSON.stringify([...day.sums, ...day.cards, ...day.keys]);
        expect(countOutgoing(day, { ...request, amount: counted.get(key)?.amount ?? amount }).counted).toBe(
          counted.has(key),
        );
        expect(JSON.stringify([...day.sums, ...day.cards, ...day.keys])).toBe(sums);
      }
      const all = [...counted.values()];
      for (const currency of ['EUR', 'JPY']) {
        const of = all.filter((one) => one.currency === currency);
        const sum = of.reduce((total, { amount }) => total + amount, 0);
        expect(day.sums.get(currency) ?? 0).toBe(sum);
        if (!of.some(({ approved }) => approved)) expect(sum).toBeLessThanOrEqual(LIMITS.perDay);
      }
      for (const card of ['c1', 'c2']) {
        const of = all.filter((one) => one.card === card);
        expect(day.cards.get(card) ?? 0).toBe(of.length);
        if (!of.some(({ approved }) => approved)) expect(of.length).toBeLessThanOrEqual(LIMITS.perCard);
      }
    }),
  );
});

test('over another sum a key is counted anew, if there is room, and else as before', () => {
  const day = noSums();
  const request = { key: 'k', currency: 'EUR', perDay: 100 };
  expect(countOutgoing(day, { ...request, amount: 60 })).toEqual({ counted: true });
  expect(countOutgoing(day, { ...request, amount: 100 })).toEqual({ counted: true });
  expect(countOutgoing(day, { ...request, amount: 101 })).toEqual({
    counted: false,
    over: 'perDay',
    sum: 0,
    refunds: 0,
  });
  expect(day.sums.get('EUR')).toBe(100);
});

test('a day keeps no more keys than there is room for, but for what is approved', () => {
  const day = noSums();
  const ask = (key: string, approved?: true) =>
    countOutgoing(day, { key, amount: 1, currency: 'EUR', ...(approved && { approved }) }, 2).counted;
  expect([ask('1'), ask('2'), ask('3'), ask('1'), ask('3', true)]).toEqual([true, true, false, true, true]);
});
