import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PAYMENTS_TASK_QUEUE, paymentWorkflowId, SIGNAL_NAMES } from '../../src/contract/names.js';
import { CARDS, chargeInput, newReference } from '../support/charges.js';
import type { TestStack } from '../support/stack.js';
import { startStack } from '../support/stack.js';
import { until } from '../support/until.js';

// Workflows share the contract's schemas, frozen from outside. A schema that can't work frozen would fail
// the workflow task for ever, so each field is tried here inside a real worker, right and wrong.
let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ webhook: false, pendingMs: 3_600_000 });
});
afterAll(async () => {
  await stack?.close();
});

async function startRaw(input: unknown, reference = newReference()) {
  const base = { reference, amount: 1095, currency: 'USD', paymentMethod: { type: 'tokenized', token: randomUUID() } };
  const merged = typeof input === 'object' && input !== null && !Array.isArray(input) ? { ...base, ...input } : input;
  return await stack.temporal.workflow.start('charge', {
    workflowId: paymentWorkflowId(reference),
    taskQueue: PAYMENTS_TASK_QUEUE,
    args: [merged],
  });
}

const WRONG: [string, unknown][] = [
  ['no object', 'charge please'],
  ['null', null],
  ['an array', [1, 2]],
  ['reference', { reference: 'with space' }],
  ['amount', { amount: 1.5 }],
  ['amount as text', { amount: '1095' }],
  ['currency', { currency: 'usd' }],
  ['payment method', { paymentMethod: { type: 'untokenized', cardNumber: 'x' } }],
  ['token', { paymentMethod: { type: 'tokenized', token: 7 } }],
  ['plain CVV', { paymentMethod: { type: 'tokenized', token: randomUUID(), encryptedCvv: '123' } }],
  ['business unit', { businessUnit: 'no spaces allowed' }],
  ['statement descriptor', { statementSoftDescriptor: '' }],
  ['customer id', { customerId: 'me' }],
  ['order', { order: { lineItems: [{ quantity: 0, unitPrice: -1, colour: 'red' }] } }],
  ['address', { clientIpAddress: '999.1.1.1' }],
  ['card on file', { cardOnFile: { entryMode: 'always' } }],
  ['unknown field', { colour: 'red' }],
];

describe('inside a worker', () => {
  test.each(WRONG)('wrong input (%s) ends in InvalidInput, not in a stuck task', async (_name, input) => {
    const handle = await startRaw(input);
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
  });

  test('right input with every field set is taken', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.succeeds, {
      businessUnit: 'default',
      statementSoftDescriptor: 'SHOP',
      order: { id: 'o-1', lineItems: [{ id: '1', name: 'Tea', quantity: 1, unitPrice: 1095 }] },
      clientIpAddress: '2001:db8::7',
      cardOnFile: { entryMode: 'consent_transaction', consentTransactionId: 'c-1' },
    });
    const handle = await startRaw(input, input.reference);
    expect(await handle.result()).toMatchObject({ status: 'succeeded' });
  });

  test('malformed events and commands are counted or refused, and the flow goes on', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    const pending = await stack.holdfast.charge(input);
    const handle = stack.temporal.workflow.getHandle(paymentWorkflowId(input.reference));
    for (const payload of [undefined, null, 'x', 7, {}, { hash: 'h', amount: -1 }, { ...validEvent(), extra: true }]) {
      await handle.signal(SIGNAL_NAMES.transactionEvent, payload);
    }
    await handle.signal('nobodyKnowsThis', 1);
    for (const argument of [undefined, null, 'x', {}, { status: 'won', who: 'a', why: 'b' }]) {
      await expect(handle.executeUpdate('settleManually', { args: [argument] })).rejects.toThrow();
      await expect(handle.executeUpdate('outcome', { args: [argument] })).rejects.toThrow();
    }
    await expect(handle.executeUpdate('retryNow', { args: [{ who: 7 }] })).rejects.toThrow();
    const status = await until(
      () => stack.holdfast.status(input.reference),
      ({ ignored }) => ignored['malformedEvent'] === 7,
    );
    expect(status).toMatchObject({ status: 'pending', ignored: { malformedEvent: 7, unknownSignal: 1 } });
    await stack.sandbox.complete(pending.transactionId ?? '', { status: 'Succeed' });
    await stack.holdfast.retryNow(input.reference, { who: 'ann', why: 'test' });
    expect(await handle.result()).toMatchObject({ status: 'succeeded' });
  });
});

function validEvent() {
  return {
    hash: 'h',
    eventType: 'payment.charge.update',
    created: '2026-01-01T00:00:00.000Z',
    businessUnit: 'default',
    paymentId: randomUUID(),
    trusted: true,
  };
}
