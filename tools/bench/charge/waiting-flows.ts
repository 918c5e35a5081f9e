import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { MEMO_KEYS, PAYMENTS_TASK_QUEUE, paymentWorkflowId, WORKFLOW_TYPES } from '../../../src/contract/names.js';
import { runJobs } from '../support/stats.js';

/** Business unit whose payments are created with a wrong amount, so that its charges wait for an operator. */
export const WAITING_UNIT = 'waiting';

export interface WrongAmounts {
  readonly url: string;
  close(): void;
}

/** A service that creates every payment one minor unit too high, so that nothing is charged on it. */
export async function startWrongAmounts(): Promise<WrongAmounts> {
  const server: Server = createServer((request, response) => {
    void json(request).then((body) => {
      const { amount, currency } = body as { amount: number; currency: string };
      const payment = {
        id: randomUUID(),
        amount: amount + 1,
        currency,
        status: 'Initialized',
        created: String(Date.now()),
        modified: String(Date.now()),
      };
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(payment));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** Starts `count` charges and waits until each of them waits for an operator, without a timer. */
export async function openWaitingFlows(client: Client, count: number): Promise<void> {
  await runJobs(count, 64, async (index) => {
    const input = {
      reference: `waiting-${index}`,
      amount: 1095,
      currency: 'USD',
      businessUnit: WAITING_UNIT,
      paymentMethod: { type: 'tokenized', token: randomUUID() },
    };
    await client.workflow.start(WORKFLOW_TYPES.charge, {
      workflowId: paymentWorkflowId(input.reference),
      taskQueue: PAYMENTS_TASK_QUEUE,
      args: [input],
      memo: { [MEMO_KEYS.startedBy]: 'bench' },
    });
  });
  for (;;) {
    const waiting = await client.workflow.count('WaitingFor="operator" AND ExecutionStatus="Running"');
    if (waiting.count >= count) return;
    await sleep(500);
  }
}
