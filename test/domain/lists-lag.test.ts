import { describe, expect, test } from 'vitest';
import type { TransactionRecord } from '../../src/contract/records.js';
import { listsLag, type PaymentFacts, sumsOf } from '../../src/domain/payment-sums.js';
import { actionOf, CAPTURE, captured, factsOf, REFUND } from './payment-facts.js';

describe('lists that lag', () => {
  test.each<[string, PaymentFacts]>([
    ['captured, and no capture listed', captured({ captures: [] })],
    ['captured, and no authorization listed', captured({ authorizations: [] })],
    ['refunded, and no refund listed', captured({ status: 'Refunded' })],
    ['authorized, and no authorization listed', { ...factsOf([], 100, 'Authorized'), authorizations: [] }],
  ])('are noticed: the payment is %s', (_name, facts) => {
    expect(listsLag(facts, sumsOf(facts, []))).toBe(true);
  });

  test.each<[string, ('authorization' | 'charge' | 'capture' | 'refund')[], boolean]>([
    ['Initialized', [], false],
    ['Initialized', ['capture'], true],
    ['Authorized', [], true],
    ['Authorized', ['authorization'], false],
    ['Authorized', ['charge'], true],
    ['Captured', [], true],
    ['Captured', ['authorization'], true],
    ['Captured', ['capture'], true],
    ['Captured', ['charge'], false],
    ['Captured', ['charge', 'capture'], true],
    ['Captured', ['authorization', 'capture'], false],
    ['Refunded', [], true],
    ['Refunded', ['refund'], true],
    ['Refunded', ['charge'], true],
    ['Refunded', ['charge', 'refund'], false],
    ['Refunded', ['authorization', 'refund'], true],
    ['Refunded', ['authorization', 'capture'], true],
    ['Refunded', ['authorization', 'capture', 'refund'], false],
    ['PartiallyCaptured', [], true],
    ['PartiallyCaptured', ['authorization'], true],
    ['PartiallyCaptured', ['authorization', 'capture'], false],
    ['unknown', ['authorization'], false],
    ['Voided', [], false],
    ['Voided', ['authorization'], false],
    ['Voided', ['capture'], true],
  ])('of a payment that is %s, with %j listed: %s', (status, listed, lag) => {
    const of = (kind: string): TransactionRecord[] =>
      listed.filter((name) => name === kind).map((name) => ({ transactionId: name, status: 'Succeed', amount: 100 }));
    const facts: PaymentFacts = {
      ...factsOf([], 100, status),
      authorizations: of('authorization'),
      charges: of('charge'),
      captures: of('capture'),
      refunds: of('refund'),
    };
    expect(listsLag(facts, sumsOf(facts, []))).toBe(lag);
  });

  test.each(['Captured', 'Refunded'])(
    'of a payment that is %s lag while they show nothing, whatever we did',
    (status) => {
      const facts: PaymentFacts = { ...factsOf([], 100, status), authorizations: [] };
      const done = [actionOf({ ...CAPTURE, fate: 'succeeded' }), actionOf({ ...REFUND, fate: 'succeeded' })];
      expect(listsLag(facts, sumsOf(facts, done))).toBe(true);
      expect(listsLag({ ...facts, authorizations: factsOf([], 100).authorizations }, sumsOf(facts, done))).toBe(false);
    },
  );

  test('are not suspected where they fit, our own commands included', () => {
    const taken = [{ transactionId: 't', status: 'Succeed' as const }];
    const charged = { ...factsOf([], 100), authorizations: [], charges: taken };
    const created = { ...factsOf([], 100, 'Initialized'), authorizations: [] };
    for (const facts of [captured(), charged, created, factsOf([], 100, 'Authorized'), factsOf([], 100, 'Voided')]) {
      expect(listsLag(facts, sumsOf(facts, []))).toBe(false);
    }
    const refunded = captured({ status: 'Refunded' });
    expect(listsLag(refunded, sumsOf(refunded, [actionOf({ ...REFUND, fate: 'succeeded' })]))).toBe(false);
  });
});
