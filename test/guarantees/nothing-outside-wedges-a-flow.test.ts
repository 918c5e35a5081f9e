import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from '@temporalio/client';
import { chargeInput } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { flowOf, startRaw } from '../support/flows.js';
import { differencesFromLedger } from '../support/ledger-check.js';
import type { TestStack } from '../support/stack.js';
import { startStack } from '../support/stack.js';
import { askUntilFinal } from '../support/storm.js';
import { until } from '../support/until.js';

const YEAR_S = 31_536_000;
const WINDOW_MS = 20 * 3_600_000;

let stack: TestStack;
let front: Server;
/** References whose charge meets a demand for a year's patience while they are in here. */
const askedForPatience = new Set<string>();

beforeAll(async () => {
  front = createServer(passOn);
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  const { port } = front.address() as AddressInfo;
  stack = await startStack({ workerEnv: { HOLDFAST_API_BASE_URL: `http://127.0.0.1:${port}` } });
});
afterAll(async () => {
  await stack?.close();
  front.closeAllConnections();
  front.close();
});

/** Stands before the sandbox, which itself asks for no more than a day of patience. */
function passOn(request: IncomingMessage, response: ServerResponse): void {
  const key = String(request.headers['idempotency-key']);
  if (key.includes(':createCharge:') && [...askedForPatience].some((reference) => key.includes(reference))) {
    response.writeHead(429, { 'retry-after': String(YEAR_S), 'content-type': 'application/json' }).end('{}');
    request.resume();
    return;
  }
  const { method, url, headers } = request;
  const onward = send(new URL(url ?? '/', stack.sandboxUrl), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
}

describe('a service that asks for a year of patience', () => {
  test('is not waited for beyond the window, and a person can end the wait', async () => {
    const input = await chargeInput(stack.sandbox);
    askedForPatience.add(input.reference);
    expect(await stack.holdfast.charge(input, { waitFor: 500 })).toMatchObject({ status: 'unknown' });

    const { startTime } = await flowOf(stack, input).describe();
    const { dueAt } = await until(
      () => stack.holdfast.status(input.reference),
      (status) => status.dueAt !== undefined,
    );
    expect(Date.parse(dueAt ?? '')).toBeLessThanOrEqual(startTime.getTime() + WINDOW_MS);
    expect(await stack.holdfast.explain(input.reference)).toMatch(/`retryNow`.*Never repeat it/);

    askedForPatience.delete(input.reference);
    await stack.holdfast.retryNow(input.reference);
    const asked = await askUntilFinal(stack.holdfast, input, 20_000);
    expect(asked.answer?.status).toBe('succeeded');
    expect(differencesFromLedger([asked], await stack.sandbox.ledger(input.reference))).toEqual([]);
  });
});

describe('a caller', () => {
  test('who would wait for two days is refused at once, and nothing is started', async () => {
    const input = await chargeInput(stack.sandbox);
    await expect(stack.holdfast.charge(input, { waitFor: '2 days' })).rejects.toMatchObject({
      type: 'InvalidInput',
      faults: [expect.stringMatching(/^waitFor: "2 days"/)],
    });
    await expect(flowOf(stack, input).describe()).rejects.toThrow(/not found/);
  });

  test('whose reference looks like a card number is refused, by our client and by the flow itself', async () => {
    const input = await chargeInput(stack.sandbox, undefined, { reference: '4111111111111111' });
    const refusal = { type: 'InvalidInput', message: expect.stringMatching(/reference.*looks like a card number/) };
    await expect(stack.holdfast.charge(input)).rejects.toMatchObject(refusal);
    await expect(flowOf(stack, input).describe()).rejects.toThrow(/not found/);

    // A service that encrypts nothing looks for no card data either.
    const { connection } = stack.temporal;
    await startRaw({ temporal: new Client({ connection, namespace: stack.namespace }) }, input);
    await expect(flowOf(stack, input).result()).rejects.toMatchObject({ cause: refusal });
    expect(await stack.sandbox.ledger(input.reference)).toEqual([]);
  });
});

describe('events that come as soon as their charge has been made', () => {
  test('cost no caller its answer and no charge its one transaction', async () => {
    await stack.sandbox.settings({ eventDelayMs: 0 });
    const inputs = await Promise.all(Array.from({ length: 20 }, () => chargeInput(stack.sandbox)));
    const asked = await Promise.all(
      inputs.map(async (input) => ({ input, answer: await stack.holdfast.charge(input, { waitFor: '30 seconds' }) })),
    );
    expect(asked.map(({ answer }) => answer.status)).toEqual(inputs.map(() => 'succeeded'));
    const references = new Set(inputs.map(({ reference }) => reference));
    const ledger = await stack.sandbox.ledger();
    expect(
      differencesFromLedger(
        asked,
        ledger.filter((entry) => references.has(entry.reconciliation_id ?? '')),
      ),
    ).toEqual([]);
    for (const { reference } of inputs)
      expect(await stack.sandbox.deliveries({ reconciliationId: reference })).not.toEqual([]);
  });
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
