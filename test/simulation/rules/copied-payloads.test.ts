import { defaultPayloadConverter, defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { beforeAll, describe, expect, test } from 'vitest';
import { parkedEventsOf } from '../../../src/client/parked-events.js';
import {
  parkedEventWorkflowId,
  PAYMENTS_TASK_QUEUE,
  SIGNAL_NAMES,
  WORKFLOW_TYPES,
} from '../../../src/contract/names.js';
import { takeCopies } from '../../support/copies.js';
import { callOf, copierOf, type HistoryEvent, payloadIn } from '../../support/copier.js';
import { beginActions, ledgerRows } from '../../support/virtual-flows.js';
import { beginFlow, failsWith, HOUR, inputOf, MINUTE, sharedTime } from './context.js';

const time = sharedTime();

beforeAll(() => {
  const { simulation } = time;
  for (const worker of simulation.workers) worker.kill();
  simulation.startWorker({ env: { HOLDFAST_PLAIN_PAYLOADS: 'refuse' } });
});

const updateArgument = (event: HistoryEvent) =>
  event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.args?.payloads;
const startArgument = (event: HistoryEvent) => event.workflowExecutionStartedEventAttributes?.input?.payloads;
async function charged() {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = await flow.outcome();
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: flow.reference });
  return { ...flow, paymentId, actions, moved: async () => await ledgerRows(time, paymentId) };
}

/** A payment of which 20.00 USD were refunded, and another one. */
async function refundedAndOther() {
  const refunded = await charged();
  await refunded.actions.ask('refund', { commandId: 'r', amount: 2_000 });
  return { refunded, other: await charged() };
}

async function pendingCharge() {
  const faults = [{ action: 'result', status: 'Pending', path: '*/charges' } as const];
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), faults);
  await time.passUntil((await time.now()) + 1_000);
  const { paymentId = '', transactionId = '', businessUnit, amount, currency } = await flow.status();
  return { flow, paymentId, transactionId, businessUnit, amount, currency };
}

/** An event that waits for a person, as the list shows it; nobody serves its flow. */
async function parkedEvent({ flow, ...of }: Awaited<ReturnType<typeof pendingCharge>>) {
  const hash = 'f'.repeat(64);
  const event = { ...of, hash, eventType: 'payment.charge.update', created: String(flow.startedAt), trusted: true };
  const start = {
    taskQueue: 'nobody',
    typedSearchAttributes: [
      { key: defineSearchAttributeKey('PaymentId', SearchAttributeType.KEYWORD), value: of.paymentId },
      { key: defineSearchAttributeKey('NeedsOperator', SearchAttributeType.BOOL), value: true },
    ],
  };
  const parked = await time.client.workflow.start(WORKFLOW_TYPES.parkedEvent, {
    ...start,
    workflowId: parkedEventWorkflowId(hash),
    args: [{ event, reason: 'unknownTransaction' }],
  });
  return { parked, start };
}

const CHARGED = ['charge Succeed 6000 USD'];
const REFUNDED = [...CHARGED, 'refund Succeed 2000 USD'];

