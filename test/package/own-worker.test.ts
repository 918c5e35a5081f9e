import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { ReadyProcess } from '../../tools/stack/ready-process.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { fullOr } from '../support/counts.js';
import { storedCard } from '../support/cards.js';
import { resetToFirstTask } from '../support/resets.js';
import { startStack, type TestStack } from '../support/stack.js';
import { until } from '../support/until.js';
import { startShop } from './shop.js';

let stack: TestStack;
let shop: ReadyProcess;
beforeAll(async () => {
  if (fullOr(1, 0) === 0) return;
  stack = await startStack({ real: true, pendingMs: 600_000 });
  // What follows is done by the merchant's process alone.
  await stack.stopWorker();
  shop = await startShop(stack);
}, 120_000);
afterAll(async () => {
  await shop?.kill();
  await stack?.close();
});

interface Ordered {
  id: string;
  token: string;
}

async function newOrder(): Promise<Ordered> {
  const { token } = await stack.sandbox.tokenize(CARDS.succeeds);
  return { id: `order-${randomUUID()}`, token };
}

async function run(workflowId: string, { id, token }: Ordered, total: number): Promise<string> {
  return await stack.temporal.workflow.execute('order', { workflowId, taskQueue: 'shop', args: [id, total, token] });
}

/** Starts a workflow that tells what it was told. */
async function pay(input: { reference: string }, flow = 'charge', workflowId = `pays-${randomUUID()}`) {
  return await stack.temporal.workflow.start('pay', { workflowId, taskQueue: 'shop', args: [flow, input] });
}

/** A payment that stays pending. */
async function pendingCharge() {
  // On file, because a fresh token would end with its 24 hours.
  const { token, customerId } = await storedCard(stack);
  const input = {
    ...(await chargeInput(stack.sandbox)),
    customerId,
    paymentMethod: { type: 'tokenized', token },
  } as const;
  const { reference } = input;
  const fault = { action: 'result', status: 'Pending', method: 'POST', path: '*/charges', times: 1 } as const;
  await stack.sandbox.addFault({ ...fault, reconciliation_id: reference });
  const { status } = await stack.holdfast.charge(input, { waitFor: '10 seconds' });
  if (status !== 'pending') throw new Error(`the charge is ${status}`);
  return { input, reference, workflowId: `payment-${reference}` };
}

describe('a workflow of a merchant, on a worker made by holdfast/worker', () => {
  atFullCounts(
    'pays by a child, and another one for the same reference joins it',
    async () => {
      const order = await newOrder();
      expect(await run('first', order, 1_000)).toBe(`shipped ${order.id}`);
      expect(await run('second', order, 1_000)).toBe(`shipped ${order.id}`);
      // Reset, it starts the child again, which is there already.
      await resetToFirstTask(stack.temporal, 'first');
      const handle = stack.temporal.workflow.getHandle('first');
      expect(await handle.result()).toBe(`shipped ${order.id}`);
      expect(await stack.sandbox.ledger(order.id)).toMatchObject([{ kind: 'charge', amount: 1_000 }]);
    },
    60_000,
  );

  atFullCounts(
    'that asks for another amount under the same reference is told so, and nothing is charged',
    async () => {
      const order = await newOrder();
      await run('one', order, 1_000);
      await expect(run('other', order, 2_000)).rejects.toMatchObject({
        cause: { cause: { type: 'ReferenceConflict' } },
      });
      await expect(run('wrong', order, 0.5)).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
      expect(await stack.sandbox.ledger(order.id)).toHaveLength(1);
    },
    60_000,
  );

  atFullCounts(
    'that has joined a payment does not pay again when the flow is gone at its next look',
    async () => {
      const { input, reference, workflowId } = await pendingCharge();
      const parent = await pay(input);
      const looks = async () =>
        (await parent.fetchHistory()).events?.filter((event) => event.activityTaskCompletedEventAttributes).length ?? 0;
      await until(looks, (count) => count > 0);
      await shop.kill();
      // What retention does long after the end. The server takes its time.
      const flow = stack.temporal.workflow.getHandle(workflowId);
      await flow.terminate('the test');
      const { workflowService } = stack.temporal;
      await workflowService.deleteWorkflowExecution({ namespace: stack.namespace, workflowExecution: { workflowId } });
      const isThere = () =>
        flow.describe().then(
          () => true,
          () => false,
        );
      await until(isThere, (there) => !there, 90_000);
      // By then the service has forgotten the key, too.
      await stack.sandbox.advanceClock(25 * 3_600_000);
      shop = await startShop(stack);
      expect(await parent.result()).toMatchObject({
        failed: { type: 'FlowNotFound', message: expect.stringContaining('look the payment up') as string },
      });
      expect(await stack.sandbox.ledger(reference)).toHaveLength(1);
    },
    180_000,
  );

  atFullCounts(
    'is told that the flow was stopped, whether it has started it or joined it',
    async () => {
      const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
      const [starts, joins] = [await pay(input), await pay(input)];
      const flow = stack.temporal.workflow.getHandle(`payment-${input.reference}`);
      await until(
        () => stack.sandbox.ledger(input.reference),
        (ledger) => ledger.length > 0,
      );
      await flow.terminate('the test');
      const stopped = { failed: { type: 'FlowStopped' } };
      expect([await starts.result(), await joins.result()]).toMatchObject([stopped, stopped]);
    },
    60_000,
  );

  atFullCounts(
    'that has taken the id of a payment is told so, and so is one that asks for that payment',
    async () => {
      const input = await chargeInput(stack.sandbox, CARDS.succeeds);
      const workflowId = `payment-${input.reference}`;
      expect(await (await pay(input, 'charge', workflowId)).result()).toMatchObject({
        failed: { type: 'InvalidInput', details: [[expect.stringContaining(workflowId)]] },
      });
      expect(await (await pay(input)).result()).toMatchObject({
        failed: { type: 'ReferenceConflict', message: expect.stringContaining('"pay"') as string },
      });
      expect(await stack.sandbox.ledger(input.reference)).toEqual([]);
    },
    60_000,
  );

  atFullCounts(
    'finishes what it has begun when it is stopped, and exits with 0',
    async () => {
      expect(await shop.stop(20_000)).toBe(0);
    },
    60_000,
  );
});
