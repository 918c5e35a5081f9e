import { afterEach, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginActions, beginHeld, beginHold, ledgerRows } from '../../support/virtual-flows.js';
import { braking } from './braking.js';
import {
  answers,
  beginFlow,
  DAY,
  failsWith,
  HOUR,
  inputOf,
  keysOf,
  MINUTE,
  provideVoidsOfPending,
  sharedTime,
} from './context.js';

const time = sharedTime();
const { brake, release } = braking(time);

const HELD = 'authorization Succeed 20000 USD';
const PART = 'capture Succeed 7000 USD';

/** RESET_REAPPLY_EXCLUDE_TYPE_UPDATE. */
const UPDATES = 2;

describe('a hold that is reset after a part was captured', () => {
  test('does not answer a new capture of the same part with the one that was made', async () => {
    const hold = await beginHeld(time, { amount: 20_000 });
    expect(await hold.ask('capture', { commandId: 'one', amount: 7_000 })).toMatchObject({ status: 'succeeded' });
    const { transactionId } = await hold.outcome();
    const slow = time.hold('getPayment');
    await resetToFirstTask(time.client, hold.workflowId);
    await slow.reached;
    const again = time.client.workflow.getHandle(hold.workflowId);
    const two = again.executeUpdate('capture', { args: [{ commandId: 'two', amount: 7_000 }], updateId: 'two' });
    two.catch(() => undefined);
    slow.release();
    await time.passUntil((await time.now()) + DAY);
    await expect(two).rejects.toMatchObject(failsWith('StateConflict'));
    expect(await again.result()).toMatchObject({ status: 'captured', capturedAmount: 7_000, transactionId });
    expect(await movements(time, hold.reference)).toEqual([HELD, PART]);
  });

  test('whose capture is not given again is found captured by the look before anything is sent', async () => {
    const hold = await beginHeld(time, { amount: 20_000, onDeadline: 'capture' });
    expect(await hold.ask('capture', { commandId: 'one', amount: 7_000 })).toMatchObject({ status: 'succeeded' });
    await hold.outcome();
    await resetToFirstTask(time.client, hold.workflowId, [UPDATES]);
    const handle = time.client.workflow.getHandle(hold.workflowId);
    expect(await handle.result()).toMatchObject({ status: 'captured', capturedAmount: 7_000 });
    expect(await movements(time, hold.reference)).toEqual([HELD, PART]);
  });
});

describe('a capture after one that used up its key and moved nothing', () => {
  const refused = async (hold: Awaited<ReturnType<typeof beginHeld>>, first: object): Promise<void> => {
    const { paymentId = '' } = await hold.status();
    await time.sandbox.addFault({ ...answers(409, 'POST', `/payments/${paymentId}/captures`), times: 1 });
    await expect(hold.ask('capture', first)).rejects.toMatchObject(failsWith('StateConflict'));
  };
  const braked = async (hold: Awaited<ReturnType<typeof beginHeld>>, first: object): Promise<void> => {
    await brake({ captures: true });
    expect(await hold.ask('capture', first)).toMatchObject({ status: 'notExecuted' });
    await release();
  };

  test.each([
    ['a brake', braked, 7_000],
    ['the service', refused, 7_000],
    ['a brake, of another sum', braked, 5_000],
  ] as const)('is told as it was to a run made by a reset: %s', async (_what, stop, amount) => {
    const hold = await beginHeld(time, { amount: 20_000 });
    await stop(hold, { commandId: 'a', amount });
    const { transactionId } = await hold.ask('capture', { commandId: 'b', amount: 7_000 });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId });
    await time.passUntil((await time.now()) + 2 * HOUR);
    await resetToFirstTask(time.client, hold.workflowId);
    await time.passUntil((await time.now()) + DAY);
    const { outcome } = await hold.status();
    expect(outcome).toMatchObject({
      status: 'captured',
      transactionId,
      actions: [{ commandId: 'b', outcome: { status: 'succeeded', transactionId } }],
    });
    expect(await movements(time, hold.reference)).toEqual([HELD, PART]);
  });
});

