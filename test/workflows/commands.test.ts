import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { HoldfastError } from '../../src/client/index.js';
import { paymentWorkflowId, resolveWorkflowId } from '../../src/contract/names.js';
import { CARDS, chargeInput, newReference } from '../support/charges.js';
import { sharedStack } from '../support/stack.js';
import { type StackWithExpectations, withExpectations } from '../support/expected-ledger.js';
import { until } from '../support/until.js';

let stack: StackWithExpectations;
beforeAll(async () => {
  // Nothing settles by itself here: each test decides what happens to its transaction.
  stack = withExpectations(await sharedStack({ pendingMs: 3_600_000, webhook: false }));
});
afterEach(async () => {
  await stack.expected.check();
});
afterAll(async () => {
  await stack?.close();
});

async function pendingCharge() {
  const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
  const pending = await stack.holdfast.charge(input);
  if (pending.status !== 'pending' || pending.transactionId === undefined) throw new Error(`is ${pending.status}`);
  return { input, pending, transactionId: pending.transactionId };
}

const WHO = { who: 'ann@finance', why: 'seen on the settlement file' };

/** The first failure after which the same call may not be sent again. */
async function untilRefused(call: () => Promise<unknown>): Promise<unknown> {
  const mayAskAgain = (answer: unknown) =>
    !(answer instanceof Error) || (answer instanceof HoldfastError && answer.askAgain);
  return await until(
    () => call().catch((error: unknown) => error),
    (answer) => !mayAskAgain(answer),
  );
}

describe('an operator', () => {
  test('settles a pending charge, and who and why stand in the evidence', async () => {
    const { input } = await pendingCharge();
    // The service has not ended it, and is believed less than who has seen the file.
    stack.expected.except(input.reference, /status was told as Succeed, the ledger says Pending|is still pending/);
    const outcome = await stack.holdfast.settleManually(input.reference, { status: 'succeeded', ...WHO });
    expect(outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'operator', operator: WHO } });
    expect(await stack.holdfast.charge(input)).toEqual(outcome);
  });

  test('is overruled by a final answer of the service', async () => {
    const { input, transactionId } = await pendingCharge();
    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
    await expect(stack.holdfast.settleManually(input.reference, { status: 'declined', ...WHO })).rejects.toMatchObject({
      type: 'StateConflict',
      message: expect.stringContaining('says Succeed'),
    });
    expect(await stack.holdfast.charge(input)).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
  });

  test('can not say "not executed" of a transaction that exists', async () => {
    const { input } = await pendingCharge();
    await expect(
      stack.holdfast.settleManually(input.reference, { status: 'notExecuted', ...WHO }),
    ).rejects.toMatchObject({ type: 'StateConflict' });
    expect(await stack.holdfast.status(input.reference)).toMatchObject({ status: 'pending' });
  });

  test('must say who and why', async () => {
    const { input } = await pendingCharge();
    await expect(
      stack.holdfast.settleManually(input.reference, { status: 'succeeded', who: ' ', why: '' }),
    ).rejects.toMatchObject({
      type: 'InvalidInput',
      faults: [expect.stringContaining('who'), expect.stringContaining('why')],
    });
  });

  test('gets the same answer to the same command id, and a refusal after the end', async () => {
    const { input } = await pendingCharge();
    const command = { commandId: 'c-1', status: 'declined', category: 'payment_method_declined', ...WHO } as const;
    const first = await stack.holdfast.settleManually(input.reference, command);
    expect(await stack.holdfast.settleManually(input.reference, command)).toEqual(first);
    await expect(
      stack.holdfast.settleManually(input.reference, { ...command, commandId: 'c-2' }),
    ).rejects.toMatchObject({ type: 'StateConflict' });
  });

  test('that meets a flow just ending is told that it has ended, and never that there is none', async () => {
    const pending = await Promise.all(Array.from({ length: 8 }, () => pendingCharge()));
    // Asked without a pause, so that some come while the flow ends.
    const refusals = pending.map(async ({ input, transactionId }) => {
      const asking = untilRefused(() => stack.holdfast.retryNow(input.reference));
      await stack.sandbox.complete(transactionId, { status: 'Succeed' });
      return await asking;
    });
    for (const refusal of await Promise.all(refusals)) expect(refusal).toMatchObject({ type: 'StateConflict' });
  });

  test('wakes a poll with retryNow', async () => {
    const { input, transactionId } = await pendingCharge();
    await stack.sandbox.complete(transactionId, { status: 'Failed', category: 'payment_method_declined' });
    await stack.holdfast.retryNow(input.reference);
    const { outcome } = await until(
      () => stack.holdfast.status(input.reference),
      (status) => status.outcome !== undefined,
    );
    expect(outcome).toMatchObject({ status: 'declined', evidence: { knownBy: 'poll' } });
  });

  test('reads in a sentence what a flow waits for and what is safe', async () => {
    const { input } = await pendingCharge();
    const sentence = await stack.holdfast.explain(input.reference);
    expect(sentence).toMatch(/^Charge of 10\.95 USD, order-\S+: transaction \S+ is pending/);
    expect(sentence).toMatch(/Never repeat it under a new reference\.$/);
  });
});

