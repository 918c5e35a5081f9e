import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { replayEvents } from '../../../src/cli/replay-events.js';
import { startParkedEvent } from '../../../src/client/event-sink.js';
import { parkedEventsOf } from '../../../src/client/parked-events.js';
import {
  MEMO_KEYS,
  parkedEventWorkflowId,
  PAYMENTS_TASK_QUEUE,
  SIGNAL_NAMES,
  subscriptionWorkflowId,
  WORKFLOW_TYPES,
} from '../../../src/contract/names.js';
import { TEST_ENCRYPTION_KEYS, testDataConverter } from '../../support/data-converter.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { monthly } from '../../support/subscriptions.js';
import { beginHeld, ledgerRows } from '../../support/virtual-flows.js';
import { beginFlow, failsWith, HOUR, inputOf, MINUTE, sharedTime, specOf } from './context.js';
import { listenToAll, MERCHANT, takenOf } from './told.js';

const time = sharedTime({ billing: true });

/** Whoever can write to Temporal and has none of our keys. */
const stranger = (): Client =>
  new Client({ connection: time.client.connection, namespace: time.client.options.namespace });

async function pendingCharge() {
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [
    { action: 'result', status: 'Pending', path: '*/charges' },
  ]);
  await time.passUntil(charge.startedAt + 1_000);
  const { paymentId = '', transactionId = '', businessUnit, amount, currency } = await charge.status();
  const event = {
    hash: 'f'.repeat(64),
    eventType: 'payment.charge.update',
    created: String(charge.startedAt),
    businessUnit,
    paymentId,
    transactionId,
    status: 'Succeed' as const,
    amount,
    currency,
    trusted: true,
  };
  return { charge, event, paymentId };
}

describe('an event that was written in clear', () => {
  test('settles nothing and is counted, whatever it says and however its payload is marked', async () => {
    const { charge, event, paymentId } = await pendingCharge();
    const { workflowService, options } = stranger();
    for (const [requestId, mark] of [
      ['a', {}],
      ['b', { 'holdfast-sealed': Buffer.from('1') }],
    ] as const) {
      const metadata = { encoding: Buffer.from('json/plain'), ...mark };
      await workflowService.signalWorkflowExecution({
        namespace: options.namespace,
        workflowExecution: { workflowId: charge.workflowId },
        signalName: SIGNAL_NAMES.transactionEvent,
        requestId,
        input: { payloads: [{ metadata, data: Buffer.from(JSON.stringify(event)) }] },
      });
    }
    await time.passUntil(charge.startedAt + HOUR);
    expect(await charge.status()).toMatchObject({ status: 'pending', ignored: { eventInClear: 2 } });
    await time.sandbox.complete(event.transactionId, { status: 'Succeed' });
    await charge.event(event);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
    expect(await ledgerRows(time, paymentId)).toEqual(['charge Succeed 6000 USD']);
  });

  test('is not parked either, to be handed on as one of ours', async () => {
    const { charge, event } = await pendingCharge();
    const { workflowId } = await stranger().workflow.start(WORKFLOW_TYPES.parkedEvent, {
      taskQueue: PAYMENTS_TASK_QUEUE,
      workflowId: parkedEventWorkflowId(event.hash),
      args: [{ event, reason: 'flowNotFound' }],
    });
    await expect(time.client.workflow.getHandle(workflowId).result()).rejects.toMatchObject(
      failsWith('InvalidInput', 'event: came in clear'),
    );
    expect(await charge.status()).toMatchObject({ status: 'pending', ignored: {} });
  });

  test('is not read as one that was parked, nor replayed under our keys', async () => {
    const { charge, event, paymentId } = await pendingCharge();
    const workflowId = parkedEventWorkflowId('e'.repeat(64));
    const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
    await stranger().workflow.start(WORKFLOW_TYPES.parkedEvent, {
      taskQueue: PAYMENTS_TASK_QUEUE,
      workflowId,
      args: [{ event, reason: 'unknownTransaction' }],
      typedSearchAttributes: [
        { key: keyword('PaymentId'), value: paymentId },
        { key: keyword('PaymentStatus'), value: 'unclaimed' },
        { key: defineSearchAttributeKey('NeedsOperator', SearchAttributeType.BOOL), value: true },
      ],
    });
    await expect(time.client.workflow.getHandle(workflowId).result()).rejects.toThrow();
    expect(await parkedEventsOf(time.client, paymentId)).toEqual([]);
    const [replayed] = await replayEvents(time.client, [workflowId]);
    const why = expect.stringContaining('came in clear') as string;
    expect(replayed).toEqual({ hash: 'e'.repeat(64), result: 'failed', why });
    expect(await charge.status()).toMatchObject({ status: 'pending', ignored: {} });
  });
});

