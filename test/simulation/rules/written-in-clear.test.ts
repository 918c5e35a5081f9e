import { Client } from '@temporalio/client';
import { ApplicationFailure, type Payload } from '@temporalio/common';
import { expect, test } from 'vitest';
import { createEnginePort } from '../../../src/client/engine-port.js';
import { BRAKE_UPDATE, BRAKES_MEMO, BRAKES_WORKFLOW, RELEASE_UPDATE } from '../../../src/contract/brakes.js';
import { PAYMENTS_TASK_QUEUE, UPDATE_NAMES } from '../../../src/contract/names.js';
import { OUTGOING_FLOW } from '../../../src/contract/outgoing.js';
import { NO_BRAKES } from '../../../src/domain/brakes.js';
import { copierOf, payloadIn, resultOf } from '../../support/copier.js';
import { takeCopies } from '../../support/copies.js';
import { resetTo, resetToFirstTask, tasksOf } from '../../support/resets.js';
import { ADA, braking } from './braking.js';
import { beginFlow, HOUR, inputOf, MINUTE, SECOND, sharedTime } from './context.js';
import { counterOf, flowOf, GRACE, limitedUnit, UPDATES } from './limited-unit.js';

const time = sharedTime();
const { brake, release } = braking(time);
const { charged, configure, newDay, pass } = limitedUnit(time);

/** Whoever can write to Temporal and has none of our keys. */
const stranger = (): Client =>
  new Client({ connection: time.client.connection, namespace: time.client.options.namespace });

/** Ends the flow, and starts another one in its place. */
async function replace(client: Client, type: string, workflowId: string, args: unknown[], memo = {}): Promise<void> {
  await client.workflow.getHandle(workflowId).terminate();
  await client.workflow.start(type, { taskQueue: PAYMENTS_TASK_QUEUE, workflowId, args, memo });
}

async function charge(): Promise<object> {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  return await flow.outcome();
}

test.each([
  ['as our client does', BRAKES_WORKFLOW, [NO_BRAKES], { [BRAKES_MEMO]: NO_BRAKES }],
  ['without a word', BRAKES_WORKFLOW, [], {}],
  ['by another flow, which nobody serves', 'stranger', [], {}],
])(
  'brakes that were replaced in clear, %s, are those of before, and are changed by us',
  async (_how, type, args, memo) => {
    await brake();
    await replace(stranger(), type, BRAKES_WORKFLOW, args, memo);
    await time.simulation.readBrakes();
    expect(await charge()).toMatchObject({ status: 'notExecuted', braked: true });
    // Workers begin them again.
    await brake({ businessUnit: 'another' });
    expect((await time.holdfast.brakes.list()).braked).toHaveLength(2);
    await release();
    await release('another');
    expect(await charge()).toMatchObject({ status: 'succeeded' });
  },
);

test('the release of a brake is not that of a later one, as a copy of it would be', async () => {
  await brake();
  const [first] = (await time.holdfast.brakes.list()).braked;
  const since = first?.since ?? '';
  await release();
  await time.passUntil((await time.now()) + SECOND);
  await brake();
  const again = time.holdfast.brakes.release({ businessUnit: 'default', since, ...ADA });
  await expect(again).rejects.toMatchObject({
    type: 'StateConflict',
    message: expect.stringContaining(since) as string,
  });
  expect((await time.holdfast.brakes.list()).braked).toHaveLength(1);
  await release();
});

test.each<[string, () => Promise<unknown>]>([
  ['set back by a reset', () => resetToFirstTask(stranger(), BRAKES_WORKFLOW, [UPDATES])],
  [
    'replaced so often that the last of ours is far down in the list',
    async () => {
      for (let times = 0; times < 55; times += 1) await replace(stranger(), 'stranger', BRAKES_WORKFLOW, []);
    },
  ],
])('brakes that were %s are those of before', async (_how, lift) => {
  await brake({ businessUnit: 'another' });
  await brake();
  await lift();
  await time.simulation.readBrakes();
  expect(await charge()).toMatchObject({ status: 'notExecuted', braked: true });
  await release();
  expect((await time.holdfast.brakes.list()).braked).toMatchObject([{ businessUnit: 'another' }]);
  expect(await charge()).toMatchObject({ status: 'succeeded' });
});

