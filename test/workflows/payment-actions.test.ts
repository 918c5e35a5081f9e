import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CARDS, chargeInput } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { authorizeInput, movements } from '../support/payments.js';
import { sharedStack, type TestStack } from '../support/stack.js';

let stack: TestStack;
beforeAll(async () => {
  stack = await sharedStack({ pendingMs: 500 });
});
afterAll(async () => {
  await stack?.close();
});

async function charged(amount = 20_000) {
  const input = await chargeInput(stack.sandbox, CARDS.succeeds, { amount });
  const outcome = await stack.holdfast.charge(input);
  if (outcome.status !== 'succeeded') throw new Error(`is ${outcome.status}`);
  return { reference: input.reference, paymentId: outcome.paymentId ?? '' };
}

describe('a refund', () => {
  test('refunds a part, several times, never more than was taken', async () => {
    const { reference, paymentId } = await charged();
    const refund = (amount: number, commandId: string) =>
      stack.holdfast.refund({ payment: reference, amount, commandId });
    expect(await refund(6_000, 'a')).toMatchObject({ status: 'succeeded', amount: 6_000 });
    expect(await refund(6_000, 'b')).toMatchObject({ status: 'succeeded', amount: 6_000 });
    await expect(refund(8_001, 'c')).rejects.toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining('80.01 USD is more than the 80.00 USD left to refund'),
    });
    expect(await refund(8_000, 'd')).toMatchObject({ status: 'succeeded' });
    await expect(refund(6_000, 'e')).rejects.toMatchObject({ type: 'StateConflict' });
    // A repeated command is answered with what the first one did.
    expect(await refund(6_000, 'a')).toMatchObject({ status: 'succeeded', amount: 6_000 });
    const refunds = (await stack.sandbox.ledger()).filter(
      ({ kind, payment_id }) => kind === 'refund' && payment_id === paymentId,
    );
    expect(refunds.map(({ status, amount, currency }) => `${status} ${amount} ${currency}`)).toEqual([
      'Succeed 6000 USD',
      'Succeed 6000 USD',
      'Succeed 8000 USD',
    ]);
  });

  test('whose reply is lost is given once, and an equal one is told apart', async () => {
    const { reference, paymentId } = await charged();
    await stack.sandbox.addFault({ action: 'drop_reply', method: 'POST', path: `*${paymentId}/refunds`, times: 1 });
    const both = await Promise.all([
      stack.holdfast.refund({ payment: { payment: paymentId }, amount: 6_000, reference: `${reference}-r1` }),
      stack.holdfast.refund({ payment: { payment: paymentId }, amount: 6_000, reference: `${reference}-r2` }),
    ]);
    expect(both.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    const refunds = (await stack.sandbox.ledger()).filter(
      ({ kind, payment_id }) => kind === 'refund' && payment_id === paymentId,
    );
    expect(refunds.map(({ reconciliation_id }) => reconciliation_id).sort()).toEqual([
      `${reference}-r1`,
      `${reference}-r2`,
    ]);
  });

  test('of nothing is refused, and so is one while the money is only held', async () => {
    const input = await authorizeInput(stack);
    await stack.holdfast.authorize(input);
    await expect(stack.holdfast.refund({ payment: input.reference })).rejects.toMatchObject({ type: 'StateConflict' });
    await stack.holdfast.void(input.reference);
    await expect(stack.holdfast.refund({ payment: input.reference })).rejects.toMatchObject({
      type: 'StateConflict',
      message: expect.stringContaining('nothing has been captured'),
    });
    expect(await movements(stack, input.reference)).toHaveLength(2);
  });
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
