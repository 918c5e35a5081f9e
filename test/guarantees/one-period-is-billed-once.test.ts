import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BILLING_TASK_QUEUE, paymentWorkflowId, SIGNAL_NAMES, WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { SubscriptionInput } from '../../src/contract/subscription.js';
import { resetToEachTask, resetToFirstTask } from '../support/resets.js';
import { startStack, type TestStack } from '../support/stack.js';
import { dailyInput, subscriptionOn } from '../support/stack-subscriptions.js';
import { fullOr, inTurn } from '../support/counts.js';
import { declinedFor, plantOn } from '../support/subscriptions.js';
import { until } from '../support/until.js';

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ billing: true, webhook: false });
});
afterAll(async () => {
  await stack?.close();
});

async function start(input: SubscriptionInput, by: 'client' | 'another program'): Promise<void> {
  if (by === 'client') await stack.holdfast.subscribe(input);
  else {
    const { workflowId } = subscriptionOn(stack, input);
    const options = { taskQueue: BILLING_TASK_QUEUE, workflowId, args: [input] };
    await stack.temporal.workflow.start(WORKFLOW_TYPES.subscription, options);
  }
}

test('callers and the calendar that want the same period bill it once between them, and are told of the one payment', async () => {
  const races = Array.from({ length: fullOr(24, 3) }, async () => {
    const input = await dailyInput(stack, 0);
    const { reference } = input;
    const { subscription } = stack.holdfast;
    const billNow = async (period: number, commandId: string) =>
      await subscription.billNow(reference, { period, commandId }).then(
        ({ result }) => result?.status,
        ({ type }: { type: string }) => type,
      );
    // Its first period is due already, its second one is not.
    await Promise.all([1, 2].map(() => stack.holdfast.subscribe(input, { waitFor: 0 })));
    const first = await Promise.all(['a', 'a', 'b'].map((commandId) => billNow(1, commandId)));
    const flow = subscriptionOn(stack, input);
    await flow.billed(1);
    const second = await Promise.all(['c', 'c', 'd'].map((commandId) => billNow(2, commandId)));
    await subscription.cancel(reference, { when: 'now' });
    expect(await flow.ended()).toMatchObject({ billedPeriods: 2 });
    expect(await flow.charges()).toEqual(['1.1 Succeed', '2.1 Succeed']);
    for (const [one, same, other] of [first, second]) {
      expect(same).toBe(one);
      expect([one, other].filter((result) => result === 'succeeded').length).toBeLessThanOrEqual(1);
    }
    expect(second).toContain('succeeded');
  });
  await Promise.all(races);
});

test('a subscription that is terminated leaves its payment to end by itself, and nobody starts it again', async () => {
  const input = await dailyInput(stack, 0);
  const { reference } = input;
  await plantOn(stack, reference, '1.1', { status: 'Pending' });
  await start(input, 'client');
  const flow = subscriptionOn(stack, input);
  await until(flow.charges, (made) => made.length === 1);
  await flow.handle.terminate('a test');
  await expect(stack.holdfast.subscribe(input)).rejects.toMatchObject({ type: 'FlowStopped' });
  const [charge] = await stack.sandbox.ledger(`${reference}.1.1`);
  await stack.sandbox.complete(charge?.transaction_id ?? '', { status: 'Succeed' });
  await stack.holdfast.retryNow(`${reference}.1.1`);
  const payment = stack.temporal.workflow.getHandle(paymentWorkflowId(`${reference}.1.1`));
  expect(await payment.result()).toMatchObject({ status: 'succeeded' });
  expect(await flow.charges()).toEqual(['1.1 Succeed']);
});

describe.each(['client', 'another program'] as const)(
  'of a subscription started by %s nothing is billed twice',
  (by) => {
    test('by a reset of its first run, whichever task it goes back to', async () => {
      const input = await dailyInput(stack, -21, { interval: { every: 1, unit: 'week' }, periods: 3 });
      const flow = subscriptionOn(stack, input);
      await plantOn(stack, input.reference, '2.1', declinedFor('insufficient_funds'));
      await start(input, by);
      // The declined one would wait until tomorrow. After a reset it may be read to its end before anybody asks.
      const { subscription } = stack.holdfast;
      const tryNow = () =>
        subscription.billNow(input.reference, { period: 2 }).then(
          ({ result }) => result?.status,
          ({ message }: Error) => (message.includes('has already ended') ? 'ended' : undefined),
        );
      const goesOn = () => until(tryNow, (result) => result === 'succeeded' || result === 'ended');
      await goesOn();
      expect(await flow.ended()).toMatchObject({ billedPeriods: 3 });
      const before = await flow.charges();
      expect(before).toHaveLength(4);

      const takes = inTurn(4);
      const look = async (): Promise<void> => {
        await goesOn();
        expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 3 });
        expect(await flow.charges()).toEqual(before);
      };
      const resets = await resetToEachTask(stack, flow.workflowId, look, (task) =>
        takes(task + (by === 'client' ? 0 : 2)),
      );
      expect(resets).toBeGreaterThan(0);
    });
  },
);

