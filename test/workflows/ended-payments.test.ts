import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { PAYMENTS_TASK_QUEUE } from '../../src/contract/names.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { forEach } from '../support/for-each.js';
import { resetToEachTask } from '../support/resets.js';
import { sharedStack } from '../support/stack.js';
import { type StackWithExpectations, withExpectations } from '../support/expected-ledger.js';
import { until } from '../support/until.js';

const OPERATOR = { who: 'Grace Hopper', why: 'seen in the back office of the provider' };

let stack: StackWithExpectations;
beforeAll(async () => {
  stack = withExpectations(await sharedStack({ pendingMs: 3_600_000, webhook: false }));
});
afterEach(async () => {
  await stack.expected.check();
});
afterAll(async () => {
  await stack?.close();
});

async function charged() {
  const input = await chargeInput(stack.sandbox, CARDS.succeeds, { amount: 20_000 });
  const { paymentId = '' } = await stack.holdfast.charge(input);
  return { reference: input.reference, paymentId, flow: actionsOf(paymentId) };
}

function actionsOf(paymentId: string) {
  return stack.temporal.workflow.getHandle(`payment-actions-${paymentId}`);
}

async function refundsOf(paymentId: string) {
  return (await stack.sandbox.ledger()).filter(({ kind, payment_id }) => kind === 'refund' && payment_id === paymentId);
}

