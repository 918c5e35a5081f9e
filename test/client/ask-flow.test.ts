import { describe, expect, test } from 'vitest';
import type { Client, WithStartWorkflowOperation } from '@temporalio/client';
import { askFlow } from '../../src/client/ask-flow.js';
import { Deadlines } from '../../src/client/deadlines.js';
import { outcomeOfEndedFlow } from '../../src/client/ended-flow.js';
import { HoldfastError } from '../../src/client/errors.js';
import { makeRequest } from '../../src/client/start-options.js';
import { FLOWS } from '../../src/contract/flows.js';
import { markSealed } from '../../src/contract/payload-marks.js';
import { MINIMAL } from '../contract/examples.js';

const REQUEST = makeRequest(FLOWS.charge, FLOWS.charge.schema.parse(MINIMAL));
const { fingerprint } = REQUEST;
const PENDING = markSealed({ status: 'pending', reference: 'order-1001' });

interface Asked {
  updateId: string;
  args: { type: string; fingerprint: string; waitFor: number }[];
  startWorkflowOperation: WithStartWorkflowOperation<never>;
}

/** A connection to an engine that answers each ask with `pending`, and keeps what it was asked. */
function pendingFlow(answer: object = PENDING): { client: Client; asked: Asked[] } {
  const asked: Asked[] = [];
  const ask = (_name: string, options: Asked) => {
    asked.push(options);
    return Promise.resolve(answer);
  };
  const workflow = { executeUpdateWithStart: ask, getHandle: () => ({ executeUpdate: ask }) };
  const withDeadline = (_at: number, call: () => Promise<unknown>) => call();
  return { client: { workflow, withDeadline } as unknown as Client, asked };
}

describe('asking for the outcome of a reference', () => {
  test('never has the engine hand out an answer that was not final: each ask has an id of its own', async () => {
    const { client, asked } = pendingFlow();
    for (let times = 0; times < 20; times += 1) {
      expect(await askFlow(client, new Deadlines(client), REQUEST, Date.now() + 10_000)).toEqual(PENDING);
    }
    expect(new Set(asked.map(({ updateId }) => updateId)).size).toBe(20);
    for (const { args } of asked) {
      expect(args).toEqual([{ type: 'charge', fingerprint, waitFor: expect.any(Number) as number }]);
    }
  });

  test('leaves a flow alone for longer and longer that answers at once without an outcome', async () => {
    const unknown = markSealed({ ...PENDING, status: 'unknown' });
    const { client, asked } = pendingFlow(unknown);
    expect(await askFlow(client, new Deadlines(client), REQUEST, Date.now() + 2_000)).toEqual(unknown);
    // After 0, 0.1, 0.3, 0.7 and 1.5 s, and at the end.
    expect(asked.length).toBeGreaterThan(2);
    expect(asked.length).toBeLessThan(8);
  });

  test('believes no answer in clear', async () => {
    const { client } = pendingFlow({ ...PENDING, status: 'succeeded' });
    const answer = askFlow(client, new Deadlines(client), REQUEST, Date.now() + 10_000);
    await expect(answer).rejects.toMatchObject(IN_CLEAR);
  });

  test("believes no copy of another flow's answer", async () => {
    const { client } = pendingFlow(markSealed({ ...PENDING, reference: 'order-7' }));
    const answer = askFlow(client, new Deadlines(client), REQUEST, Date.now() + 10_000);
    await expect(answer).rejects.toMatchObject({
      type: 'UnexpectedResponse',
      message: expect.stringContaining('is that of "order-7"') as string,
    });
  });

  test('starts a flow that no second one may follow under its reference, ended or not', async () => {
    const { client, asked } = pendingFlow();
    await askFlow(client, new Deadlines(client), REQUEST, Date.now() + 10_000);
    expect(asked.map(({ startWorkflowOperation }) => startWorkflowOperation.options)).toMatchObject([
      {
        workflowId: 'payment-order-1001',
        taskQueue: 'holdfast',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        memo: { holdfastFingerprint: fingerprint, holdfastStartedBy: 'holdfast-client' },
      },
    ]);
    // Each of these would run the flow again, or end it while money is on its way.
    for (const name of ['retry', 'cronSchedule', 'workflowExecutionTimeout', 'workflowRunTimeout']) {
      expect(asked[0]?.startWorkflowOperation.options).not.toHaveProperty(name);
    }
  });
});

const IN_CLEAR = { type: 'UnexpectedResponse', message: expect.stringContaining('came in clear') as string };

describe('the result of a flow that has ended', () => {
  const SUCCEEDED = markSealed({ status: 'succeeded', reference: 'order-1001', amount: 1095, currency: 'USD' });
  const endedFlow = (memo: Record<string, unknown>, result: object = SUCCEEDED): Client => {
    const described = { memo, status: { name: 'COMPLETED' } };
    const handle = { describe: () => Promise.resolve(described), result: () => Promise.resolve(result) };
    const withDeadline = (_at: number, call: () => Promise<unknown>) => call();
    return { workflow: { getHandle: () => handle }, withDeadline } as unknown as Client;
  };
  const ask = (client: Client) => outcomeOfEndedFlow(client, 'payment-order-1001', fingerprint, 'order-1001');

  test('is given to who asks with the same input', async () => {
    expect(await ask(endedFlow({ holdfastFingerprint: fingerprint }))).toEqual(SUCCEEDED);
  });

  test('is not believed in clear, which whoever has access to Temporal can write', async () => {
    const forged = ask(endedFlow({ holdfastFingerprint: fingerprint }, { ...SUCCEEDED }));
    await expect(forged).rejects.toMatchObject(IN_CLEAR);
  });

  test.each([
    ['another input', { holdfastFingerprint: 'fingerprint-of-another-input' }],
    ['none of ours', {}],
  ])(
    'is not given for a flow of %s: who is told "succeeded" would send goods that nobody paid',
    async (_name, memo) => {
      const failure = await ask(endedFlow(memo)).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(HoldfastError);
      // A buyer who enters the card again has another token: the order may be paid already.
      expect(failure).toMatchObject({
        type: 'ReferenceConflict',
        message: expect.stringContaining('ask its status or explain first; a new reference is only for another order'),
      });
    },
  );
});
