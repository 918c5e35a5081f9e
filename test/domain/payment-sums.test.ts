import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { PaymentAction } from '../../src/contract/payment-actions.js';
import type { PaymentFacts } from '../../src/domain/payment-sums.js';
import { allowedAmount, listsLag, sumsOf } from '../../src/domain/payment-sums.js';
import { actionOf, actionsOf, anyAmount, anyTruths, atMost, factsOf, surely } from './payment-facts.js';

const show = (amount: number): string => `${amount} units`;
const wish = fc.option(anyAmount, { nil: undefined });

const CAPTURE = { kind: 'capture', id: 'c-1', amount: 60 } as const;
const REFUND = { kind: 'refund', id: 'r-1', amount: 25 } as const;
const captured = (rest: Partial<PaymentFacts> = {}): PaymentFacts => ({
  ...factsOf([], 100),
  captures: [{ transactionId: 'c-1', status: 'Succeed', amount: 60 }],
  ...rest,
});
const asks = (action: PaymentAction, asked: number | undefined, facts: PaymentFacts, actions = actionsOf([])) =>
  allowedAmount(action, asked, sumsOf(facts, actions), show);

describe('whatever the lists show and our own commands did', () => {
  test('an allowed refund never gives back more than was surely captured', () => {
    fc.assert(
      fc.property(anyTruths, anyAmount, wish, (truths, authorized, asked) => {
        const allowed = asks('refund', asked, factsOf(truths, authorized), actionsOf(truths));
        if ('refusal' in allowed) return;
        expect(allowed.amount).toBeGreaterThan(0);
        expect(atMost(truths, 'refund') + allowed.amount).toBeLessThanOrEqual(surely(truths, 'capture'));
      }),
      { numRuns: 1_000 },
    );
  });

  test('an allowed capture never takes more than is authorized', () => {
    fc.assert(
      fc.property(anyTruths, anyAmount, wish, (truths, authorized, asked) => {
        const allowed = asks('capture', asked, factsOf(truths, authorized, 'Authorized'), actionsOf(truths));
        if ('refusal' in allowed) return;
        expect(allowed.amount).toBeGreaterThan(0);
        expect(atMost(truths, 'capture') + allowed.amount).toBeLessThanOrEqual(authorized);
      }),
      { numRuns: 1_000 },
    );
  });

  test('a void is allowed only where nothing may have been captured', () => {
    fc.assert(
      fc.property(anyTruths, anyAmount, (truths, authorized) => {
        const allowed = asks('void', undefined, factsOf(truths, authorized, 'Authorized'), actionsOf(truths));
        if ('amount' in allowed) expect(atMost(truths, 'capture')).toBe(0);
        else expect(truths.some(({ kind }) => kind === 'capture')).toBe(true);
      }),
    );
  });

  test('a list that shows less of what we did never allows more', () => {
    fc.assert(
      fc.property(anyTruths, anyAmount, fc.constantFrom('refund' as const, 'capture' as const), (...story) => {
        const [truths, authorized, action] = story;
        const all = truths.map((each) => ({ ...each, shown: 'now' as const }));
        const most = (seen: typeof truths): number => {
          const allowed = asks(action, undefined, factsOf(seen, authorized, 'Authorized'), actionsOf(seen));
          return 'amount' in allowed ? allowed.amount : 0;
        };
        expect(most(truths)).toBeLessThanOrEqual(most(all));
      }),
      { numRuns: 500 },
    );
  });
});

