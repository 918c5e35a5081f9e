import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '@temporalio/client';
import {
  BILLING_TASK_QUEUE,
  paymentActionsWorkflowId,
  paymentWorkflowId,
  WORKFLOW_TYPES,
} from '../../src/contract/names.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { newReference } from '../support/charges.js';
import { sharedStack, type TestStack } from '../support/stack.js';
import { dailyInput, subscriptionOn } from '../support/stack-subscriptions.js';
import { fullOr } from '../support/counts.js';
import { plantOn } from '../support/subscriptions.js';
import { until } from '../support/until.js';

let stack: TestStack;
beforeAll(async () => {
  stack = await sharedStack({ pendingMs: 3_600_000, webhook: false });
});
afterAll(async () => {
  await stack?.close();
});

describe('a subscription over the client', () => {
  test('is started once, joined by the same input and by no other, and takes its commands', async () => {
    const input = await dailyInput(stack, 0);
    const { holdfast } = stack;
    expect(await holdfast.subscribe(input)).toMatchObject({ reference: input.reference, amount: 6_000 });
    await subscriptionOn(stack, input).billed(1);
    expect(await holdfast.subscribe(input)).toMatchObject({ status: 'active', billedPeriods: 1 });
    const conflict = { type: 'ReferenceConflict' };
    await expect(holdfast.subscribe({ ...input, amount: 100 })).rejects.toMatchObject(conflict);

    const { subscription } = holdfast;
    const { reference } = input;
    expect(await subscription.changePlan(reference, { amount: 7_000 })).toMatchObject({ amount: 7_000 });
    expect(await subscription.billNow(reference, { period: 2 })).toMatchObject({ result: { status: 'succeeded' } });
    const refunded = await subscription.refundPeriod(reference);
    expect(refunded).toMatchObject({ result: { status: 'succeeded', amount: 7_000 } });
    expect(await subscription.pause(reference)).toMatchObject({ status: 'paused' });
    expect(await subscription.resume(reference)).toMatchObject({ status: 'active' });
    await expect(subscription.resume(reference)).rejects.toMatchObject({ type: 'StateConflict' });
    await expect(subscription.pause(newReference())).rejects.toMatchObject({ type: 'FlowNotFound' });
    expect(await subscription.cancel(reference, { when: 'now' })).toMatchObject({ status: 'cancelled' });
    expect(await holdfast.subscribe(input)).toMatchObject({ status: 'cancelled', billedPeriods: 2 });
    await expect(holdfast.subscribe({ ...input, amount: 100 })).rejects.toMatchObject(conflict);
  });

  test('answers every command however many runs pass meanwhile', async () => {
    const periods = fullOr(30, 5);
    const input = await dailyInput(stack, 1 - periods);
    await stack.holdfast.subscribe(input);
    const flow = subscriptionOn(stack, input);
    const { changePlan } = stack.holdfast.subscription;
    const differences: (number | string)[] = [];
    for (let amount = 5_001; ; amount += 1) {
      const answer = await changePlan(input.reference, { amount }).catch((error: { type: string }) => error.type);
      differences.push(typeof answer === 'string' ? answer : (answer.amount ?? 0) - amount);
      if (typeof answer === 'string' || answer.billedPeriods === periods) break;
    }
    expect(new Set(differences)).toEqual(new Set([0]));
    await stack.holdfast.subscription.cancel(input.reference, { when: 'now' });
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: periods });
    expect(await flow.charges()).toHaveLength(periods);
  });
});

/** A refund is waited for so long that only full counts have the time. */

atFullCounts(
  'a refund that pends is asked about by the same command, which makes no second one',
  async () => {
    const input = await dailyInput(stack, 0);
    const { reference } = input;
    await stack.holdfast.subscribe(input);
    await subscriptionOn(stack, input).billed(1);
    const { paymentId } = await stack.holdfast.status(`${reference}.1.1`);
    const path = `/payments/${paymentId}/refunds`;
    await stack.sandbox.addFault({ method: 'POST', path, action: 'result', status: 'Pending', times: 1 });
    const refund = { period: 1, commandId: 'goods came back' };
    const ask = () => stack.holdfast.subscription.refundPeriod(reference, refund);
    const asked = ask();
    const refunds = async () =>
      (await stack.sandbox.ledger()).filter(({ kind, payment_id }) => kind === 'refund' && payment_id === paymentId);
    const [pending] = await until(refunds, (made) => made.some(({ status }) => status === 'Pending'));
    expect(await asked).toMatchObject({ result: { status: 'pending' } });
    await stack.sandbox.complete(pending?.transaction_id ?? '', { status: 'Succeed' });
    await stack.holdfast.retryNow({ workflowId: paymentActionsWorkflowId(pending?.payment_id ?? '') });
    await until(ask, ({ result }) => result?.status === 'succeeded');
    expect((await refunds()).map(({ amount }) => amount)).toEqual([6_000]);
    await stack.holdfast.subscription.cancel(reference, { when: 'now' });
  },
  90_000,
);

test('started with plain JSON it keeps its fingerprint and search attributes from run to run', async () => {
  const input = await dailyInput(stack, -1);
  const flow = subscriptionOn(stack, input);
  const plain = new Client({ connection: stack.temporal.connection, namespace: stack.namespace });
  const options = { taskQueue: BILLING_TASK_QUEUE, workflowId: flow.workflowId, args: [input] };
  await plain.workflow.start(WORKFLOW_TYPES.subscription, options);
  await flow.billed(2);
  expect(await stack.holdfast.subscribe(input)).toMatchObject({ status: 'active', billedPeriods: 2 });
  await flow.handle.cancel();
  expect(await flow.ended()).toMatchObject({ status: 'cancelled' });
  // Of the ended one the client knows only what its last run has kept.
  expect(await stack.holdfast.subscribe(input)).toMatchObject({ status: 'cancelled' });
  const { searchAttributes } = await flow.handle.describe();
  expect(searchAttributes).toMatchObject({
    PaymentStatus: ['cancelled'],
    BusinessUnit: ['default'],
    AmountMinor: [6_000],
  });
  await plain.workflow.start(WORKFLOW_TYPES.subscription, options);
  await expect(flow.ended()).rejects.toMatchObject({ cause: { type: 'ReferenceConflict' } });
});

test('a payment that was terminated blocks its period until an operator says what it did', async () => {
  const input = await dailyInput(stack, -1, { periods: 1 });
  await plantOn(stack, input.reference, '1.1', { status: 'Pending' });
  await stack.holdfast.subscribe(input);
  const flow = subscriptionOn(stack, input);
  await until(flow.charges, (found) => found.length === 1);
  await stack.temporal.workflow.getHandle(paymentWorkflowId(`${input.reference}.1.1`)).terminate('a test');
  await flow.reaches(({ needsOperator }) => needsOperator);
  const { workflowId } = flow;
  expect(await stack.holdfast.explain({ workflowId })).toMatch(/nobody knows whether payment .*\.1\.1 has moved money/);
  await expect(stack.holdfast.subscription.billNow(input.reference, { period: 1 })).rejects.toMatchObject({
    message: expect.stringContaining('nobody knows yet'),
  });
  const seen = { status: 'succeeded' as const, who: 'Ann', why: 'seen in the console' };
  await stack.holdfast.settleManually({ workflowId }, seen);
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
  expect(await flow.charges()).toEqual(['1.1 Pending']);
});