describe('resolvePending', () => {
  test('follows a charge of others to its final status without sending anything', async () => {
    const { input, pending, transactionId } = await pendingCharge();
    const { workflowId } = await stack.holdfast.resolvePending({
      paymentId: pending.paymentId ?? '',
      transactionId,
      kind: 'charge',
      amount: 1095,
      currency: 'USD',
    });
    expect(workflowId).toBe(resolveWorkflowId(transactionId));
    await until(
      () => stack.holdfast.status({ transactionId }),
      ({ status }) => status === 'pending',
    );
    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
    await stack.holdfast.retryNow({ transactionId });
    expect(await stack.temporal.workflow.getHandle(workflowId).result()).toMatchObject({
      status: 'succeeded',
      transactionId,
      evidence: { knownBy: 'poll', attempts: 0 },
    });
    expect(await stack.sandbox.ledger(input.reference)).toHaveLength(1);
  });

  test('keeps asking when the amount is not what was expected, and calls an operator', async () => {
    const { pending, transactionId } = await pendingCharge();
    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
    await stack.holdfast.resolvePending({
      paymentId: pending.paymentId ?? '',
      transactionId,
      kind: 'charge',
      amount: 999,
      currency: 'USD',
    });
    const status = await until(
      () => stack.holdfast.status({ transactionId }),
      ({ needsOperator }) => needsOperator,
    );
    expect(status).toMatchObject({ status: 'unknown', waitingFor: 'operator' });
    expect(status.operatorReason).toContain('AmountMismatch');
    const outcome = await stack.holdfast.settleManually(
      { transactionId },
      { status: 'succeeded', amount: 1095, ...WHO },
    );
    expect(outcome).toMatchObject({ evidence: { knownBy: 'operator' } });
  });
});

describe('bad input', () => {
  test('is refused before any workflow starts, every fault named', async () => {
    const reference = newReference();
    const bad = { reference, amount: 10.95, currency: 'US', paymentMethod: { type: 'tokenized' }, cvv: '123' };
    await expect(stack.holdfast.charge(bad as never)).rejects.toMatchObject({
      type: 'InvalidInput',
      faults: expect.arrayContaining([
        expect.stringContaining('amount: 10.95'),
        expect.stringContaining('currency'),
        expect.stringContaining('paymentMethod.token'),
        expect.stringContaining('cvv: unknown field'),
      ]),
    });
    await expect(stack.temporal.workflow.getHandle(paymentWorkflowId(reference)).describe()).rejects.toThrow(
      /not found/,
    );
  });

  test('of a raw start fails the workflow with InvalidInput and moves nothing', async () => {
    const reference = newReference();
    const handle = await stack.temporal.workflow.start('charge', {
      workflowId: paymentWorkflowId(reference),
      taskQueue: 'holdfast',
      args: [{ reference, amount: 0, currency: 'EUR', paymentMethod: { type: 'tokenized', token: 'x' } }],
    });
    await expect(handle.result()).rejects.toMatchObject({
      cause: { type: 'InvalidInput', message: expect.stringContaining('paymentMethod.token: is not a UUID') },
    });
    expect(await stack.sandbox.ledger(reference)).toEqual([]);
  });
});
