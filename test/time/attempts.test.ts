import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomBytes, randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { ChargeInput } from '../../src/contract/charge.js';
import { idempotencyKey } from '../../src/contract/idempotency.js';
import { PAYMENTS_TASK_QUEUE, paymentWorkflowId } from '../../src/contract/names.js';
import type { FaultInput } from '../../sandbox/control.js';
import { TEST_ENCRYPTION_KEYS, testDataConverter } from '../support/data-converter.js';
import { until } from '../support/until.js';
import { HOUR, MINUTE, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';
import { expectOnLedger, plant, signalEvent } from './checks.js';

const { WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;
const PAYMENTS_DOWN: FaultInput = { action: 'status', status: 503, method: 'POST', path: '/payments' };
const OPERATOR = { who: 'Grace Hopper', why: 'nothing in the back office' };

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  await time?.close();
});

const keyOf = ({ reference }: ChargeInput, operation: 'createPayment' | 'createCharge'): string =>
  idempotencyKey(paymentWorkflowId(reference), operation, 1);

/** The flow's own payment, made from outside under its key. */
async function payAhead(input: ChargeInput, change: { amount?: number; currency?: string } = {}): Promise<string> {
  const { amount, currency, reference } = { ...input, ...change };
  const additionalDetails = { holdfast_workflow_id: paymentWorkflowId(reference) };
  const { data } = await time.provider.createPayment(
    { amount, currency, additionalDetails },
    { idempotencyKey: keyOf(input, 'createPayment') },
  );
  return data.id;
}

async function chargeAhead(input: ChargeInput, paymentId: string, key: string, reference: string): Promise<string> {
  const { paymentMethod } = input;
  const request = { paymentMethod, reconciliationId: reference, additionalDetails: { holdfast_key: key } };
  return (await time.provider.createCharge(paymentId, request, { idempotencyKey: key })).data.id;
}

test('a payment that goes unanswered is sent again under one key with one body', async () => {
  const input = { ...(await time.input()), statementSoftDescriptor: 'SHOP' };
  await plant(time, input, { action: 'drop_reply', method: 'POST', path: '/payments', times: 2 });
  const down = await plant(time, input, PAYMENTS_DOWN);
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + 5 * MINUTE);
  await time.sandbox.removeFault(down.id);
  const outcome = await charge.outcome();

  const posts = time.requests.paymentPosts(input.reference);
  expect(posts.length).toBeGreaterThan(4);
  expect(new Set(posts.map(({ key }) => key))).toEqual(new Set([keyOf(input, 'createPayment')]));
  expect(new Set(posts.map(({ body }) => body)).size).toBe(1);
  expect(JSON.parse(posts[0]?.body ?? '')).toMatchObject({ amount: 1095, currency: 'USD' });
  expect(outcome).toMatchObject({ status: 'succeeded' });
  await expectOnLedger(time, charge, outcome);
});

test.each([
  ['amount', { amount: 1094 }],
  ['currency', { currency: 'EUR' }],
])('a payment that comes back with another %s is not charged, and an operator is asked', async (_what, change) => {
  const input = await time.input();
  const paymentId = await payAhead(input, change);
  // Money has been tried on it, so that the service does not let it be changed any more.
  const { paymentMethod } = await time.input();
  await chargeAhead({ ...input, paymentMethod }, paymentId, randomUUID(), 'another');
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + HOUR);

  const { operatorReason, ...status } = await charge.status();
  expect(status).toMatchObject({ status: 'unknown', waitingFor: 'operator', needsOperator: true, paymentId });
  expect(operatorReason).toContain(`payment ${paymentId}`);
  expect(time.requests.chargePosts(input.reference)).toEqual([]);
  await time.holdfast.settleManually(input.reference, { ...OPERATOR, status: 'notExecuted' });
  const outcome = await charge.outcome();
  expect(outcome).toMatchObject({ status: 'notExecuted', evidence: { knownBy: 'operator', attempts: 0 } });
  await expectOnLedger(time, charge, outcome);
});

test('what a person was asked until a read answers is over once one does, while the same key is sent again for hours', async () => {
  const input = await time.input();
  const down = { action: 'status', method: 'POST', path: '*/charges', status: 503 } as const;
  for (const status of [503, 409]) await plant(time, input, { ...down, status, times: 1 });
  const unsent = await plant(time, input, down);
  const unread = await plant(time, input, { ...down, method: 'GET' });
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + HOUR);
  const { operatorReason, ...status } = await charge.status();
  expect(status).toMatchObject({ status: 'unknown', waitingFor: 'proof' });
  expect(operatorReason).toContain('nothing is sent again before a read answers');
  const posts = () => time.requests.chargePosts(input.reference);
  expect(posts()).toHaveLength(2);
  await time.sandbox.removeFault(unread.id);
  await time.passUntil(charge.startedAt + 3 * HOUR);
  expect(await charge.status()).toMatchObject({ status: 'unknown', waitingFor: 'provider', needsOperator: false });
  expect(posts().length).toBeGreaterThan(10);
  await time.sandbox.removeFault(unsent.id);
  const outcome = await charge.outcome();
  expect(outcome).toMatchObject({ status: 'succeeded' });
  expect(new Set(posts().map(({ key }) => key))).toEqual(new Set([keyOf(input, 'createCharge')]));
  await expectOnLedger(time, charge, outcome);
});

