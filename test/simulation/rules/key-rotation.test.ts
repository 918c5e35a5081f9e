import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { afterEach, describe, expect, test } from 'vitest';
import {
  parkedEventWorkflowId,
  PAYMENTS_TASK_QUEUE,
  SIGNAL_NAMES,
  WORKFLOW_TYPES,
} from '../../../src/contract/names.js';
import { TEST_ENCRYPTION_KEYS as OLD, testDataConverter } from '../../support/data-converter.js';
import { movements } from '../../support/payments.js';
import { until } from '../../support/until.js';
import { beginHeld, type VirtualFlow } from '../../support/virtual-flows.js';
import { resetTo } from '../../support/resets.js';
import { beginFlow, failsWith, HOUR, inputOf, MINUTE, sharedTime, specOf } from './context.js';

const time = sharedTime();

const { ResetReapplyExcludeType } = proto.temporal.api.enums.v1;

const newKey = () => `new:${randomBytes(32).toString('base64')}`;
const NEW = newKey();
const OLD_FIRST = `${OLD},${NEW}`;
const NEW_FIRST = `${NEW},${OLD}`;
/** As when two people have each made a key "new". */
const OTHER_NEW = `${OLD},${newKey()}`;
const HELD = 'authorization Succeed 6000 USD';
const VOIDED = 'void Succeed 6000 USD';
const PENDS = { action: 'result', status: 'Pending', path: '*/charges' } as const;

afterEach(async () => {
  await workersWith(OLD);
  failedTasks();
});

/** From now on there are these workers and no other. */
async function workersWith(...rings: readonly string[]): Promise<void> {
  const { simulation } = time;
  for (const worker of simulation.workers) worker.kill();
  for (const keys of rings) simulation.startWorker({ keys });
}

/** What was said of tasks that failed since this was last asked. */
const failedTasks = (): string[] =>
  time.simulation.engine.findings.splice(0).map((text) => text.split('\n', 1)[0] ?? '');

const pass = async (ms: number): Promise<void> => await time.passUntil((await time.now()) + ms);

/** A business service or a webhook handler that writes with the first of these keys. */
const writerWith = (keys: string): Client =>
  new Client({
    connection: time.client.connection,
    namespace: time.client.options.namespace,
    dataConverter: testDataConverter(keys),
  });

const endOf = async ({ workflowId }: { workflowId: string }): Promise<unknown> =>
  await writerWith(NEW_FIRST).workflow.getHandle(workflowId).result();

async function pendingCharge(): Promise<VirtualFlow<unknown>> {
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [PENDS]);
  await pass(1_000);
  return charge;
}

async function eventOf(flow: VirtualFlow<unknown>, eventType = 'payment.charge.update') {
  const { paymentId = '', transactionId = '', businessUnit, amount, currency } = await flow.status();
  const { startedAt } = flow;
  const hash = randomBytes(32).toString('hex');
  const status = 'Succeed' as const;
  const ids = { hash, businessUnit, paymentId, transactionId };
  return { ...ids, eventType, created: String(startedAt), status, amount, currency, trusted: true };
}

const send = async (keys: string, { workflowId }: { workflowId: string }, event: object): Promise<void> =>
  await writerWith(keys).workflow.getHandle(workflowId).signal(SIGNAL_NAMES.transactionEvent, event);

/** Under the key that every worker has, and with one bit turned: what somebody without the key can make of a genuine one. */
async function sendDamaged({ workflowId }: { workflowId: string }, event: object): Promise<void> {
  const { namespace, loadedDataConverter } = writerWith(OLD).options;
  const { payloadConverter, payloadCodecs } = loadedDataConverter;
  const [payload] = (await payloadCodecs[0]?.encode([payloadConverter.toPayload(event)])) ?? [];
  const data = Buffer.from(payload?.data ?? []);
  data[data.length - 1] = (data.at(-1) ?? 0) ^ 1;
  await time.client.workflowService.signalWorkflowExecution({
    namespace,
    workflowExecution: { workflowId },
    signalName: SIGNAL_NAMES.transactionEvent,
    requestId: 'damaged',
    input: { payloads: [{ ...payload, data }] },
  });
}

