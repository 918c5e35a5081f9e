import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { announcedKeys, createReadyCheck } from '../../src/client/ready-check.js';
import { createBillingWorker, createPaymentWorker } from '../../workers/create-payment-worker.js';
import { testDataConverter } from '../support/data-converter.js';
import { quietRuntime } from '../support/quiet-runtime.js';
import { bundlePath, claimNamespace, temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');
const K1 = `k1:${key(1)}`;
const K2 = `k2:${key(2)}`;

let client: Client;
const natives: NativeConnection[] = [];
beforeAll(async () => {
  quietRuntime();
  const connection = await Connection.connect({ address: await temporalAddress() });
  client = new Client({ connection, namespace: await claimNamespace() });
});
afterAll(async () => {
  await client.connection.close();
  for (const native of natives) await native.close();
});

async function workerWith(keys: string, create: typeof createPaymentWorker) {
  const connection = await NativeConnection.connect({ address: await temporalAddress() });
  natives.push(connection);
  const dataConverter = testDataConverter(keys);
  const noUnits = { providers: new Map(), units: new Map() };
  return await create({ connection, client, dataConverter, ...noUnits, bundlePath: bundlePath() });
}

test('each worker tells of its own keys, so that one without keeps a handler from being ready', async () => {
  const both = await workerWith(`${K2},${K1}`, createPaymentWorker);
  const old = await workerWith(K1, (deps) => createBillingWorker({ ...deps, callsPerSecond: 10 }));
  expect(both.options.identity).toMatch(/^\d+@\S+ keys=k2,k1$/);
  await both.runUntil(
    old.runUntil(async () => {
      const workers = await until(
        () => announcedKeys(client),
        (found) => found.length === 2,
      );
      expect(workers.map(({ keyIds }) => keyIds)).toEqual([['k1'], ['k2', 'k1']]);
      expect(await createReadyCheck(client, { keyId: 'k1' })()).toBe(true);
      expect(await createReadyCheck(client, { keyId: 'k2' })()).toContain('not announced by worker');
    }),
  );
});
