import { describe, expect, test } from 'vitest';
import { commandSequence, idempotencyKey, MAX_KEY_LENGTH } from '../../src/contract/idempotency.js';
import { paymentActionsWorkflowId } from '../../src/contract/names.js';

const ALIKE = 'a'.repeat(200);

describe('what stands for the sequence in the key of a command to an ended payment', () => {
  test.each([
    ['order-1', '0bafe22156d2-1'],
    ['refund-2026-11-22-0001', '975726769fe7-1'],
    ['ordre-Å-1', '0725b1b49805-1'],
    [`${ALIKE}1`, '90c081e4224f-1'],
    [`${ALIKE}2`, 'abeea522b3dd-1'],
  ])('is the same in every release, since a running refund is asked for again under it: %s', (commandId, sequence) => {
    // `printf %s <id> | sha256sum | cut -c1-12`
    expect(commandSequence(commandId)).toBe(sequence);
  });

  test('differs between 20,000 commands, so that a second refund is never answered with the first', () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => `refund-${index}`);
    expect(new Set(ids.map(commandSequence)).size).toBe(ids.length);
  });

  test('differs between commands that are alike for 200 characters, whichever end they differ at', () => {
    const ids = [`${ALIKE}x`, `${ALIKE}y`, `x${ALIKE}`, `y${ALIKE}`, ALIKE, `${ALIKE}a`, ALIKE.toUpperCase()];
    expect(new Set(ids.map(commandSequence)).size).toBe(ids.length);
  });

  test('makes a key that is whole and no longer than the strictest provider takes', () => {
    const workflowId = paymentActionsWorkflowId('150f1279-6d2c-4728-9e23-6b303f3f1f2f');
    const key = idempotencyKey(workflowId, 'capture', commandSequence('order-1'));
    expect(key).toBe('payment-actions-150f1279-6d2c-4728-9e23-6b303f3f1f2f:capture:0bafe22156d2-1');
    expect(key.length).toBeLessThanOrEqual(MAX_KEY_LENGTH);
  });
});