describe('a hold that is reset hours after it was captured', () => {
  test('says so at once where the capture is not given again, and not at its deadline', async () => {
    const hold = await beginHeld(time, { amount: 20_000 });
    expect(await hold.ask('capture', { commandId: 'one', amount: 7_000 })).toMatchObject({ status: 'succeeded' });
    await hold.outcome();
    await time.passUntil((await time.now()) + 2 * HOUR);
    await resetToFirstTask(time.client, hold.workflowId, [UPDATES]);
    await time.passUntil((await time.now()) + 10 * MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'captured', outcome: { capturedAmount: 7_000 } });
    expect(await movements(time, hold.reference)).toEqual([HELD, PART]);
  });

  test.each([
    ['does not answer that look', 503],
    ['says once that it knows no such payment', 404],
  ])('says so within half an hour where the service %s', async (_what, status) => {
    const hold = await beginHeld(time, { amount: 20_000 });
    expect(await hold.ask('capture', { commandId: 'one', amount: 7_000 })).toMatchObject({ status: 'succeeded' });
    await hold.outcome();
    const { paymentId = '' } = await hold.status();
    await time.passUntil((await time.now()) + 2 * HOUR);
    const away = await time.sandbox.addFault(answers(status, 'GET', `/payments/${paymentId}`));
    await resetToFirstTask(time.client, hold.workflowId, [UPDATES]);
    await time.passUntil((await time.now()) + 10 * MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'authorized' });
    await time.sandbox.removeFault(away.id);
    await time.passUntil((await time.now()) + 20 * MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'captured', outcome: { capturedAmount: 7_000 } });
    expect(await movements(time, hold.reference)).toEqual([HELD, PART]);
  });

  /** Its flow was terminated, and a command to its payment has captured a part. */
  async function capturedByPayment(first?: object) {
    const hold = await beginHeld(time, { amount: 20_000 });
    const { paymentId = '' } = await hold.status();
    if (first !== undefined) {
      await time.sandbox.addFault({ ...answers(409, 'POST', `/payments/${paymentId}/captures`), times: 1 });
      await expect(hold.ask('capture', first)).rejects.toMatchObject(failsWith('StateConflict'));
    }
    await time.client.workflow.getHandle(hold.workflowId).terminate('by mistake');
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: hold.reference });
    const captured = await actions.ask('capture', { commandId: 'late', amount: 7_000 });
    expect(captured).toMatchObject({ status: 'succeeded' });
    await time.passUntil((await time.now()) + 2 * HOUR);
    await resetToFirstTask(time.client, hold.workflowId);
    return { hold, paymentId, transactionId: captured.transactionId };
  }

  test('by a command to its payment, since its flow was terminated: it is found', async () => {
    const { hold, paymentId, transactionId } = await capturedByPayment();
    await time.passUntil((await time.now()) + 10 * MINUTE);
    const outcome = { capturedAmount: 7_000, transactionId };
    expect(await hold.status()).toMatchObject({ status: 'captured', outcome });
    expect(await ledgerRows(time, paymentId)).toEqual([HELD, PART]);
  });

  test('and is given a capture again that was refused before: nothing is captured a second time', async () => {
    const { hold, paymentId } = await capturedByPayment({ commandId: 'one', amount: 7_000 });
    await time.passUntil((await time.now()) + 10 * MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'captured', outcome: { capturedAmount: 7_000 } });
    expect(time.requests.operations(paymentId, 'captures')).toHaveLength(2);
    expect(await ledgerRows(time, paymentId)).toEqual([HELD, PART]);
  });
});

test('a void that an earlier run refused does not overtake the capture that it has made', async () => {
  const faults = [{ action: 'result', status: 'Pending', path: '*/captures' } as const];
  await time.sandbox.settings({ pendingMs: DAY });
  const hold = await beginHold(time, { captureMode: 'auto' }, { faults });
  await time.passUntil(hold.startedAt + 2_000);
  const { operation, paymentId = '', transactionId = '' } = await hold.status();
  expect(operation).toBe('capture');
  await expect(hold.ask('void', { commandId: 'released' })).rejects.toMatchObject(failsWith('StateConflict'));
  await time.sandbox.complete(transactionId, { status: 'Succeed' });
  expect(await hold.outcome()).toMatchObject({ status: 'captured' });
  await time.sandbox.settings({ pendingMs: 10_000 });
  await resetToFirstTask(time.client, hold.workflowId);
  const handle = time.client.workflow.getHandle(hold.workflowId);
  expect(await handle.result()).toMatchObject({ status: 'captured', transactionId });
  expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
});

