import { describe, expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import type { FaultInput } from '../../../sandbox/control.js';
import { begin, beginHeld, reviewedInput, SPECS } from '../../support/virtual-flows.js';
import { resetTo, resetToFirstTask } from '../../support/resets.js';
import { plant, signalEvent } from '../../time/checks.js';
import {
  answers,
  beginFlow,
  DAY,
  DONE,
  FLOW_TYPES,
  HOUR,
  inputOf,
  MINUTE,
  OPERATOR,
  sharedTime,
  startRaw,
} from './context.js';

const time = sharedTime();

const PENDS: FaultInput = { action: 'result', status: 'Pending', path: '*/charges' };

/** Resets a flow to its first task, and cancels the run that this makes before it has done anything. */
async function resetAndCancel(workflowId: string): Promise<void> {
  await time.stopWorker();
  await reset(workflowId);
  await time.client.workflow.getHandle(workflowId).cancel();
  await time.startWorker();
}

/** To the end of its first task, or of the one that took the named command: the engine then gives that once more. */
async function reset(workflowId: string, command?: string): Promise<void> {
  const { events = [] } = await time.client.workflow.getHandle(workflowId).fetchHistory();
  const accepted = events?.findIndex(
    (event) => event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name === command,
  );
  const tasks = (command === undefined ? events : events?.slice(0, accepted))?.filter(
    (event) => event.workflowTaskCompletedEventAttributes,
  );
  const first = command === undefined ? tasks?.[0] : tasks?.at(-1);
  await resetTo(time.client, { workflowId }, first?.eventId);
}

describe.each(FLOW_TYPES.filter((type) => type !== 'analyseRisk'))('a %s that is reset and then cancelled', (type) => {
  test.each([
    ['our client', async (input: { reference: string }) => (await beginFlow(time, type, input)).workflowId],
    ['another program', async (input: { reference: string }) => (await startRaw(time, type, input)).workflowId],
  ])('started by %s finds what the run before has done, and does not say that nothing was sent', async (_by, start) => {
    const input = await inputOf(time, type);
    const workflowId = await start(input);
    const handle = time.client.workflow.getHandle(workflowId);
    const { status: before } = (await handle.result()) as { status: string };
    await resetAndCancel(workflowId);
    const { status: after } = (await handle.result()) as { status: string };
    expect(after).toBe(before);
    expect(await movements(time, input.reference)).toEqual(DONE[type]);
  });

  test('before it has done anything sends nothing, and is not executed', async () => {
    const input = await inputOf(time, type);
    await time.stopWorker();
    const { workflowId } = await beginFlow(time, type, input);
    const handle = time.client.workflow.getHandle(workflowId);
    await handle.cancel();
    await time.startWorker();
    await expect(handle.result()).rejects.toMatchObject({ cause: { message: expect.stringContaining('ancel') } });
    await resetAndCancel(workflowId);
    expect(await handle.result()).toMatchObject({ status: 'notExecuted' });
    expect(await movements(time, input.reference)).toEqual([]);
  });
});

test('a reset of a hold whose capture pends follows that capture, and tells of it although it fails', async () => {
  const faults: FaultInput[] = [{ action: 'result', status: 'Pending', path: '*/captures' }];
  await time.sandbox.settings({ pendingMs: DAY });
  const hold = await beginHeld(time, {}, { faults });
  await hold.command('capture', { commandId: 'take', amount: 5_000 });
  await time.passUntil(hold.startedAt + 3 * MINUTE);
  const { transactionId = '' } = await hold.status();
  await reset(hold.workflowId, 'capture');
  await time.passUntil(hold.startedAt + HOUR);
  await time.sandbox.complete(transactionId, { status: 'Failed', category: 'payment_method_declined' });
  const outcome = await time.client.workflow.getHandle(hold.workflowId).result();
  expect(outcome).toMatchObject({
    status: 'voided',
    actions: [{ commandId: 'take', outcome: { status: 'declined', transactionId } }],
  });
  expect(await movements(time, hold.reference)).toEqual([
    'authorization Succeed 6000 USD',
    'capture Failed 5000 USD',
    'void Succeed 6000 USD',
  ]);
  await time.sandbox.settings({ pendingMs: 10_000 });
});

describe('a reset of a charge whose review an operator had approved', () => {
  test('finds its money although the risk provider has declined since', async () => {
    const input = await reviewedInput(time, { risk: { when: 'before' } });
    const flow = await begin(time, SPECS.charge(input));
    await time.passUntil(flow.startedAt + 60_000);
    const { paymentId } = await flow.status();
    await flow.ask('decideReview', { ...OPERATOR, decision: 'approve' });
    const outcome = await flow.outcome();
    expect(outcome).toMatchObject({ status: 'succeeded' });
    const analyses = await time.provider.listRiskAnalyses(paymentId ?? '');
    await time.sandbox.decideRisk(analyses.data[0]?.id ?? '', 'decline');
    await reset(flow.workflowId);
    expect(await time.client.workflow.getHandle(flow.workflowId).result()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 6000 USD']);
  });
});

test('a flow that was told and asked in turns is replayed after a reset in the order in which it ran', async () => {
  await time.sandbox.settings({ pendingMs: DAY });
  const input = await time.input();
  await time.sandbox.addFault({ ...PENDS, reconciliation_id: input.reference });
  const flow = await begin(time, SPECS.charge(input));
  await time.passUntil(flow.startedAt + HOUR);
  const { transactionId = '' } = await flow.status();
  const ask = () => time.holdfast.charge(input, { waitFor: '1 minute' });
  for (let round = 0; round < 4; round += 1) {
    await ask();
    await flow.event({ eventType: 'charge.updated', status: 'Pending', transactionId });
    await Promise.all([ask(), ask(), ask()]);
    await time.holdfast.retryNow({ workflowId: flow.workflowId });
  }
  // The engine gives all of it again at once: questions and commands as events among the signals.
  await reset(flow.workflowId, 'outcome');
  await time.passUntil((await time.now()) + HOUR);
  // A worker that has never seen the flow replays it.
  await time.stopWorker();
  await time.startWorker();
  expect(await time.holdfast.status({ workflowId: flow.workflowId })).toMatchObject({ status: 'pending' });
  await time.sandbox.complete(transactionId, { status: 'Succeed' });
  expect(await time.client.workflow.getHandle(flow.workflowId).result()).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
  await time.sandbox.settings({ pendingMs: 10_000 });
});

test('a reset flow that refuses questions for want of room goes on at a worker that has never seen it', async () => {
  await time.sandbox.settings({ pendingMs: DAY });
  const input = await time.input();
  await time.sandbox.addFault({ ...PENDS, reconciliation_id: input.reference });
  for (let round = 0; round < 3; round += 1)
    await Promise.all([1, 2, 3, 4, 5].map(() => time.holdfast.charge(input, { waitFor: '1 minute' })));
  // The engine gives all fifteen questions again at once, and eight find room.
  const workflowId = `payment-${input.reference}`;
  await reset(workflowId);
  await time.passUntil((await time.now()) + HOUR);
  await time.stopWorker();
  await time.startWorker();
  const { transactionId = '' } = await time.holdfast.status({ workflowId });
  await time.sandbox.complete(transactionId, { status: 'Succeed' });
  expect(await time.client.workflow.getHandle(workflowId).result()).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
  await time.sandbox.settings({ pendingMs: 10_000 });
});

test('an event that comes with the first task of a run is taken, and no unknown signal', async () => {
  const input = await time.input();
  await plant(time, input, PENDS);
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + MINUTE);
  const { paymentId = '', transactionId = '' } = await charge.status();
  const unread = await plant(time, input, answers(503, 'GET', '*'));
  await time.sandbox.complete(transactionId, { status: 'Succeed' });
  await signalEvent(time, charge, { paymentId, transactionId });
  expect(await charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
  await resetToFirstTask(time.client, charge.workflowId);
  await time.passUntil((await time.now()) + MINUTE);
  // It looks because of the event: what it was told before the reset proves no more than that there is something to read.
  expect(await charge.status()).toMatchObject({ status: 'started', ignored: { readFailed: expect.any(Number) } });
  expect((await charge.status()).ignored).not.toHaveProperty('unknownSignal');
  await time.sandbox.removeFault(unread.id);
  await time.passUntil((await time.now()) + HOUR);
  expect(await charge.outcome()).toMatchObject({ status: 'succeeded', transactionId });
});