test('a parked event that refuses to look for its flow, such as under a key it lacks, is not said to look', async () => {
  const { event } = await pendingCharge();
  const hash = 'd'.repeat(64);
  const parked = { ...event, hash, paymentId: randomUUID(), transactionId: randomUUID() };
  await startParkedEvent(time.client, { event: parked, reason: 'flowNotFound' }, 'once');
  await time.passUntil((await time.now()) + MINUTE);
  const { connection, options } = time.client;
  const dataConverter = testDataConverter(`k9:${'A'.repeat(43)}=,${TEST_ENCRYPTION_KEYS}`);
  const [refused] = await replayEvents(new Client({ connection, namespace: options.namespace, dataConverter }), [hash]);
  expect(refused).toEqual({ hash, result: 'failed', why: expect.stringContaining("can't decode the request") });
  expect(await replayEvents(time.client, [hash])).toEqual([{ hash, result: 'woken' }]);
});

describe('a worker that refuses what comes in clear', () => {
  const REFUSES = { env: { HOLDFAST_PLAIN_PAYLOADS: 'refuse' } };
  async function refusing(): Promise<void> {
    const { simulation } = time;
    for (const worker of simulation.workers) worker.kill();
    simulation.startWorker(REFUSES);
  }
  const OWN = { notify: { url: `${MERCHANT}/own` } };
  async function startInClear(
    type: 'charge' | 'credit',
    memo?: Record<string, unknown>,
    more: Parameters<typeof inputOf>[2] = {},
  ) {
    const input = await inputOf(time, type, more);
    const { workflowId } = specOf(type, input);
    await stranger().workflow.start(type, {
      taskQueue: PAYMENTS_TASK_QUEUE,
      workflowId,
      args: [input],
      ...(memo && { memo }),
    });
    return { workflowId, reference: input.reference };
  }
  test.each([
    ['charge', undefined],
    ['credit', undefined],
    ['charge', { [MEMO_KEYS.startedBy]: 'client' }],
  ] as const)('sends nothing for a %s that was started so, whoever it says has started it', async (type, memo) => {
    await refusing();
    const { workflowId, reference } = await startInClear(type, memo);
    await expect(time.client.workflow.getHandle(workflowId).result()).rejects.toMatchObject(
      failsWith('InvalidInput', 'HOLDFAST_PLAIN_PAYLOADS'),
    );
    expect(time.requests.posts(reference)).toEqual([]);
  });

  test('signs nothing of a payment that was made, nor of one that was not, when somebody starts it so', async () => {
    await refusing();
    const told = listenToAll(time);
    const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge', OWN));
    await charge.outcome();
    const again = await startInClear('charge', {}, { ...OWN, reference: charge.reference });
    await expect(time.client.workflow.getHandle(again.workflowId).result()).rejects.toMatchObject(
      failsWith('ReferenceConflict', 'has already been used by run'),
    );
    const other = await startInClear('charge', {}, OWN);
    await expect(time.client.workflow.getHandle(other.workflowId).result()).rejects.toMatchObject(
      failsWith('InvalidInput', 'HOLDFAST_PLAIN_PAYLOADS'),
    );
    await time.passUntil((await time.now()) + MINUTE);
    expect(told.map(({ notification }) => notification.type)).toEqual(['payment.succeeded']);
    expect(takenOf(told, charge.workflowId)).toEqual(['payment.succeeded']);
  });

  test('signs nothing of a subscription either', async () => {
    await refusing();
    const told = listenToAll(time);
    const input = await monthly(time, OWN);
    const { workflowId } = await stranger().workflow.start(WORKFLOW_TYPES.subscription, {
      taskQueue: PAYMENTS_TASK_QUEUE,
      workflowId: subscriptionWorkflowId(input.reference),
      args: [input],
    });
    await expect(time.client.workflow.getHandle(workflowId).result()).rejects.toMatchObject(
      failsWith('InvalidInput', 'HOLDFAST_PLAIN_PAYLOADS'),
    );
    await time.passUntil((await time.now()) + MINUTE);
    expect(told).toEqual([]);
  });

  test('leaves a run to its end that a reset has made of one which moved money', async () => {
    const { simulation } = time;
    for (const worker of simulation.workers) worker.kill();
    simulation.startWorker();
    const { workflowId, reference } = await startInClear('charge');
    const handle = time.client.workflow.getHandle(workflowId);
    await handle.result();
    await refusing();
    await resetToFirstTask(time.client, workflowId);
    expect(await handle.result()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('refuses such a command and takes an encrypted one; what was taken before it refused goes on', async () => {
    const { simulation } = time;
    for (const worker of simulation.workers) worker.kill();
    simulation.startWorker();
    const { workflowId } = await startInClear('charge');
    expect(await time.client.workflow.getHandle(workflowId).result()).toMatchObject({ status: 'succeeded' });
    const held = await beginHeld(time);
    await refusing();
    const answer = stranger()
      .workflow.getHandle(held.workflowId)
      .executeUpdate('capture', { args: [{}] });
    await expect(answer).rejects.toThrow();
    expect(await held.status()).toMatchObject({ status: 'authorized' });
    expect(await held.ask('capture')).toMatchObject({ status: 'succeeded' });
    // Replayed by the worker that would not have taken it.
    expect(await time.holdfast.status({ workflowId })).toMatchObject({ status: 'succeeded' });
  });
});