describe('the commands to an ended payment', () => {
  test('answer the operator who settles a refund, and take the next one', async () => {
    const { reference, paymentId } = await charged();
    const path = `*${paymentId}/refunds`;
    await stack.sandbox.addFault({ action: 'result', status: 'Pending', method: 'POST', path, times: 1 });
    const first = { payment: reference, amount: 6_000, commandId: 'a' };
    const flow = { workflowId: `payment-actions-${paymentId}` };
    await stack.holdfast.refund(first, { waitFor: '1 second' });
    await until(
      () => stack.holdfast.status(flow),
      ({ status }) => status === 'pending',
    );
    const decision = { status: 'declined', ...OPERATOR } as const;
    stack.expected.except(reference, /status was told as Failed, the ledger says Pending|is still pending/);
    expect(await stack.holdfast.settleManually(flow, decision)).toMatchObject({ status: 'declined' });
    expect(await stack.holdfast.refund(first)).toMatchObject({ status: 'declined' });
    // It is sent: the sandbox itself takes none while another is pending there.
    await expect(stack.holdfast.refund({ ...first, commandId: 'b' })).rejects.toMatchObject({
      message: expect.stringContaining('the service answered 409'),
    });
  });

  test('answer a repeated refund with what it did, also where the run that did it was terminated', async () => {
    const { reference, paymentId, flow } = await charged();
    const refund = { payment: reference, commandId: 'all' };
    const first = await stack.holdfast.refund(refund);
    expect(first).toMatchObject({ status: 'succeeded', amount: 20_000 });
    await flow.terminate('test');
    // The engine itself answers the very same question from the closed run; this one opens the next.
    const { status, transactionId, amount } = await stack.holdfast.refund({ ...refund, who: 'Ada', why: 'again' });
    expect({ status, transactionId, amount }).toEqual({
      status: 'succeeded',
      transactionId: first.transactionId,
      amount: 20_000,
    });
    expect(await refundsOf(paymentId)).toHaveLength(1);
    await flow.terminate('test');
    await expect(stack.holdfast.refund({ ...refund, amount: 6_000 })).rejects.toMatchObject({
      type: 'ReferenceConflict',
    });
  });

  test('may be repeated more often than a flow takes updates at a time, and the operator still gets through', async () => {
    const { reference, paymentId } = await charged();
    const silent = await stack.sandbox.addFault({ action: 'refuse', path: `/payments/${paymentId}*` });
    const refund = { payment: reference, commandId: 'asked for again and again' };
    for (let times = 0; times < 12; times += 1) {
      expect(await stack.holdfast.refund(refund, { waitFor: '100 ms' })).toMatchObject({ status: 'unknown' });
    }
    await stack.sandbox.removeFault(silent.id);
    expect(await stack.holdfast.retryNow({ workflowId: `payment-actions-${paymentId}` })).toMatch(/^Woken: /);
    expect(await stack.holdfast.refund(refund)).toMatchObject({ status: 'succeeded' });
    expect(await refundsOf(paymentId)).toHaveLength(1);
  });

  test('are carried out by the next run where the run that waited to send them was terminated', async () => {
    const { reference, paymentId, flow } = await charged();
    const silent = await stack.sandbox.addFault({ action: 'refuse', path: `/payments/${paymentId}*` });
    const refund = { payment: reference, commandId: 'not sent yet' };
    expect(await stack.holdfast.refund(refund, { waitFor: '100 ms' })).toMatchObject({ status: 'unknown' });
    await flow.terminate('test');
    await stack.sandbox.removeFault(silent.id);
    expect(await stack.holdfast.refund(refund)).toMatchObject({ status: 'succeeded', amount: 20_000 });
    expect(await refundsOf(paymentId)).toHaveLength(1);
  });

  test('are refused, and block no later ones, where the service does not know the payment', async () => {
    const payment = { payment: randomUUID(), currency: 'USD' };
    await expect(stack.holdfast.refund({ payment })).rejects.toMatchObject({ type: 'NotFound' });
    expect(await actionsOf(payment.payment).result()).toMatchObject({ status: 'idle', actions: [] });
  });

  test('are refused in another currency than the payment has, and then taken in its own', async () => {
    const { paymentId } = await charged();
    const flow = actionsOf(paymentId);
    await startActions(paymentId, 'JPY');
    const request = { commandId: 'a', amount: 6_000 };
    await expect(flow.executeUpdate('refund', { args: [request] })).rejects.toMatchObject({
      cause: { type: 'InvalidInput', message: expect.stringContaining('USD, not JPY') },
    });
    expect(await flow.result()).toMatchObject({ status: 'idle' });
    const payment = { payment: paymentId, currency: 'USD' };
    expect(await stack.holdfast.refund({ payment, ...request })).toMatchObject({ status: 'succeeded' });
  });

  test('are refused by payment id in another currency, or of another business unit, than its flow has', async () => {
    const { paymentId } = await charged();
    const refund = { payment: { payment: paymentId, currency: 'JPY', businessUnit: 'eu' }, amount: 6_000 };
    const faults = [
      `currency: payment ${paymentId} is in USD, not in JPY`,
      `businessUnit: payment ${paymentId} is of "default", not of "eu"`,
    ];
    await expect(stack.holdfast.refund(refund)).rejects.toMatchObject({ type: 'InvalidInput', faults });
    await expect(actionsOf(paymentId).describe()).rejects.toThrow();
    const payment = { payment: paymentId, currency: 'USD', businessUnit: 'default' };
    expect(await stack.holdfast.refund({ ...refund, payment })).toMatchObject({ status: 'succeeded' });
  });

  test('are refused in another currency than the open flow of a payment that nobody has made here', async () => {
    const payment = { payment: randomUUID(), currency: 'USD' };
    const silent = await stack.sandbox.addFault({ action: 'refuse', path: `/payments/${payment.payment}*` });
    await stack.holdfast.refund({ payment }, { waitFor: '100 ms' });
    const other = { payment: { ...payment, currency: 'JPY' }, commandId: 'b' };
    await expect(stack.holdfast.refund(other, { waitFor: '100 ms' })).rejects.toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining('is in USD, not in JPY. A command before says so'),
    });
    await stack.sandbox.removeFault(silent.id);
    await actionsOf(payment.payment).terminate('test');
  });

  test('of which one was refused and not sent may be given again, once what was in its way is gone', async () => {
    const { reference, paymentId } = await charged();
    const hidden = await stack.sandbox.addFault({
      action: 'status',
      status: 404,
      method: 'GET',
      path: `/payments/${paymentId}*`,
    });
    const refund = { payment: reference, commandId: 'once more' };
    await expect(stack.holdfast.refund(refund)).rejects.toMatchObject({ type: 'NotFound' });
    expect(await actionsOf(paymentId).result()).toMatchObject({ status: 'idle' });
    await stack.sandbox.removeFault(hidden.id);
    expect(await stack.holdfast.refund(refund)).toMatchObject({ status: 'succeeded' });
    expect(await refundsOf(paymentId)).toHaveLength(1);
  });

  test('include no decision of a review, also in a run made by a reset, and answer who sends one', async () => {
    const { paymentId, flow } = await charged();
    await startActions(paymentId, 'USD');
    await until(
      () => flow.fetchHistory(),
      ({ events }) => (events ?? []).some((event) => event.workflowTaskCompletedEventAttributes),
    );
    await resetToEachTask(stack, flow.workflowId, async () => {
      const decision = { decision: 'approve', ...OPERATOR };
      const refusal = flow.executeUpdate('decideReview', { args: [decision] }).then(
        () => 'was taken',
        ({ cause }: WorkflowUpdateFailedError) => cause?.message,
      );
      const late = new Promise((resolve) => setTimeout(resolve, 30_000, 'never answered').unref());
      // Far longer than an answer takes, and shorter than this test may: a promise that stays open has no words of its own.
      expect(await Promise.race([refusal, late])).toBe('Refused: no review is open');
    });
  });

  // 99 commands take their time.
  atFullCounts(
    'of which a run has taken all that it may are taken by the next run, which knows what was done',
    async () => {
      const { reference, paymentId, flow } = await charged();
      const refund = { payment: reference, amount: 6_000, commandId: 'a' };
      const first = await stack.holdfast.refund(refund);
      // Fewer at a time than the engine lets wait: it would refuse some itself, and the run would not be full.
      await forEach(Array.from({ length: 99 }).keys(), 5, async (n) => {
        const tooMuch = flow.executeUpdate('refund', { args: [{ commandId: `n${n}`, amount: 20_000 }] });
        await expect(tooMuch).rejects.toBeInstanceOf(WorkflowUpdateFailedError);
      });
      await until(
        () => flow.describe(),
        ({ status }) => status.name === 'COMPLETED',
      );
      expect(await stack.holdfast.refund(refund)).toEqual(first);
      expect(await refundsOf(paymentId)).toHaveLength(1);
    },
    300_000,
  );
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});

/** As another program opens it. */
async function startActions(paymentId: string, currency: string): Promise<void> {
  await stack.temporal.workflow.start('paymentActions', {
    workflowId: `payment-actions-${paymentId}`,
    taskQueue: PAYMENTS_TASK_QUEUE,
    args: [{ paymentId, currency }],
  });
}