test('a reset of the brakes brakes no unit again that was released since, and takes a brake that is set then', async () => {
  await brake();
  await time.passUntil((await time.now()) + SECOND);
  await release();
  await time.passUntil((await time.now()) + SECOND);
  await resetToFirstTask(time.client, BRAKES_WORKFLOW);
  await time.passUntil((await time.now()) + SECOND);
  await time.simulation.readBrakes();
  expect((await time.holdfast.brakes.list()).braked).toEqual([]);
  expect(await charge()).toMatchObject({ status: 'succeeded' });
  await brake();
  expect(await charge()).toMatchObject({ status: 'notExecuted', braked: true });
  // Set back to where it stands: no brake is given again, and it is asked as ever.
  await time.client.workflow.getHandle(BRAKES_WORKFLOW).signal('nothing');
  await time.passUntil((await time.now()) + SECOND);
  const { events } = await time.client.workflow.getHandle(BRAKES_WORKFLOW).fetchHistory();
  const last = events?.findLast((event) => event.workflowTaskCompletedEventAttributes);
  const runId = await resetTo(time.client, { workflowId: BRAKES_WORKFLOW }, last?.eventId);
  await time.passUntil((await time.now()) + SECOND);
  await brake({ businessUnit: 'another' });
  expect((await time.holdfast.brakes.list()).braked).toHaveLength(2);
  expect(await time.client.workflow.getHandle(BRAKES_WORKFLOW).describe()).toMatchObject({ runId });
  // Set back by a second reset, which has copied a task that this run has begun with.
  await release('another');
  await time.passUntil((await time.now()) + SECOND);
  const begun = (await tasksOf(time.client, BRAKES_WORKFLOW, runId)).at(-1);
  await brake({ businessUnit: 'third' });
  await time.passUntil((await time.now()) + SECOND);
  await release('third');
  await time.passUntil((await time.now()) + SECOND);
  await resetTo(time.client, { workflowId: BRAKES_WORKFLOW }, begun);
  await time.passUntil((await time.now()) + SECOND);
  await time.simulation.readBrakes();
  expect((await time.holdfast.brakes.list()).braked).toMatchObject([{ businessUnit: 'default' }]);
});

test('brakes that were begun again with a copy of older ones are those of before', async () => {
  await brake();
  await release();
  const { raw } = await time.client.workflow.getHandle(BRAKES_WORKFLOW).describe();
  const older = raw.workflowExecutionInfo?.memo?.fields?.[BRAKES_MEMO] as Payload;
  await brake();
  await replace(copierOf(time.client, older), BRAKES_WORKFLOW, BRAKES_WORKFLOW, ['copy'], { [BRAKES_MEMO]: 'copy' });
  await time.simulation.readBrakes();
  expect(await charge()).toMatchObject({ status: 'notExecuted', braked: true });
});

test.each([
  ['in clear', stranger],
  ['by a copy of what started it', () => time.client],
])('a counter that was begun again %s makes no room', async (_how, client) => {
  const at = await newDay();
  const { workflowId } = counterOf(at);
  const day = { businessUnit: 'default', day: workflowId.slice(-10) };
  const all = { key: 'all', amount: 15_000, currency: 'USD' };
  expect(await createEnginePort(time.client).countOutgoing(day, all)).toEqual({ counted: true });
  await replace(client(), OUTGOING_FLOW.type, workflowId, [day]);
  const { actions, moved } = await charged();
  await actions.command('refund', { commandId: 'r', amount: 5_000, who: 'Ada' });
  await pass(HOUR);
  expect(await moved()).toEqual(['charge Succeed 12000 USD']);
  expect(await actions.status()).toMatchObject({ needsOperator: true });
});

test.each([[[]], [[UPDATES]]])(
  'a counter that was reset makes no room, and the next day has its own',
  async (without) => {
    const at = await newDay();
    const { workflowId } = counterOf(at);
    const day = { businessUnit: 'default', day: workflowId.slice(-10) };
    const all = { key: 'all', amount: 15_000, currency: 'USD' };
    expect(await createEnginePort(time.client).countOutgoing(day, all)).toEqual({ counted: true });
    await resetToFirstTask(stranger(), workflowId, without);
    const { actions, moved } = await charged();
    await actions.command('refund', { commandId: 'r', amount: 5_000, who: 'Ada' });
    await pass(HOUR);
    expect(await moved()).toEqual(['charge Succeed 12000 USD']);
    expect(await actions.status()).toMatchObject({
      needsOperator: true,
      operatorReason: expect.stringContaining('has ended, or was reset'),
    });
    await newDay();
    await pass(HOUR);
    expect(await moved()).toEqual(['charge Succeed 12000 USD', 'refund Succeed 5000 USD']);
  },
);

