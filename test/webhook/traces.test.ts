import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDispatcher, ProviderClient } from '../../src/provider/index.js';
import { CARDS, chargeInput, newReference } from '../support/charges.js';
import { eventBody, hashOf, postEvent } from '../support/signed-events.js';
import { startStack, type TestStack } from '../support/stack.js';
import { until } from '../support/until.js';

interface RecordedSpan {
  name: string;
  attributes: Record<string, string>;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
}

const UPDATE = 'payment.charge.update';
const folder = mkdtempSync(join(tmpdir(), 'holdfast-traces-'));
const file = join(folder, 'spans.jsonl');
/** As an operator turns tracing on: an OpenTelemetry SDK is loaded before the process. */
const TRACED = {
  NODE_OPTIONS: `--import=${new URL('../support/record-spans.mjs', import.meta.url).href}`,
  SPANS_FILE: file,
};

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ pendingMs: 600_000, workerEnv: TRACED, webhookEnv: TRACED });
});
afterAll(async () => {
  await stack?.close();
  rmSync(folder, { recursive: true, force: true });
});

function spans(): RecordedSpan[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as RecordedSpan);
}

/** The spans of one event, once there are as many. */
async function spansOf(hash: string, count: number): Promise<RecordedSpan[]> {
  const found = await until(
    () => Promise.resolve(spans().filter(({ attributes }) => attributes['holdfast.event_hash'] === hash)),
    (recorded) => recorded.length >= count,
  );
  // Handler and worker write as they end, and the worker may be the first. The handler's name is the last of the alphabet.
  return found.toSorted((one, other) => other.name.localeCompare(one.name));
}

test('one trace leads from the request through the event to its workflow', async () => {
  const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
  const pending = await stack.holdfast.charge(input);
  const { paymentId = '', transactionId = '' } = pending as { paymentId?: string; transactionId?: string };
  const body = eventBody({ paymentId, transactionId, reconciliationId: input.reference, status: 'Pending' });
  const traceId = 'c0ffee00c0ffee00c0ffee00c0ffee00';
  const headers = { traceparent: `00-${traceId}-00000000000000ab-01` };
  expect((await postEvent(stack.webhookUrl, UPDATE, body, undefined, headers)).status).toBe(200);

  const [handled, received, ...more] = await spansOf(hashOf(UPDATE, body), 2);
  expect(more).toEqual([]);
  expect(handled).toMatchObject({
    name: 'webhook event',
    traceId,
    parentSpanId: '00000000000000ab',
    attributes: { 'holdfast.result': 'delivered', 'holdfast.workflow_id': `payment-${input.reference}` },
  });
  expect(received).toMatchObject({
    name: 'event in charge',
    traceId,
    parentSpanId: handled?.spanId,
    attributes: { temporalWorkflowID: `payment-${input.reference}` },
  });
});

test('a parked event keeps its trace until it reaches its flow', async () => {
  const dispatcher = createDispatcher();
  const unit = { appId: 'holdfast-sandbox', privateKey: 'sandbox-private-key', apiVersion: '1.3.0' as const };
  const provider = new ProviderClient({ baseUrl: stack.sandboxUrl, environment: 'test', unit, dispatcher });
  const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds, { reference: newReference() });
  const additionalDetails = { holdfast_workflow_id: `payment-${input.reference}` };
  const { data: payment } = await provider.createPayment({ amount: 1095, currency: 'USD', additionalDetails });
  await dispatcher.close();
  const body = eventBody({ paymentId: payment.id, status: 'Pending' });
  expect((await postEvent(stack.webhookUrl, UPDATE, body)).result).toBe('parked');
  await stack.holdfast.charge(input);
  const hash = hashOf(UPDATE, body);
  await stack.holdfast.retryNow({ workflowId: `parked-event-${hash}` }).catch(() => undefined);

  const [handled, ...received] = await spansOf(hash, 3);
  expect(received.map(({ name }) => name)).toEqual(['event in parkedEvent', 'event in charge']);
  for (const { traceId, parentSpanId } of received) {
    expect({ traceId, parentSpanId }).toEqual({ traceId: handled?.traceId, parentSpanId: handled?.spanId });
  }
});

test('spans hold ids and types, and neither keys nor amounts nor anything else of the body', () => {
  const names = new Set(spans().flatMap(({ attributes }) => Object.keys(attributes)));
  expect([...names].toSorted()).toEqual([
    'holdfast.business_unit',
    'holdfast.event_hash',
    'holdfast.event_type',
    'holdfast.payment_id',
    'holdfast.reason',
    'holdfast.result',
    'holdfast.webhook_version',
    'holdfast.workflow_id',
    'temporalRunID',
    'temporalWorkflowID',
  ]);
});