describe('the sums of a payment', () => {
  test.each(['Pending', 'unconfirmed'] as const)('count a refund that is %s as given back', (how) => {
    const record =
      how === 'Pending'
        ? ({ transactionId: 'r-1', status: 'Pending', amount: 25 } as const)
        : ({ transactionId: 'r-1', status: 'Failed', category: 'provider_network_error', amount: 25 } as const);
    expect(asks('refund', undefined, captured({ refunds: [record] }))).toEqual({ amount: 35 });
  });

  test('count our own refund, done or never confirmed, that no list shows yet', () => {
    for (const fate of ['succeeded', 'unconfirmed'] as const) {
      expect(asks('refund', undefined, captured(), [actionOf({ ...REFUND, fate })])).toEqual({ amount: 35 });
    }
    expect(asks('refund', undefined, captured(), [actionOf({ ...REFUND, fate: 'failed' })])).toEqual({ amount: 60 });
  });

  describe('count a record without an amount as the whole payment', () => {
    const whole = (status: 'Succeed' | 'Pending') => [{ transactionId: 'x-1', status }];
    const left = (facts: Partial<PaymentFacts>) => asks('refund', undefined, captured(facts));

    test('so that a refund without one leaves nothing to refund', () => {
      const says = '60 units captured, 100 units refunded or being refunded';
      expect(left({ refunds: whole('Succeed') })).toEqual({ refusal: expect.stringContaining(says) });
      expect(left({ refunds: whole('Pending') })).toEqual({ refusal: expect.stringContaining(says) });
    });

    test('so that a capture or a charge without one can be refunded whole, and no more', () => {
      expect(left({ captures: whole('Succeed') })).toEqual({ amount: 100 });
      expect(left({ captures: [], charges: whole('Succeed') })).toEqual({ amount: 100 });
      expect(asks('refund', 101, captured({ captures: whole('Succeed') }))).toMatchObject({ badInput: true });
    });

    test('so that a capture without one leaves nothing to capture and nothing to void', () => {
      for (const status of ['Succeed', 'Pending'] as const) {
        const facts = { ...factsOf([], 100, 'Authorized'), captures: whole(status) };
        const says = '100 units authorized, 100 units captured or being captured';
        expect(asks('capture', 1, facts)).toEqual({ refusal: `nothing is left to capture: ${says}` });
        expect(asks('void', undefined, facts)).toEqual({
          refusal: '100 units may have been captured; refund it instead',
        });
      }
    });

    test('so that an authorization without one holds the whole', () => {
      const facts = { ...factsOf([], 100, 'Authorized'), authorizations: whole('Succeed') };
      expect(asks('capture', undefined, facts)).toEqual({ amount: 100 });
      expect(asks('void', undefined, facts)).toEqual({ amount: 100 });
    });
  });

  test('do not take for captured what was never confirmed, nor what may be listed under another name', () => {
    const none = captured({ captures: [] });
    const nothing = { refusal: expect.stringContaining('nothing has been captured') };
    expect(asks('refund', 1, none, [actionOf({ ...CAPTURE, fate: 'unconfirmed' })])).toEqual(nothing);
    const { transactionId: _unknown, ...outcome } = actionOf({ ...CAPTURE, fate: 'succeeded' }).outcome;
    const byOperator = { ...actionOf({ ...CAPTURE, fate: 'succeeded' }), outcome };
    expect(asks('refund', undefined, captured(), [byOperator])).toEqual({ amount: 60 });
    expect(asks('refund', undefined, none, [actionOf({ ...CAPTURE, fate: 'succeeded' })])).toEqual({ amount: 60 });
  });

  test('take our own void for done before the service shows it', () => {
    const facts = factsOf([], 100, 'Authorized');
    const voided = [actionOf({ kind: 'void', id: 'v-1', amount: 100, fate: 'succeeded' })];
    expect(asks('capture', 10, facts)).toEqual({ amount: 10 });
    for (const action of ['capture', 'void'] as const) {
      expect(asks(action, undefined, facts, voided)).toEqual({ refusal: 'the authorization has been voided' });
    }
  });

  test.each<[PaymentAction, number, string]>([
    ['refund', 61, '61 units is more than the 60 units left to refund: 60 units captured, 0 units refunded'],
    ['capture', 41, '41 units is more than the 40 units left to capture: 100 units authorized, 60 units captured'],
  ])('refuse a %s above what is left as bad input, with the numbers', (action, asked, says) => {
    expect(asks(action, asked, captured())).toEqual({ refusal: expect.stringContaining(says), badInput: true });
    expect(asks(action, asked - 1, captured())).toEqual({ amount: asked - 1 });
  });
});

describe('lists that lag', () => {
  test.each<[string, PaymentFacts]>([
    ['captured, and no capture listed', captured({ captures: [] })],
    ['captured, and no authorization listed', captured({ authorizations: [] })],
    ['refunded, and no refund listed', captured({ status: 'Refunded' })],
    ['authorized, and no authorization listed', { ...factsOf([], 100, 'Authorized'), authorizations: [] }],
  ])('are noticed: the payment is %s', (_name, facts) => {
    expect(listsLag(facts, sumsOf(facts, []))).toBe(true);
  });

  test('are not suspected where they fit, our own commands included', () => {
    for (const facts of [captured(), factsOf([], 100, 'Authorized'), factsOf([], 100, 'Voided')]) {
      expect(listsLag(facts, sumsOf(facts, []))).toBe(false);
    }
    const refunded = captured({ status: 'Refunded' });
    expect(listsLag(refunded, sumsOf(refunded, [actionOf({ ...REFUND, fate: 'succeeded' })]))).toBe(false);
  });
});