describe('an event under a new key', () => {
  test.each([
    ['lack it', OLD, 'unknown key id "new"'],
    ['have another of that name', OTHER_NEW, 'authentication failed, key id "new"'],
  ])('waits while all workers %s, and is received once one has it', async (_what, ring, why) => {
    await workersWith(ring);
    const charge = await pendingCharge();
    const event = await eventOf(charge);
    await send(NEW_FIRST, charge, event);
    await pass(3 * HOUR);
    expect(failedTasks()).toContainEqual(expect.stringContaining(why));
    await time.sandbox.complete(event.transactionId, { status: 'Succeed' });
    await workersWith(OLD_FIRST);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
    expect(failedTasks()).toEqual([]);
    expect(await movements(time, charge.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test.each([
    ['whose key is lost for ever', NEW_FIRST, 'unknown key id "new"'],
    ['that was forged or damaged', undefined, 'authentication failed, key id'],
  ])('%s is left out by a reset to before it, and the flow looks for itself', async (_what, keys, why) => {
    await workersWith(OLD);
    const charge = await pendingCharge();
    const event = await eventOf(charge);
    await (keys === undefined ? sendDamaged(charge, event) : send(keys, charge, event));
    await pass(HOUR);
    expect(failedTasks()).toContainEqual(expect.stringContaining(why));
    await time.sandbox.complete(event.transactionId, { status: 'Succeed' });
    const { events } = await time.client.workflow.getHandle(charge.workflowId).fetchHistory();
    const last = events?.findLast((one) => one.workflowTaskCompletedEventAttributes);
    const { workflowId } = charge;
    await resetTo(time.client, { workflowId }, last?.eventId, [
      ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL,
    ]);
    failedTasks();
    expect(await time.client.workflow.getHandle(charge.workflowId).result()).toMatchObject({ status: 'succeeded' });
    expect(failedTasks()).toEqual([]);
    expect(await movements(time, charge.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('finds the one worker that has it', async () => {
    await workersWith(OLD);
    const charge = await pendingCharge();
    time.simulation.startWorker({ keys: OLD_FIRST });
    const event = await eventOf(charge);
    await time.sandbox.complete(event.transactionId, { status: 'Succeed' });
    await send(NEW_FIRST, charge, event);
    await pass(MINUTE);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
    expect(failedTasks()).not.toContainEqual(expect.stringContaining('Nondeterminism'));
  });
});

describe('a hold whose deadline falls into a rotation', () => {
  async function hold() {
    const held = await beginHeld(time, { captureDeadline: '2 hours' });
    return { held, event: await eventOf(held, 'payment.authorization.update') };
  }

  test('in the right order is released when it is due', async () => {
    await workersWith(OLD);
    const { held, event } = await hold();
    await workersWith(OLD_FIRST);
    await send(NEW_FIRST, held, event);
    await pass(HOUR);
    await workersWith(NEW_FIRST);
    await pass(HOUR + MINUTE);
    expect(await movements(time, held.reference)).toEqual([HELD, VOIDED]);
    expect(await endOf(held)).toMatchObject({ status: 'voided', reason: 'deadline' });
    expect(failedTasks()).toEqual([]);
  });

  test('in the wrong order is released late, and once, when the first worker has the key', async () => {
    await workersWith(OLD, OLD);
    const { held, event } = await hold();
    const { dueAt: warnedAt = '' } = await held.status();
    const deadline = new Date(Date.parse(warnedAt) + HOUR).toISOString();
    await send(NEW_FIRST, held, event);
    await pass(5 * HOUR);
    expect(failedTasks()).toContainEqual(
      expect.stringContaining(`unknown key id "new"); give it the missing key; the flow is due at ${deadline}`),
    );
    expect(await movements(time, held.reference)).toEqual([HELD]);
    await workersWith(OLD, NEW_FIRST);
    await pass(HOUR);
    expect(await movements(time, held.reference)).toEqual([HELD, VOIDED]);
    await workersWith(NEW_FIRST);
    expect(await endOf(held)).toMatchObject({ status: 'voided', reason: 'deadline' });
    expect(failedTasks().filter((text) => !text.includes('unknown key id "new"'))).toEqual([]);
  });
});

describe('a command that a worker with the new key has taken', () => {
  test('waits at one without it, and is carried out once', async () => {
    await workersWith(OLD_FIRST);
    const held = await beginHeld(time);
    const capture = time.hold('createCapture');
    const handle = writerWith(NEW_FIRST).workflow.getHandle(held.workflowId);
    const answer = handle.executeUpdate('capture', { args: [{ commandId: 'one' }] });
    answer.catch(() => undefined);
    await capture.reached;
    await workersWith(OLD);
    capture.release();
    await pass(10 * MINUTE);
    expect(failedTasks()).toContainEqual(expect.stringContaining('unknown key id "new"'));
    await workersWith(OLD_FIRST);
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(failedTasks()).toEqual([]);
    expect(await movements(time, held.reference)).toEqual([HELD, 'capture Succeed 6000 USD']);
  });

  test('is a question, and the flow can be replayed by the next', async () => {
    await workersWith(OLD_FIRST);
    const input = await inputOf(time, 'charge');
    const charge = await beginFlow(time, 'charge', input, [PENDS]);
    await pass(1_000);
    const event = await eventOf(charge);
    const handle = writerWith(NEW_FIRST).workflow.getHandle(charge.workflowId);
    const { type, fingerprint } = specOf('charge', input);
    const answer = handle.executeUpdate('outcome', { args: [{ type, fingerprint, waitFor: '3 hours' }] });
    await pass(MINUTE);
    await workersWith(OLD);
    await pass(MINUTE);
    await workersWith(OLD_FIRST);
    await time.sandbox.complete(event.transactionId, { status: 'Succeed' });
    await pass(4 * HOUR);
    expect(await answer).toMatchObject({ reference: charge.reference });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(failedTasks()).not.toContainEqual(expect.stringContaining('Nondeterminism'));
  });
});

describe('a start under a new key', () => {
  test('waits while no worker has it, burns no reference, and charges once when one has', async () => {
    await workersWith(OLD);
    const input = await inputOf(time, 'charge');
    const workflowId = `payment-${input.reference}`;
    const flow = await writerWith(NEW_FIRST).workflow.start(WORKFLOW_TYPES.charge, {
      taskQueue: PAYMENTS_TASK_QUEUE,
      workflowId,
      args: [input],
    });
    await pass(10 * MINUTE);
    expect(failedTasks()).toContainEqual(expect.stringContaining('unknown key id "new"'));
    expect(time.requests.posts(input.reference)).toEqual([]);
    await workersWith(OLD_FIRST);
    expect(await flow.result()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 6000 USD']);
  });
});

describe('what only says that it can not be read', () => {
  const marker = { holdfastUndecodable: 'unknown key id' };
  const inClear = (): Client =>
    new Client({ connection: time.client.connection, namespace: time.client.options.namespace });

  test('is counted and holds up no flow', async () => {
    const charge = await pendingCharge();
    await inClear().workflow.getHandle(charge.workflowId).signal(SIGNAL_NAMES.transactionEvent, marker);
    await until(
      () => charge.status(),
      ({ ignored }) => ignored['malformedEvent'] === 1,
    );
    expect(failedTasks()).toEqual([]);
  });

  test('is not parked', async () => {
    const parked = await inClear().workflow.start(WORKFLOW_TYPES.parkedEvent, {
      taskQueue: PAYMENTS_TASK_QUEUE,
      workflowId: parkedEventWorkflowId('e'.repeat(64)),
      args: [marker],
    });
    await expect(time.client.workflow.getHandle(parked.workflowId).result()).rejects.toMatchObject(
      failsWith('InvalidInput'),
    );
  });
});