test('an answer that this worker has no key for is not taken for none: the flow waits for one that has it', async () => {
  const input = await time.input();
  await plant(time, input, { action: 'delay', method: 'POST', path: '*/charges', delay_ms: 1_500, times: 1 });
  await plant(time, input, { action: 'status', method: 'POST', path: '*/charges', status: 503, times: 1 });
  // Started raw: both calls are regular activities.
  const charge = await time.start(input, 'raw');
  await until(
    async () => time.requests.chargePosts(input.reference),
    (posts) => posts.length === 1,
  );
  const { paymentId = '' } = await charge.status();
  const transactionId = await chargeAhead(input, paymentId, randomUUID(), input.reference);
  // What a worker would report that was given a new key before the others.
  const { amount, currency } = input;
  await strangerThan(time.client).activity.complete(
    { workflowId: charge.workflowId, activityId: await lastActivityOf(charge.workflowId) },
    { transactionId, status: 'Succeed', amount, currency },
  );
  await until(
    async () => (await historyOf(charge.workflowId)).some((event) => event.workflowTaskFailedEventAttributes),
    (failed) => failed,
  );

  await time.stopWorker();
  // The engine gives a failed task out again only after a while.
  await time.passUnserved(charge.startedAt + MINUTE);
  await time.startWorker(`${TEST_ENCRYPTION_KEYS},${OTHER_KEYS}`);
  const outcome = await charge.outcome();
  await time.stopWorker();
  await time.startWorker();
  expect(outcome).toMatchObject({ status: 'succeeded', transactionId, evidence: { knownBy: 'reply' } });
  expect(time.requests.chargePosts(input.reference)).toHaveLength(1);
  expect(time.requests.reads(paymentId)).toEqual([]);
  await expectOnLedger(time, charge, outcome);
});

const OTHER_KEYS = `other:${randomBytes(32).toString('base64')}`;

function strangerThan({ connection, options }: Client): Client {
  return new Client({ connection, namespace: options.namespace, dataConverter: testDataConverter(OTHER_KEYS) });
}

async function historyOf(workflowId: string) {
  return (await time.client.workflow.getHandle(workflowId).fetchHistory()).events ?? [];
}

async function lastActivityOf(workflowId: string): Promise<string> {
  const scheduled = (await historyOf(workflowId)).flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
  return scheduled.at(-1)?.activityId ?? '';
}

describe('a charge whose first task was lost after it may have paid, and whose payment stays unanswered for 20 h', () => {
  /** Takes up the first task as a worker that then dies: what it sent nobody knows. */
  async function loseFirstTask(): Promise<void> {
    const { workflowService, options } = time.client;
    const { namespace } = options;
    const taskQueue = { name: PAYMENTS_TASK_QUEUE };
    const { taskToken } = await workflowService.pollWorkflowTaskQueue({ namespace, taskQueue, identity: 'lost' });
    const cause = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE;
    await workflowService.respondWorkflowTaskFailed({ namespace, taskToken, cause, identity: 'lost' });
  }

  async function startLost() {
    const input = await time.input();
    await plant(time, input, PAYMENTS_DOWN);
    await time.stopWorker();
    const charge = await time.start(input);
    await loseFirstTask();
    await time.passUnserved(charge.startedAt + 19.5 * HOUR);
    return { input, charge };
  }

  test('waits for a person, and an event of another reference or resource tells it nothing', async () => {
    const { charge } = await startLost();
    await time.startWorker();
    await time.passUntil(charge.startedAt + 21 * HOUR);
    expect(await charge.status()).toMatchObject({ status: 'unknown', waitingFor: 'operator', needsOperator: true });

    const [paymentId, transactionId] = [randomUUID(), randomUUID()];
    for (const other of [
      { reconciliationId: 'another' },
      { eventType: 'payment.refund.update' },
      { businessUnit: 'other' },
      { trusted: false },
    ]) {
      await signalEvent(time, charge, { paymentId, transactionId, ...other });
    }
    expect(await charge.status()).toMatchObject({ waitingFor: 'operator', ignored: { onlyAnOperatorCanTell: 4 } });
    expect(await charge.status()).not.toHaveProperty('paymentId');
    await time.holdfast.settleManually(charge.input.reference, { ...OPERATOR, status: 'notExecuted' });
    expect(await charge.outcome()).toMatchObject({ status: 'notExecuted', evidence: { knownBy: 'operator' } });
  });

  test('reads from an event which payment it was, and reads on from there without sending anything', async () => {
    const { input, charge } = await startLost();
    const paymentId = await payAheadWhileDown(input);
    const transactionId = await chargeAhead(input, paymentId, keyOf(input, 'createCharge'), input.reference);
    await time.startWorker();
    await time.passUntil(charge.startedAt + 21 * HOUR);
    await signalEvent(time, charge, { paymentId, transactionId });
    const outcome = await charge.outcome();

    expect(outcome).toMatchObject({ status: 'succeeded', paymentId, transactionId, evidence: { knownBy: 'poll' } });
    expect(time.requests.chargePosts(input.reference)).toEqual([]);
    await expectOnLedger(time, charge, outcome);
  });

  /** What the lost task did, before the service fell silent. */
  async function payAheadWhileDown(input: ChargeInput): Promise<string> {
    const down = (await time.sandbox.faults()).filter((fault) => fault.reconciliation_id === input.reference);
    for (const { id } of down) await time.sandbox.removeFault(id);
    const paymentId = await payAhead(input);
    await plant(time, input, PAYMENTS_DOWN);
    return paymentId;
  }
});
