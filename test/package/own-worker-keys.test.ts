import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { Client } from '@temporalio/client';
import type { ReadyProcess } from '../../tools/stack/ready-process.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { connectClosably } from '../support/closable-connection.js';
import { fullOr } from '../support/counts.js';
import { TEST_ENCRYPTION_KEYS, testDataConverter } from '../support/data-converter.js';
import { startStack, type TestStack } from '../support/stack.js';
import { temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';
import { startShop } from './shop.js';

/** Known to the payments' worker and to whoever starts the shop's workflows, and not yet to the shop. */
const KEYS = `new:${randomBytes(32).toString('base64')},${TEST_ENCRYPTION_KEYS}`;

let stack: TestStack;
let shop: ReadyProcess;
let client: Client;
beforeAll(async () => {
  if (fullOr(1, 0) === 0) return;
  stack = await startStack({ real: true, workerEnv: { HOLDFAST_ENCRYPTION_KEYS: KEYS } });
  shop = await startShop(stack, { HOLDFAST_TASK_QUEUES: 'billing' });
  const connection = await connectClosably(await temporalAddress());
  client = new Client({ connection, namespace: stack.namespace, dataConverter: testDataConverter(KEYS) });
}, 120_000);
afterAll(async () => {
  await shop?.kill();
  await client?.connection.close();
  await stack?.close();
});

/** Started by a client that encrypts with the key that this is. */
async function startWith(by: Client, workflow: string, ...args: unknown[]) {
  return await by.workflow.start(workflow, { workflowId: `${workflow}-${randomUUID()}`, taskQueue: 'shop', args });
}

/** Until its workflow task has failed for want of the key, and is tried again. */
async function lacksKey(workflowId: string): Promise<void> {
  const handle = client.workflow.getHandle(workflowId);
  const failures = async () =>
    (await handle.fetchHistory()).events?.filter((event) => event.workflowTaskFailedEventAttributes).length ?? 0;
  await until(failures, (count) => count > 0);
  expect((await handle.describe()).status.name).toBe('RUNNING');
}

describe("a merchant's worker that lacks a key", () => {
  atFullCounts(
    'fails no payment and hands on no marker: what it can not decode waits until a worker can',
    async () => {
      const [paid, joined] = [await chargeInput(stack.sandbox), await chargeInput(stack.sandbox)];
      await stack.holdfast.charge(joined).catch(() => undefined);
      const [pays, joins] = [
        await startWith(stack.temporal, 'pay', 'charge', paid),
        await startWith(stack.temporal, 'pay', 'charge', joined),
      ];
      const declined = await startWith(
        stack.temporal,
        'pay',
        'charge',
        await chargeInput(stack.sandbox, CARDS.succeeds, { businessUnit: 'unknown' }),
      );
      const [started, listens] = [
        await startWith(client, 'listen', 'enough'),
        await startWith(stack.temporal, 'listen', 'first'),
      ];
      await client.workflow.getHandle(listens.workflowId).signal('hear', 'a secret');
      for (const { workflowId } of [pays, declined, started, listens]) await lacksKey(workflowId);
      expect((await joins.describe()).status.name).toBe('RUNNING');

      await shop.stop(20_000);
      shop = await startShop(stack, {
        HOLDFAST_TASK_QUEUES: 'billing',
        HOLDFAST_ENCRYPTION_KEYS: KEYS,
        SHOP_BUNDLES_AHEAD: '1',
      });
      const resultOf = ({ workflowId }: { workflowId: string }): Promise<unknown> =>
        client.workflow.getHandle(workflowId).result();
      expect(await resultOf(pays)).toMatchObject({ status: 'succeeded' });
      expect(await resultOf(joins)).toMatchObject({ status: 'succeeded' });
      expect(await resultOf(declined)).toMatchObject({ failed: { message: expect.stringContaining('unknown') } });
      expect(await resultOf(started)).toEqual(['enough']);
      await client.workflow.getHandle(listens.workflowId).signal('hear', 'enough');
      expect(await resultOf(listens)).toEqual(['first', 'a secret', 'enough']);
      expect(await stack.sandbox.ledger(paid.reference)).toHaveLength(1);
    },
    120_000,
  );

  atFullCounts(
    'is not wedged by what nobody can decode, and refuses a question that it can not read',
    async () => {
      const other = new Client({
        connection: client.connection,
        namespace: stack.namespace,
        dataConverter: testDataConverter(`none:${randomBytes(32).toString('base64')}`),
      });
      const listens = await startWith(stack.temporal, 'listen', 'first');
      const { workflowId } = listens;
      await client.workflowService.signalWorkflowExecution({
        namespace: stack.namespace,
        workflowExecution: { workflowId },
        signalName: 'hear',
        input: { payloads: [{ metadata: { encoding: Buffer.from('garbage') }, data: Buffer.from('?') }] },
      });
      await expect(other.workflow.getHandle(workflowId).executeUpdate('repeat', { args: ['x'] })).rejects.toThrow();
      await listens.signal('hear', 'enough');
      expect(await client.workflow.getHandle(workflowId).result()).toEqual([
        'first',
        { holdfastUndecodable: 'unknown encoding' },
        'enough',
      ]);
    },
    60_000,
  );
});
