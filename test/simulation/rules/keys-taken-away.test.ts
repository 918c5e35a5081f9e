import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { keepBrakes } from '../../../src/client/brakes.js';
import { HoldfastClient } from '../../../src/client/holdfast-client.js';
import { BRAKES_WORKFLOW } from '../../../src/contract/brakes.js';
import { SIGNAL_NAMES } from '../../../src/contract/names.js';
import { TEST_ENCRYPTION_KEYS as OLD, testDataConverter } from '../../support/data-converter.js';
import { ADA } from './braking.js';
import { MINUTE, sharedTime } from './context.js';
import { beginWeekly } from './weekly.js';

const time = sharedTime({ billing: true });

const NEW = `new:${randomBytes(32).toString('base64')}`;
const NEW_FIRST = `${NEW},${OLD}`;
const OLD_ID = OLD.slice(0, OLD.indexOf(':'));

/** From now on every worker has these keys. */
function workersWith(keys: string): void {
  for (const worker of time.simulation.workers) worker.kill();
  time.simulation.startWorker({ keys });
}

const clientWith = (keys: string): Client => {
  const { connection, options } = time.client;
  return new Client({ connection, namespace: options.namespace, dataConverter: testDataConverter(keys) });
};

const runsOf = (workflowId: string) =>
  [...time.simulation.engine.all()].filter(({ start }) => start.workflowId === workflowId);

/** Ids of the keys that its latest run needs: to be replayed, and to be read. */
function keysOf(workflowId: string): string[] {
  const run = runsOf(workflowId).at(-1);
  const ids = new Set<string>();
  const collect = (value: unknown): void => {
    if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return;
    for (const [name, inner] of Object.entries(value))
      if (name === 'encryption-key-id') ids.add(Buffer.from(inner as Uint8Array).toString());
      else collect(inner);
  };
  collect([run?.events, run?.memo]);
  return [...ids].toSorted();
}

test('a subscription needs the old key no more once it has moved', async () => {
  const { flow, tried, reach } = await beginWeekly(time, { periods: 2 });
  workersWith(NEW_FIRST);
  expect(keysOf(flow.workflowId)).toEqual([OLD_ID]);
  await time.client.workflow.getHandle(flow.workflowId).signal(SIGNAL_NAMES.moveOn);
  await time.passUntil((await time.now()) + MINUTE);
  expect(keysOf(flow.workflowId)).toEqual(['new']);
  workersWith(NEW);
  await reach(8);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 7 Succeed 6000 EUR']);
  workersWith(OLD);
});

test('the brakes need the old key until somebody ends their flow, whatever is braked and released meanwhile', async () => {
  const under = (keys: string) => new HoldfastClient(clientWith(keys)).brakes;
  await under(OLD).brake({ businessUnit: 'another', ...ADA });
  workersWith(NEW_FIRST);
  await under(NEW_FIRST).brake({ businessUnit: 'default', ...ADA });
  await under(NEW_FIRST).release({ businessUnit: 'default', ...ADA });
  expect(keysOf(BRAKES_WORKFLOW)).toEqual(['new', OLD_ID]);
  await clientWith(NEW_FIRST).workflow.getHandle(BRAKES_WORKFLOW).terminate();
  // As each worker looks every 2 s.
  await keepBrakes(clientWith(NEW_FIRST));
  await time.passUntil((await time.now()) + MINUTE);
  const { braked } = await under(NEW_FIRST).list();
  expect(braked).toMatchObject([{ businessUnit: 'another', ...ADA }]);
  expect(keysOf(BRAKES_WORKFLOW)).toEqual(['new']);
  workersWith(NEW);
  await under(NEW).release({ businessUnit: 'another', ...ADA });
  expect(await under(NEW).list()).toMatchObject({ braked: [] });
});
