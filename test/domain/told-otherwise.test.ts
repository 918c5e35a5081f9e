import { describe, expect, test } from 'vitest';
import type { ActionRecord, PaymentAction } from '../../src/contract/payment-actions.js';
import { sumsOf } from '../../src/domain/payment-sums.js';
import { factsOf } from './payment-facts.js';

describe('a command whose answer a signed event contradicts', () => {
  const facts = factsOf([], 10_000, 'Authorized');
  const done = (action: PaymentAction, outcome: object, told: 'Succeed' | 'Failed', more: object = {}) =>
    ({
      action,
      amount: 4_000,
      outcome: { transactionId: 'tx-1', ...outcome },
      told: { status: told, created: '2027-01-31T10:00:00Z' },
      ...more,
    }) as ActionRecord;
  const declined = { status: 'declined', confirmed: true };
  const listed = (status: 'Succeed' | 'Failed') => [{ transactionId: 'tx-1', status, amount: 4_000 }];

  test('may have captured, also if a list says otherwise, until a person has seen it', () => {
    const captures = listed('Failed');
    expect(sumsOf(facts, [done('capture', declined, 'Succeed')]).capturedAtMost).toBe(4_000);
    expect(sumsOf({ ...facts, captures }, [done('capture', declined, 'Succeed')]).capturedAtMost).toBe(4_000);
    const seen = [done('capture', declined, 'Succeed', { toldSeen: true })];
    expect(sumsOf({ ...facts, captures }, seen).capturedAtMost).toBe(0);
    // No list has it yet.
    expect(sumsOf(facts, seen).capturedAtMost).toBe(4_000);
  });

  test('has captured nothing that may be refunded before a list shows it', () => {
    const told = [done('capture', { status: 'succeeded' }, 'Failed')];
    expect(sumsOf(facts, told)).toMatchObject({ captured: 0, capturedAtMost: 4_000 });
    expect(sumsOf({ ...facts, captures: listed('Succeed') }, told)).toMatchObject({ captured: 4_000 });
  });

  test('may have refunded', () => {
    expect(sumsOf(facts, [done('refund', declined, 'Succeed')]).refunded).toBe(4_000);
    expect(sumsOf(facts, [done('refund', { status: 'succeeded' }, 'Failed')]).refunded).toBe(4_000);
  });
});
