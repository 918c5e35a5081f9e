import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { startReadyProcess, type ReadyProcess } from '../../tools/stack/ready-process.js';
import { environmentOf } from '../../tools/stack/services.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { CARDS } from '../support/charges.js';
import { fullOr } from '../support/counts.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { resetToFirstTask } from '../support/resets.js';
import { startStack, type TestStack } from '../support/stack.js';
import { temporalAddress } from '../support/temporal.js';

let stack: TestStack;
let shop: ReadyProcess;
beforeAll(async () => {
  if (fullOr(1, 0) === 0) return;
  stack = await startStack({ real: true });
  // What follows is done by the merchant's process alone.
  await stack.stopWorker();
  shop = await startReadyProcess('test/package/shop-worker.mjs', {
    env: environmentOf({
      engine: { address: await temporalAddress(), namespace: stack.namespace },
      stateDir: '.holdfast',
      env: {
        HOLDFAST_API_BASE_URL: stack.sandboxUrl,
        HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
        HOLDFAST_STOP_SECONDS: '5',
      },
    }),
  });
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
    'finishes what it has begun when it is stopped, and exits with 0',
    async () => {
      expect(await shop.stop(20_000)).toBe(0);
    },
    60_000,
  );
});
