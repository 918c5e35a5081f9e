import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { REFERENCE_PATTERN } from '../../src/contract/fields.js';
import { idempotencyKey, KEYED_OPERATIONS, MAX_KEY_LENGTH } from '../../src/contract/idempotency.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import { PAYMENT_ACTIONS } from '../../src/contract/payment-actions.js';

const LONGEST_REFERENCE = 'x'.repeat(50);
const LARGEST_SEQUENCE = 99;

const reference = fc.stringMatching(REFERENCE_PATTERN);
const operation = fc.constantFrom(...KEYED_OPERATIONS);
const sequence = fc.integer({ min: 1, max: LARGEST_SEQUENCE });
const intent = fc.tuple(reference, operation, sequence);

describe('an idempotency key', () => {
  test('fits what the strictest provider takes, for the longest reference and the longest operation', () => {
    expect(LONGEST_REFERENCE).toMatch(REFERENCE_PATTERN);
    expect(`${LONGEST_REFERENCE}x`).not.toMatch(REFERENCE_PATTERN);
    const workflowId = paymentWorkflowId(LONGEST_REFERENCE);
    const lengths = KEYED_OPERATIONS.map((name) => idempotencyKey(workflowId, name, LARGEST_SEQUENCE).length);
    expect(MAX_KEY_LENGTH).toBe(78);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(MAX_KEY_LENGTH);
  });

  test.each(KEYED_OPERATIONS)('of operation %s leaves room: the name has at most 16 letters', (name) => {
    expect(name).toMatch(/^[a-zA-Z]{1,16}$/);
  });

  test.each(PAYMENT_ACTIONS)('of action %s on an ended payment fits too: the name has at most 9 letters', (name) => {
    expect(KEYED_OPERATIONS).toContain(name);
    expect(name).toMatch(/^[a-z]{1,9}$/);
    const workflowId = `payment-actions-${'x'.repeat(36)}`;
    const sequence = `${'f'.repeat(12)}-${LARGEST_SEQUENCE}`;
    expect(`${workflowId}:${name}:${sequence}`.length).toBeLessThanOrEqual(MAX_KEY_LENGTH);
  });

  test('of no operation may be renamed: the service remembers it for 24 h, and flows live longer', () => {
    expect(KEYED_OPERATIONS).toEqual([
      'createPayment',
      'createCharge',
      'authorize',
      'capture',
      'void',
      'refund',
      'credit',
      'analyseRisk',
      'createCustomer',
      'storeCard',
    ]);
    expect(new Set<string>(KEYED_OPERATIONS).size).toBe(KEYED_OPERATIONS.length);
  });

  test('is made of the workflow id, the operation and the sequence, and never changes its form', () => {
    expect(idempotencyKey('payment-order-1001', 'createPayment', 1)).toBe('payment-order-1001:createPayment:1');
    expect(idempotencyKey('payment-order-1001', 'createCharge', 2)).toBe('payment-order-1001:createCharge:2');
  });

  test.each(KEYED_OPERATIONS)('of %s is the same in every process and every release', (name) => {
    const workflowId = `payment-${LONGEST_REFERENCE}`;
    expect(idempotencyKey(workflowId, name, 1)).toBe(`payment-${'x'.repeat(50)}:${name}:1`);
    expect(idempotencyKey(workflowId, name, 12)).toBe(`payment-${'x'.repeat(50)}:${name}:12`);
    expect(idempotencyKey('payment-actions-p', name, '0bafe22156d2-1')).toBe(
      `payment-actions-p:${name}:0bafe22156d2-1`,
    );
  });

  test('of ids that are alike for 200 characters differ', () => {
    const ids = ['a', 'b'].flatMap((end) => [`payment-${'x'.repeat(200)}${end}`, `${end}${'x'.repeat(200)}`]);
    expect(new Set(ids.map((id) => idempotencyKey(id, 'refund', 1))).size).toBe(4);
  });

  test('is never shared by two intents', () => {
    fc.assert(
      fc.property(intent, intent, (a, b) => {
        const same = a.every((part, index) => part === b[index]);
        const keys = [a, b].map(([name, op, n]) => idempotencyKey(paymentWorkflowId(name), op, n));
        expect(keys[0] === keys[1]).toBe(same);
      }),
    );
  });

  test('holds only characters that every header can carry', () => {
    fc.assert(
      fc.property(intent, ([name, op, n]) => {
        expect(idempotencyKey(paymentWorkflowId(name), op, n)).toMatch(/^[\x21-\x7e]+$/);
      }),
    );
  });
});