describe('a copy of what was encrypted for one payment', () => {
  test('refunds nothing of another one: the command', async () => {
    const { refunded, other } = await refundedAndOther();
    const command = await payloadIn(time.client, refunded.actions.workflowId, updateArgument);
    const sent = copierOf(time.client, command)
      .workflow.getHandle(other.actions.workflowId)
      .executeUpdate('refund', { args: ['copy'] });
    await expect(sent).rejects.toMatchObject(failsWith('InvalidInput', 'was encrypted for another flow'));
    await time.passUntil((await time.now()) + HOUR);
    expect([await refunded.moved(), await other.moved()]).toEqual([REFUNDED, CHARGED]);
    expect(takeCopies()).toContainEqual({
      workflowId: other.actions.workflowId,
      encryptedFor: refunded.actions.workflowId,
    });
    // What is meant for it is taken.
    await other.actions.ask('refund', { commandId: 'r', amount: 2_000 });
    expect(await other.moved()).toEqual(REFUNDED);
    expect(takeCopies()).toEqual([]);
  });

  test("moves nothing from a stranger's workflow: the call of an activity", async () => {
    const { refunded } = await refundedAndOther();
    const call = await payloadIn(time.client, refunded.actions.workflowId, callOf('createRefund'));
    const before = time.requests.posts(refunded.reference).length;
    const { workflow, workflowService, options } = copierOf(time.client, call);
    const { namespace } = options;
    const workflowId = `stranger-${refunded.reference}`;
    await workflow.start('stranger', { taskQueue: 'stranger', workflowId });
    const task = await workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: 'stranger' } });
    await workflowService.respondWorkflowTaskCompleted({
      namespace,
      taskToken: task.taskToken,
      commands: [
        {
          scheduleActivityTaskCommandAttributes: {
            activityId: '1',
            activityType: { name: 'createRefund' },
            taskQueue: { name: PAYMENTS_TASK_QUEUE },
            input: { payloads: [call] },
            startToCloseTimeout: { seconds: 60 as never },
          },
        },
      ],
    });
    await time.passUntil((await time.now()) + MINUTE);
    const { events } = await workflow.getHandle(workflowId).fetchHistory();
    const failure = events?.map((event) => event.activityTaskFailedEventAttributes?.failure).find(Boolean);
    expect(failure?.applicationFailureInfo).toMatchObject({ type: 'InvalidInput', nonRetryable: true });
    expect(time.requests.posts(refunded.reference)).toHaveLength(before);
    expect(await refunded.moved()).toEqual(REFUNDED);
    expect(takeCopies()).toContainEqual({ workflowId, encryptedFor: refunded.actions.workflowId });
  });

  test.each([
    ['without a word', undefined],
    ['with details in clear', { mayHaveLeft: false, httpStatus: 400 }],
  ])('and a failure that no worker has written, %s, refuses no call that is under way', async (_how, details) => {
    const { actions, moved } = await charged();
    const held = time.hold('createRefund');
    const { answer } = await actions.command('refund', { commandId: 'r', amount: 2_000 });
    await held.reached;
    const { workflowService, options } = time.client;
    const { events } = await time.client.workflow.getHandle(actions.workflowId).fetchHistory();
    const call = events?.map((event) => event.activityTaskScheduledEventAttributes).findLast(Boolean);
    await workflowService.respondActivityTaskFailedById({
      namespace: options.namespace,
      workflowId: actions.workflowId,
      activityId: call?.activityId ?? '',
      failure: {
        message: 'refused',
        applicationFailureInfo: {
          type: 'InvalidInput',
          nonRetryable: true,
          ...(details !== undefined && { details: { payloads: [defaultPayloadConverter.toPayload(details)] } }),
        },
      },
    });
    await time.passUntil((await time.now()) + 10 * MINUTE);
    held.release();
    await time.passUntil((await time.now()) + HOUR);
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(await moved()).toEqual(REFUNDED);
  });

  test('is no event of another one, and none that was parked', async () => {
    const [charge, other] = [await pendingCharge(), await pendingCharge()];
    await charge.flow.event({ eventType: 'payment.charge.update', transactionId: 'of nobody' });
    const signalled = (event: HistoryEvent) => event.workflowExecutionSignaledEventAttributes?.input?.payloads;
    const event = await payloadIn(time.client, charge.flow.workflowId, signalled);
    await copierOf(time.client, event)
      .workflow.getHandle(other.flow.workflowId)
      .signal(SIGNAL_NAMES.transactionEvent, 'copy');
    expect(await other.flow.status()).toMatchObject({ status: 'pending', ignored: { eventInClear: 1 } });

    const { parked, start } = await parkedEvent(charge);
    const { paymentId } = charge;
    expect(await parkedEventsOf(time.client, paymentId)).toHaveLength(1);
    const workflowId = parkedEventWorkflowId('e'.repeat(64));
    await copierOf(time.client, await payloadIn(time.client, parked.workflowId, startArgument)).workflow.start(
      WORKFLOW_TYPES.parkedEvent,
      {
        ...start,
        workflowId,
        args: ['copy'],
      },
    );
    expect(await parkedEventsOf(time.client, paymentId)).toHaveLength(1);
    const ofSignal = { workflowId: other.flow.workflowId, encryptedFor: charge.flow.workflowId };
    const ofStart = { workflowId, encryptedFor: parked.workflowId };
    expect(takeCopies()).toEqual(expect.arrayContaining([ofSignal, ofStart]));
    for (const { flow, transactionId } of [charge, other]) {
      await time.sandbox.complete(transactionId, { status: 'Succeed' });
      await time.passUntil((await time.now()) + HOUR);
      expect(await flow.outcome()).toMatchObject({ evidence: { knownBy: 'poll' } });
    }
  });
});
