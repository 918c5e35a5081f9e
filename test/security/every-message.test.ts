import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowHandle, WithStartWorkflowOperation } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isSealed, SEALED_METADATA } from '../../src/contract/payload-marks.js';
import { takeCopies } from '../support/copies.js';
import { testDataConverter } from '../support/data-converter.js';
import { quietRuntime } from '../support/quiet-runtime.js';
import { resetToFirstTask } from '../support/resets.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';
import { activities, type Told } from './every-message/activities.js';
import type * as workflows from './every-message/workflows.js';

/**
 * The SDK tells the codec for which flow it encodes and decodes. Where the two differ, a value of ours would count as
 * one in clear. So every kind of message is sent once, on a real server.
 */
const told: Told = { what: 'an object, since a text has no mark' };
const taskQueue = 'every-message';
const memo = { memo: told };

let client: Client;
let worker: Worker;
let running: Promise<void>;
beforeAll(async () => {
  quietRuntime();
  const [namespace, address] = [await claimNamespace(), await temporalAddress()];
  const connection = await Connection.connect({ address });
  client = new Client({ connection, namespace, dataConverter: testDataConverter() });
  worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    namespace,
    taskQueue,
    workflowsPath: fileURLToPath(new URL('every-message/workflows.ts', import.meta.url)),
    activities,
    dataConverter: testDataConverter(),
    // So that all is also replayed.
    maxCachedWorkflows: 1,
  });
  running = worker.run();
}, 120_000);
afterAll(async () => {
  worker.shutdown();
  await running;
  await client.connection.close();
});

type Receives = typeof workflows.receives;
const newId = (type: string) => `${type}-${randomUUID()}`;

async function sealedDetails(failing: Promise<unknown>): Promise<boolean> {
  const error = await failing.then(
    () => undefined,
    (error: unknown) => error,
  );
  return isSealed((error as { cause?: { details?: unknown[] } }).cause?.details?.[0]);
}

/** Ends the activity that the workflow has left to its client. */
async function completeActivity(handle: WorkflowHandle): Promise<void> {
  const activityId = await until(
    async () => {
      const { raw } = await handle.describe();
      return raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'endedByClient')?.activityId;
    },
    (id) => id !== undefined && id !== null,
  );
  const { workflowId } = handle;
  await client.activity.complete({ workflowId, activityId: activityId ?? '' }, told);
}

async function everyMessage() {
  const handle = await client.workflow.start<typeof workflows.everyMessage>('everyMessage', {
    ...{ taskQueue, memo },
    workflowId: newId('everyMessage'),
    staticSummary: 'a summary',
    args: [told],
  });
  await handle.signal('signal', told);
  const answers = {
    update: isSealed(await handle.executeUpdate<Told, [Told]>('update', { args: [told] })),
    query: await handle.query<{ argument: boolean }, [Told]>('query', told),
    failure: await sealedDetails(handle.executeUpdate('rejected', { args: [told] })),
  };
  expect(answers).toEqual({ update: true, query: { argument: true }, failure: true });
  expect(isSealed(await handle.query<object, [Told]>('query', told))).toBe(true);
  await completeActivity(handle);
  return handle;
}

async function listedMemos(workflowId: string): Promise<boolean[]> {
  const sealed: boolean[] = [];
  for await (const { memo } of client.workflow.list({ query: `WorkflowId = "${workflowId}"` }))
    sealed.push(isSealed(memo?.['memo']));
  return sealed;
}

function expectAllSealed(marks: workflows.Marks): void {
  expect(isSealed(marks)).toBe(true);
  expect(Object.entries(marks).filter(([, isSealed]) => !isSealed)).toEqual([]);
}

test('every kind of message is known as one of ours by who gets it, also after a reset', async () => {
  const handle = await everyMessage();
  const marks = await handle.result();
  expectAllSealed(marks);
  expect(Object.keys(marks)).toHaveLength(20);
  const { workflowId, firstExecutionRunId } = handle;
  const described = await client.workflow.getHandle(workflowId, firstExecutionRunId).describe();
  const { later, memo: given } = described.memo ?? {};
  expect([later, given].map(isSealed)).toEqual([true, true]);
  expect(
    await until(
      () => listedMemos(workflowId),
      ({ length }) => length > 1,
    ),
  ).toEqual([true, true]);
  const reset = await resetToFirstTask(client, workflowId, [], firstExecutionRunId);
  const again = client.workflow.getHandle<typeof workflows.everyMessage>(workflowId, reset);
  await completeActivity(again);
  expectAllSealed(await again.result());
}, 120_000);