test('a counter takes nothing in clear', async () => {
  const at = await newDay();
  const { actions } = await charged('EUR');
  await actions.ask('refund', { commandId: 'a', amount: 5_000 });
  const counted = await time.holdfast.explain(counterOf(at));
  const counter = stranger().workflow.getHandle(counterOf(at).workflowId);
  const asked = { key: 'k', amount: 1, currency: 'USD' };
  await expect(counter.executeUpdate(UPDATE_NAMES.countOutgoing, { args: [asked] })).rejects.toThrow();
  expect(await time.holdfast.explain(counterOf(at))).toBe(counted);
});

const COPY = 'that is a copy of that of another flow';

test.each<[string, (unlimited: string) => Promise<Client>]>([
  ['in clear', async () => stranger()],
  [
    COPY,
    async (unlimited) => copierOf(time.client, await payloadIn(time.client, unlimited, resultOf('countOutgoing'))),
  ],
])("an activity's result %s lets nothing through", async (how, who) => {
  await newDay();
  const [another, { actions, moved }] = [await charged(), await charged()];
  await another.actions.ask('refund', { commandId: 'r', amount: 1_000, who: 'Ada' });
  const held = time.hold('countOutgoing');
  await actions.command('refund', { commandId: 'r', amount: 7_000, who: 'Ada' });
  await held.reached;
  const { workflowId } = actions;
  const { raw } = await time.client.workflow.getHandle(workflowId).describe();
  const activityId = raw.pendingActivities?.[0]?.activityId ?? '';
  await (await who(another.actions.workflowId)).activity.complete({ workflowId, activityId }, { counted: true });
  await pass(HOUR);
  held.release();
  expect(await moved()).toEqual(['charge Succeed 12000 USD']);
  const copies = takeCopies();
  expect(copies.length > 0).toBe(how === COPY);
  // Once for each time that the flow's task is tried.
  for (const copy of copies) expect(copy).toEqual({ workflowId, encryptedFor: another.actions.workflowId });
});

test('a worker that refuses what comes in clear lets nobody approve, brake or release so', async () => {
  await newDay();
  const { actions, moved } = await charged();
  await configure({ HOLDFAST_PLAIN_PAYLOADS: 'refuse' });
  await brake({ businessUnit: 'another' });
  await actions.command('refund', { commandId: 'r', amount: 7_000, who: 'Ada' });
  await pass(MINUTE);
  const { workflow } = stranger();
  const unit = { businessUnit: 'another', ...ADA };
  for (const [id, name, request] of [
    [actions.workflowId, UPDATE_NAMES.approve, { commandId: 'r', ...GRACE }],
    [BRAKES_WORKFLOW, RELEASE_UPDATE, unit],
    [BRAKES_WORKFLOW, BRAKE_UPDATE, { ...unit, businessUnit: 'default' }],
  ] as const)
    await expect(workflow.getHandle(id).executeUpdate(name, { args: [request] })).rejects.toThrow();
  await pass(MINUTE);
  expect(await moved()).toEqual(['charge Succeed 12000 USD']);
  expect((await time.holdfast.brakes.list()).braked).toMatchObject([unit]);
  await time.holdfast.approve(flowOf(actions.workflowId), { ...GRACE, commandId: 'r' });
  await pass(MINUTE);
  expect(await moved()).toHaveLength(2);
});

test.each([
  ['in clear', stranger, 'stored'],
  ['by a worker', () => time.client, 'notExecuted'],
])('that a token is not there is believed as a worker says it: %s', async (_how, who, status) => {
  const reading = time.hold('getToken');
  const flow = await beginFlow(time, 'storeCard', await inputOf(time, 'storeCard'));
  await reading.reached;
  const { workflowId } = flow;
  const { raw } = await time.client.workflow.getHandle(workflowId).describe();
  const { activityId } = (raw.pendingActivities ?? []).find((one) => one.activityType?.name === 'getToken') ?? {};
  const details = [{ moreInfo: 'token: not found', mayHaveLeft: true, httpStatus: 404 }];
  const failure = ApplicationFailure.create({ type: 'NotFound', message: 'not found', nonRetryable: true, details });
  await who().activity.fail({ workflowId, activityId: activityId ?? '' }, failure);
  reading.release();
  expect(await flow.outcome()).toMatchObject({ status });
});