describe('a void of a charge that pends', () => {
  const RELEASE = { commandId: 'released' };

  async function pendingCharge(pends: 'allowed' | 'refused') {
    await provideVoidsOfPending(time, pends);
    await time.sandbox.settings({ pendingMs: HOUR });
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card: CARDS.pendsThenSucceeds }));
    await time.passUntil(flow.startedAt + 2_000);
    return flow;
  }

  afterEach(async () => {
    await provideVoidsOfPending(time, 'refused');
    await time.sandbox.settings({ pendingMs: 10_000 });
    for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
  });

  test('is carried out once by the run that a reset makes, whatever was refused before it', async () => {
    const flow = await pendingCharge('refused');
    const { paymentId, transactionId = '' } = await flow.status();
    await expect(flow.ask('void', { commandId: 'too early' })).rejects.toMatchObject(failsWith('StateConflict'));
    await provideVoidsOfPending(time, 'too_late');
    await flow.command('void', RELEASE);
    await time.passUntil(flow.startedAt + 5_000);
    await resetToFirstTask(time.client, flow.workflowId);
    await time.passUntil(flow.startedAt + 10_000);
    await expect(flow.ask('void', RELEASE)).rejects.toMatchObject(failsWith('StateConflict', 'it has been voided'));
    await time.sandbox.complete(transactionId, { status: 'Failed', category: 'payment_method_declined' });
    const handle = time.client.workflow.getHandle(flow.workflowId);
    expect(await handle.result()).toMatchObject({ status: 'voided' });
    const sent = time.requests.operations(paymentId ?? '', 'voids').map(({ key = '' }) => key.split(':').at(-1));
    expect(new Set(sent)).toEqual(new Set(['1']));
  });

  test('is not taken for its own by the run that a reset makes where it is foreign', async () => {
    const flow = await pendingCharge('allowed');
    const { paymentId = '' } = await flow.status();
    await time.provider.createVoid(
      paymentId,
      { additionalDetails: { holdfast_key: 'payment-another:void:1' } },
      { idempotencyKey: 'of-a-person' },
    );
    await flow.command('void', RELEASE);
    expect(await flow.outcome()).toMatchObject({ status: 'declined' });
    await resetToFirstTask(time.client, flow.workflowId);
    const handle = time.client.workflow.getHandle(flow.workflowId);
    expect(await handle.result()).toMatchObject({ status: 'declined' });
  });

  test('nor where the service names the flow of none, and there are two', async () => {
    const echoes = async (echo_additional_details: boolean) =>
      await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { echo_additional_details } });
    const flow = await pendingCharge('allowed');
    const { paymentId = '' } = await flow.status();
    await echoes(false);
    await time.sandbox.addFault({ action: 'result', status: 'Failed', path: `/payments/${paymentId}/voids`, times: 1 });
    for (const idempotencyKey of ['of-a-person', 'of-another'])
      await time.provider.createVoid(paymentId, {}, { idempotencyKey: `${idempotencyKey}-${paymentId}` });
    await flow.command('void', RELEASE);
    expect(await flow.outcome()).toMatchObject({ status: 'declined' });
    await resetToFirstTask(time.client, flow.workflowId);
    const handle = time.client.workflow.getHandle(flow.workflowId);
    expect(await handle.result()).toMatchObject({ status: 'declined' });
    await echoes(true);
  });

  test('that an earlier run has sent is followed although the list of voids fails for a while', async () => {
    const flow = await pendingCharge('allowed');
    const { paymentId } = await flow.status();
    await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `/payments/${paymentId}/voids` });
    const { answer } = await flow.command('void', RELEASE);
    await time.passUntil(flow.startedAt + 4_000);
    const { operation, transactionId = '' } = await flow.status();
    expect(operation).toBe('void');
    await provideVoidsOfPending(time, 'refused');
    await time.sandbox.addFault({ ...answers(503, 'GET', `/payments/${paymentId}/voids`), times: 4 });
    await resetToFirstTask(time.client, flow.workflowId);
    await time.passUntil(flow.startedAt + 3 * MINUTE);
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    const handle = time.client.workflow.getHandle(flow.workflowId);
    const outcome = await handle.result();
    answer.catch(() => undefined);
    expect(outcome).toMatchObject({ despiteVoid: { status: 'succeeded', transactionId } });
    expect(keysOf(time, flow.reference).filter((key) => key.startsWith('void'))).toEqual(['void:1']);
  });
});
