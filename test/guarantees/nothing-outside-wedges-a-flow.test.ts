import { createServer, type IncomingMessage, request as send, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json as readJson } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { MAX_SEARCH_ATTRIBUTE_BYTES } from '../../src/contract/cut-attribute.js';
import { PAYMENTS_TASK_QUEUE } from '../../src/contract/names.js';
import { CARDS, chargeInput, newReference } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { flowOf, plantOnce, startRaw } from '../support/flows.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { startStack, type TestStack } from '../support/stack.js';
import { askUntilFinal } from '../support/ask-charges.js';
import { until } from '../support/until.js';

const UPDATE_COMPLETED =
  proto.temporal.api.enums.v1.UpdateWorkflowExecutionLifecycleStage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED;
const YEAR_S = 31_536_000;
const WINDOW_MS = 20 * 3_600_000;

let stack: TestStack;
let front: Server;
/** References whose charge meets a demand for a wait of a year while they are in here. */
const askedToWait = new Set<string>();
/** By reference: what becomes of the answer to its charge. */
const rewritten = new Map<string, (answer: ServiceAnswer) => object>();

interface ServiceAnswer {
  result: object;
  provider_data: object;
}

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

/** Stands before the sandbox, which itself asks for no more than a day of waiting. */
function passOn(request: IncomingMessage, response: ServerResponse): void {
  const key = String(request.headers['idempotency-key']);
  if (key.includes(':createCharge:') && [...askedToWait].some((reference) => key.includes(reference))) {
    response.writeHead(429, { 'retry-after': String(YEAR_S), 'content-type': 'application/json' }).end('{}');
    request.resume();
    return;
  }
  const { method, url, headers } = request;
  const onward = send(new URL(url ?? '/', stack.sandboxUrl), { method, headers }, (answer) => {
    const rewrite =
      key.includes(':createCharge:') && [...rewritten].find(([reference]) => key.includes(reference))?.[1];
    if (!rewrite) {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      return;
    }
    void readJson(answer).then((body) => {
      response.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' });
      response.end(JSON.stringify(rewrite(body as ServiceAnswer)));
    });
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
}

describe('a caller', () => {
  test('who would wait for an hour is refused at once, and nothing is started', async () => {
    const input = await chargeInput(stack.sandbox);
    await expect(stack.holdfast.charge(input, { waitFor: '1 hour' })).rejects.toMatchObject({
      type: 'InvalidInput',
      faults: [expect.stringMatching(/^waitFor: "1 hour"/)],
    });
    await expect(flowOf(stack, input).describe()).rejects.toThrow(/not found/);
  });

  test('whose reference reads like a card number is served: it is the merchant’s own', async () => {
    const input = await chargeInput(stack.sandbox, undefined, { reference: 'shop-4500000620-248713' });
    const asked = await askUntilFinal(stack.holdfast, input, 20_000);
    expect(auditCharges([asked], await stack.sandbox.ledger(input.reference))).toEqual([]);
    expect(asked.answer?.status).toBe('succeeded');
  });

  test('who puts a card number into free text is refused, by our client and by the flow itself', async () => {
    const input = await chargeInput(stack.sandbox);
    const wrong = { ...input, billingAddress: { line2: 'card 4111 1111 1111 1111' } };
    const refusal = { type: 'InvalidInput', message: expect.stringContaining('billingAddress.line2: looks like') };
    await expect(stack.holdfast.charge(wrong)).rejects.toMatchObject(refusal);
    await expect(flowOf(stack, input).describe()).rejects.toThrow(/not found/);

    const { connection } = stack.temporal;
    await startRaw({ temporal: new Client({ connection, namespace: stack.namespace }) }, wrong);
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
      auditCharges(
        asked,
        ledger.filter((entry) => references.has(entry.reconciliation_id ?? '')),
      ),
    ).toEqual([]);
    for (const { reference } of inputs)
      expect(await stack.sandbox.deliveries({ reconciliationId: reference })).not.toEqual([]);
  });
});

describe('an answer of the service with texts far longer than the engine takes', () => {
  const long = 'ü€😀'.repeat(100);

  test('is cut for the search attributes and kept in the outcome, and ends no flow', async () => {
    const input = await chargeInput(stack.sandbox);
    // An event would make it read, and what it reads is not rewritten.
    await stack.sandbox.addFault({ action: 'lose_event', reconciliation_id: input.reference });
    const declined = { status: 'Failed', category: 'payment_method_declined', sub_category: long };
    await plantOnce(stack, input, { action: 'result', method: 'POST', path: '*/charges', ...declined });
    rewritten.set(input.reference, (answer) => ({
      ...answer,
      result: { ...answer.result, description: long },
      provider_data: { ...answer.provider_data, provider_name: long },
    }));
    expect(await stack.holdfast.charge(input)).toMatchObject({ status: 'declined', subCategory: long });
    const { status, searchAttributes } = await flowOf(stack, input).describe();
    expect(status.name).toBe('COMPLETED');
    for (const name of ['Provider', 'SubCategory']) {
      const value = String(searchAttributes[name]?.[0]);
      expect({ name, value, cut: long.startsWith(value) }).toMatchObject({ cut: true });
      expect(Buffer.byteLength(value)).toBeLessThanOrEqual(MAX_SEARCH_ATTRIBUTE_BYTES);
      expect(Buffer.byteLength(value)).toBeGreaterThan(MAX_SEARCH_ATTRIBUTE_BYTES - 4);
    }
  });

  test('of megabytes ends no flow either', async () => {
    const input = await chargeInput(stack.sandbox);
    rewritten.set(input.reference, (answer) => ({
      ...answer,
      result: { ...answer.result, description: 'x'.repeat(5_000_000) },
    }));
    const asked = await askUntilFinal(stack.holdfast, input, 20_000);
    expect(asked.answer?.status).toBe('succeeded');
    expect(auditCharges([asked], await stack.sandbox.ledger(input.reference))).toEqual([]);
  });
});

describe('bytes that nobody can read', () => {
  const utf8 = (text: string) => Buffer.from(text);
  const UNREADABLE = [
    { metadata: { encoding: utf8('json/plain') }, data: utf8('{"half') },
    { metadata: { encoding: utf8('json/plain') }, data: utf8('') },
    { metadata: { encoding: utf8('binary/encrypted') }, data: utf8('garbage') },
    { metadata: { encoding: utf8('another/encoding') }, data: utf8('{}') },
    { metadata: {}, data: utf8('{}') },
    {},
  ];
  const payloads = (payload: object) => ({ payloads: [payload] });

  test('are counted as a signal and refused as an update, and the charge goes on', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    const { transactionId = '' } = await stack.holdfast.charge(input);
    const { workflowService } = stack.temporal;
    const to = { namespace: stack.namespace, workflowExecution: { workflowId: `payment-${input.reference}` } };
    for (const [index, payload] of UNREADABLE.entries()) {
      const signal = { signalName: 'transactionEvent', requestId: String(index), input: payloads(payload) };
      await workflowService.signalWorkflowExecution({ ...to, ...signal });
      for (const name of ['outcome', 'settleManually', 'retryNow']) {
        const { outcome } = await workflowService.updateWorkflowExecution({
          ...to,
          request: { meta: { updateId: `${name}-${index}` }, input: { name, args: payloads(payload) } },
          waitPolicy: { lifecycleStage: UPDATE_COMPLETED },
        });
        expect(outcome?.failure?.applicationFailureInfo?.type).toMatch(/^(UnexpectedResponse|InvalidInput)$/);
      }
    }
    const { status, ignored } = await stack.holdfast.status(input.reference);
    expect({ status, ignored }).toMatchObject({
      status: 'pending',
      ignored: { malformedEvent: UNREADABLE.length },
    });
    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
    const asked = await askUntilFinal(stack.holdfast, input, 20_000);
    expect(auditCharges([asked], await stack.sandbox.ledger(input.reference))).toEqual([]);
  });

  test('are InvalidInput as the input of a start, and nothing is sent', async () => {
    const { payments } = await stack.sandbox.health();
    for (const payload of UNREADABLE) {
      const workflowId = `payment-${newReference()}`;
      await stack.temporal.workflowService.startWorkflowExecution({
        namespace: stack.namespace,
        workflowId,
        workflowType: { name: 'charge' },
        taskQueue: { name: PAYMENTS_TASK_QUEUE },
        requestId: workflowId,
        input: payloads(payload),
      });
      await expect(stack.temporal.workflow.getHandle(workflowId).result()).rejects.toMatchObject({
        cause: { type: 'InvalidInput', message: expect.stringMatching(/can't be decoded|Invalid input|expected/i) },
      });
    }
    expect((await stack.sandbox.health()).payments).toBe(payments);
  });
});

// The last one of its unit, whose other POSTs are held back for a minute: test/simulation/rules/long-waits lets it pass.
test('a service that asks for a wait of a year is not waited for beyond the window', async () => {
  const input = await chargeInput(stack.sandbox);
  askedToWait.add(input.reference);
  expect(await stack.holdfast.charge(input, { waitFor: 500 })).toMatchObject({ status: 'unknown' });

  const { startTime } = await flowOf(stack, input).describe();
  const { dueAt } = await until(
    () => stack.holdfast.status(input.reference),
    (status) => status.dueAt !== undefined,
  );
  expect(Date.parse(dueAt ?? '')).toBeLessThanOrEqual(startTime.getTime() + WINDOW_MS);
  expect(await stack.holdfast.explain(input.reference)).toMatch(/`retryNow`.*Never repeat it/);
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