test('so is what starts a workflow together with a message, and the details of its failure', async () => {
  const { workflow } = client;
  const start = { taskQueue, memo, args: [told] as [Told] };
  const signalled = await workflow.signalWithStart<typeof workflows.receives, [Told]>('receives', {
    ...start,
    workflowId: newId('receives'),
    signal: 'signal',
    signalArgs: [told],
  });
  expectAllSealed(await signalled.result());
  const startWorkflowOperation = new WithStartWorkflowOperation<Receives>('receives', {
    ...start,
    workflowId: newId('receives'),
    workflowIdConflictPolicy: 'FAIL',
  });
  const answer = await workflow.executeUpdateWithStart<Receives, Told, [Told]>('update', {
    args: [told],
    startWorkflowOperation,
  });
  expect(isSealed(answer)).toBe(true);
  const updated = await startWorkflowOperation.workflowHandle();
  await updated.signal('signal', told);
  const marks = await updated.result();
  expectAllSealed(marks);
  expect(marks).toHaveProperty('update');
  const failing = workflow.execute('childThatFails', { ...start, workflowId: newId('fails') });
  expect(await sealedDetails(failing)).toBe(true);
});

test('so is what a schedule gives the workflows that it starts, whose ids end with a time', async () => {
  const scheduleId = newId('schedule');
  const action = { type: 'startWorkflow', workflowType: 'receives', workflowId: scheduleId, taskQueue, memo } as const;
  const schedule = await client.schedule.create({
    scheduleId,
    spec: {},
    action: { ...action, args: [told] },
  });
  const [sent] = ((await schedule.describe()).action as { args?: unknown[] }).args ?? [];
  expect(isSealed(sent)).toBe(true);
  for (const times of [1, 2]) {
    await schedule.trigger();
    const { info } = await until(
      () => schedule.describe(),
      ({ info }) => info.recentActions.length === times,
    );
    const workflowId = info.recentActions.at(-1)?.action.workflow.workflowId ?? '';
    expect(workflowId).toMatch(/-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const handle = client.workflow.getHandle<typeof workflows.receives>(workflowId);
    await handle.signal('signal', told);
    expectAllSealed(await handle.result());
    // The next one that the schedule starts is given this result, too.
    expect(isSealed((await handle.describe()).memo?.['memo'])).toBe(true);
  }
  await schedule.delete();
});

test('and by nobody who reads it as that of another workflow: each names the one that it was encrypted for', async () => {
  const handle = await everyMessage();
  await handle.result();
  const { workflowId, firstExecutionRunId } = handle;
  const histories = await Promise.all([
    handle.fetchHistory(),
    client.workflow.getHandle(workflowId, firstExecutionRunId).fetchHistory(),
    client.workflow.getHandle(`receiver-${workflowId}`).fetchHistory(),
  ]);
  const encrypted = histories.flatMap(({ events }) => payloadsIn(events));
  expect(encrypted.length).toBeGreaterThan(40);
  const [codec] = testDataConverter().payloadCodecs;
  const of = (workflowId: string) => ({ type: 'workflow', namespace: client.options.namespace, workflowId }) as const;
  const unbound = await codec.decode(encrypted, of('another workflow'));
  expect(unbound.filter(({ metadata }) => metadata?.[SEALED_METADATA])).toEqual([]);
  expect(takeCopies()).toHaveLength(encrypted.length);
});

/** Every encrypted payload of a message. */
function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return [];
  const { metadata } = value as Payload;
  const encoding = metadata?.['encoding'];
  if (ArrayBuffer.isView(encoding))
    return Buffer.from(encoding).toString() === 'binary/encrypted' ? [value as Payload] : [];
  return Object.values(value).flatMap(payloadsIn);
}
