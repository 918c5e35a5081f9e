import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { ChargeInput } from '../../src/contract/charge.js';
import { PAYMENTS_TASK_QUEUE, paymentWorkflowId, WORKFLOW_TYPES } from '../../src/contract/names.js';
import { DEFAULT_HOLD_MS } from '../../src/domain/hold.js';
import { createPaymentWorker } from '../../workers/create-payment-worker.js';
import { MINIMAL } from '../contract/examples.js';
import { clientOf, unusedPort } from '../provider/support/fake-service.js';
import { newReference } from '../support/charges.js';
import { testDataConverter } from '../support/data-converter.js';
import { bundlePath, claimNamespace, temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';
import { quietRuntime } from '../support/quiet-runtime.js';

let client: Client;
let native: NativeConnection;
beforeAll(async () => {
  quietRuntime();
  const namespace = await claimNamespace();
  const connection = await Connection.connect({ address: await temporalAddress() });
  client = new Client({ connection, namespace, dataConverter: testDataConverter() });
  native = await NativeConnection.connect({ address: await temporalAddress() });
});
afterAll(async () => {
  await client.connection.close();
  await native.close();
});

/** Answers every request with a conflict, from now on, on a port where nothing listened before. */
async function conflictsOn(port: number): Promise<{ close(): void }> {
  const server = createServer((_request, response) => {
    response.writeHead(409, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ category: 'api_request_error', description: 'There was conflict.' }));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('the proof that no attempt has left', () => {
  test('survives from attempt to attempt in the engine, so that the first real refusal is believed', async () => {
    const port = await unusedPort();
    const provider = clientOf(`http://127.0.0.1:${port}`);
    const worker = await createPaymentWorker({
      connection: native,
      client,
      dataConverter: testDataConverter(),
      providers: new Map([['default', provider]]),
      units: new Map([['default', { riskUnit: 'default', holdMs: DEFAULT_HOLD_MS }]]),
      bundlePath: bundlePath(),
      overrides: { maxCachedWorkflows: 10 },
    });
    const input: ChargeInput = { ...MINIMAL, reference: newReference() };
    await worker.runUntil(async () => {
      const flow = await client.workflow.start(WORKFLOW_TYPES.charge, {
        workflowId: paymentWorkflowId(input.reference),
        taskQueue: PAYMENTS_TASK_QUEUE,
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        args: [input],
      });
      await until(
        async () => (await flow.describe()).raw.pendingActivities?.[0]?.attempt ?? 0,
        (attempt) => attempt >= 3,
      );
      const service = await conflictsOn(port);
      try {
        await expect(flow.result()).rejects.toMatchObject({ cause: { type: 'StateConflict' } });
      } finally {
        service.close();
      }
    });
    await provider.close();
  });
});