test('a reset refunds nothing again, and refuses a refund of which nobody knows the period', async () => {
  const input = await dailyInput(stack, 0);
  const { reference } = input;
  const flow = subscriptionOn(stack, input);
  const runOf = async () => (await flow.handle.describe()).runId;
  await start(input, 'client');
  const firstRun = await runOf();
  await flow.billed(1);
  const run = await until(runOf, (runId) => runId !== firstRun);
  const refund = async (commandId: string) => await stack.holdfast.subscription.refundPeriod(reference, { commandId });
  expect(await refund('a')).toMatchObject({ result: { status: 'succeeded', amount: 6_000 } });
  const before = await stack.sandbox.ledger(`${reference}.1.1`);
  const look = async (): Promise<void> => {
    await expect(refund('b')).rejects.toMatchObject({
      type: 'StateConflict',
      message: expect.stringContaining('name the period'),
    });
    expect(await stack.sandbox.ledger(`${reference}.1.1`)).toEqual(before);
  };
  expect(await resetToEachTask(stack, flow.workflowId, look, () => true, run)).toBeGreaterThan(1);
  // Nor does a later run know.
  const resetRun = await runOf();
  expect(await stack.holdfast.subscription.billNow(reference, { period: 2 })).toMatchObject({
    result: { status: 'succeeded' },
  });
  await until(runOf, (runId) => runId !== resetRun);
  await look();
  await stack.holdfast.subscription.cancel(reference, { when: 'now' });
});

test('a reset to an earlier run is given what the later ones were told, also what two of them were, and bills nothing again', async () => {
  const input = await dailyInput(stack, 0);
  const { reference } = input;
  const flow = subscriptionOn(stack, input);
  const runOf = async () => (await flow.handle.describe()).runId;
  await start(input, 'client');
  const first = await runOf();
  await flow.billed(1);
  const second = await until(runOf, (runId) => runId !== first);
  const pause = async () => await stack.holdfast.subscription.pause(reference, { commandId: 'holiday' });
  await pause();
  await flow.handle.signal(SIGNAL_NAMES.moveOn);
  await until(runOf, (runId) => runId !== second);
  await pause();
  for (const run of [second, first]) {
    await resetToFirstTask(stack.temporal, flow.workflowId, [], run);
    await flow.reaches(({ status }) => status === 'paused');
  }
  expect(await flow.charges()).toEqual(['1.1 Succeed']);
  await stack.holdfast.subscription.cancel(reference, { when: 'now' });
});

test('resets while a payment is under way bill nothing twice: each run is told how it ended', async () => {
  const input = await dailyInput(stack, -1, { periods: 1 });
  const flow = subscriptionOn(stack, input);
  await plantOn(stack, input.reference, '1.1', { status: 'Pending' });
  await start(input, 'client');
  const underWay = async (): Promise<void> => {
    await flow.reaches(({ status }) => status === 'billing');
    await until(flow.charges, (made) => made.length === 1);
  };
  await underWay();
  await resetToEachTask(stack, flow.workflowId, underWay);
  const [charge] = await stack.sandbox.ledger(`${input.reference}.1.1`);
  await stack.sandbox.complete(charge?.transaction_id ?? '', { status: 'Succeed' });
  await stack.holdfast.retryNow(`${input.reference}.1.1`);
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
  expect(await flow.charges()).toEqual(['1.1 Succeed']);
});

test('a worker that is killed in mid payment bills nothing twice, nor does one that can not read what it left', async () => {
  // The second costs another dozen seconds of time-outs.
  const strangers = fullOr(1, 0) === 1;
  const input = await dailyInput(stack, -1);
  const flow = subscriptionOn(stack, input);
  await plantOn(stack, input.reference, '2.1', { action: 'delay', delay_ms: 3_000, times: 1 });
  await start(input, 'client');
  await flow.reaches(({ status, subscription }) => status === 'billing' && subscription?.open?.period === 2);
  await stack.worker().kill();
  await stack.startWorker(
    strangers ? { HOLDFAST_ENCRYPTION_KEYS: `other:${randomBytes(32).toString('base64')}` } : undefined,
  );
  const { subscription } = stack.holdfast;
  const { reference } = input;
  const sent = Promise.allSettled([
    subscription.refundPeriod(reference, { period: 1 }),
    subscription.changePlan(reference, { amount: 100 }),
  ]);
  if (strangers) {
    const tries = async () => (await flow.handle.describe()).raw.pendingWorkflowTask?.attempt ?? 0;
    await until(tries, (count) => count > 1);
    await stack.replaceWorker();
  }
  expect(await sent).toMatchObject([
    { status: 'fulfilled', value: { result: { amount: 6_000 } } },
    { status: 'fulfilled', value: { amount: 100 } },
  ]);
  await flow.billed(2);
  await subscription.cancel(reference, { when: 'now' });
  expect(await flow.charges()).toEqual(['1.1 Succeed', '2.1 Succeed']);
}, 90_000);
