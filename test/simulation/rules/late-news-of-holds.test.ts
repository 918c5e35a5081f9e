import { afterEach, describe, expect, test } from 'vitest';
import { SIGNAL_NAMES } from '../../../src/contract/names.js';
import { storedInSkippedTime } from '../../support/cards.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginHeld, type VirtualFlow } from '../../support/virtual-flows.js';
import { answers, DAY, declined, failsWith, HOUR, MINUTE, sharedTime } from './context.js';

const time = sharedTime();

const pass = async (ms: number): Promise<void> => await time.passUntil((await time.now()) + ms);

afterEach(async () => {
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

/** A hold of such a card can be replaced. */
const onFile = async () => ({
  ...(await storedInSkippedTime(time)),
  cardOnFile: { entryMode: 'cof_cardholder_initiated_transaction' as const },
});

test('a capture by somebody else that is told while a void pends calls a person, however the void ends', async () => {
  const hold = await beginHeld(time);
  const { paymentId } = await hold.status();
  await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `/payments/${paymentId}/voids` });
  await hold.command('void', { commandId: 'off' });
  await pass(2_000);
  const { transactionId: voidId = '' } = await hold.status();
  await hold.event({ eventType: 'payment.capture.create', transactionId: 'others', status: 'Succeed', amount: 5_000 });
  await pass(2_000);
  await time.sandbox.complete(voidId, { status: 'Succeed' });
  expect(await hold.outcome()).toMatchObject({ status: 'voided' });
  expect(await hold.status()).toMatchObject({
    needsOperator: true,
    operatorReason: expect.stringContaining('capture others Succeed'),
  });
});

describe('a signed event that calls a capture Succeed which was answered as declined', () => {
  const SUCCEEDS = { eventType: 'payment.capture.update', status: 'Succeed', amount: 6_000 } as const;

  async function declinedOnce(more: object = {}) {
    const hold = await beginHeld(time, { onDeadline: 'capture', captureDeadline: '4 hours', ...more });
    const { paymentId } = await hold.status();
    await time.sandbox.addFault({ ...declined(`/payments/${paymentId}/captures`), times: 1 });
    const { status, transactionId = '' } = await hold.ask('capture', { commandId: 'one' });
    expect(status).toBe('declined');
    return { hold, transactionId };
  }

  /** The event waits at the engine while no worker is there. */
  async function tellWhileAway(hold: VirtualFlow<unknown>, transactionId: string): Promise<void> {
    const { paymentId = '', currency, businessUnit } = await hold.status();
    const event = { ...SUCCEEDS, hash: 'late', created: String(hold.startedAt), businessUnit, paymentId, currency };
    await time.stopWorker();
    const handle = time.client.workflow.getHandle(hold.workflowId);
    await handle.signal(SIGNAL_NAMES.transactionEvent, { ...event, transactionId, trusted: true });
  }

  async function contradicted(trusted: boolean) {
    const { hold, transactionId } = await declinedOnce();
    await hold.event({ ...SUCCEEDS, transactionId, trusted });
    return { hold, transactionId };
  }

  test('calls a person, and nothing captures again: not a command, nor the deadline', async () => {
    const { hold, transactionId } = await contradicted(true);
    const again = hold.ask('capture', { commandId: 'two' });
    await expect(again).rejects.toMatchObject(failsWith('StateConflict', 'could take the money twice'));
    expect(await hold.status()).toMatchObject({
      status: 'authorized',
      needsOperator: true,
      operatorReason: `an event calls capture ${transactionId} Succeed, and it was answered otherwise`,
    });
    await time.passUntil(hold.startedAt + 5 * HOUR);
    const moved = await movements(time, hold.reference);
    expect(moved.filter((row) => row.startsWith('capture'))).toEqual(['capture Failed 6000 USD']);
  });

  /** The event comes while another capture pends. */
  async function whileAnotherPends() {
    const { hold, transactionId: first } = await declinedOnce();
    const { paymentId } = await hold.status();
    const path = `/payments/${paymentId}/captures`;
    await time.sandbox.addFault({ action: 'result', status: 'Pending', path, times: 1 });
    await hold.command('capture', { commandId: 'two' });
    await pass(2_000);
    const { transactionId: second = '' } = await hold.status();
    await hold.event({ ...SUCCEEDS, transactionId: first });
    await pass(2_000);
    return { hold, first, second };
  }

  test('does so also if another one was pending then, and has failed', async () => {
    const { hold, second } = await whileAnotherPends();
    await time.sandbox.complete(second, { status: 'Failed', category: 'payment_method_declined' });
    await pass(MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
    const third = hold.ask('capture', { commandId: 'three' });
    await expect(third).rejects.toMatchObject(failsWith('StateConflict', 'could take the money twice'));
  });

  test('calls a person if another one was pending then, and has succeeded: both may have taken the money', async () => {
    const { hold, first, second } = await whileAnotherPends();
    await time.sandbox.complete(second, { status: 'Succeed' });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId: second });
    const { needsOperator, operatorReason } = await hold.status();
    expect(needsOperator).toBe(true);
    expect(operatorReason).toContain(`an event calls capture ${first} Succeed`);
  });

  test('refuses no capture that the run before a reset has executed before it was told', async () => {
    const { hold, second } = await whileAnotherPends();
    await time.sandbox.complete(second, { status: 'Succeed' });
    await hold.outcome();
    await resetToFirstTask(time.client, hold.workflowId);
    await pass(HOUR);
    const handle = time.client.workflow.getHandle(hold.workflowId);
    expect(await handle.result()).toMatchObject({ status: 'captured', transactionId: second });
    const again = await time.holdfast.capture(hold.reference, { commandId: 'two' });
    expect(again).toMatchObject({ status: 'succeeded', transactionId: second });
    const moved = await movements(time, hold.reference);
    expect(moved.filter((row) => row.startsWith('capture'))).toHaveLength(2);
  });

  test('goes before a command that comes with it', async () => {
    const { hold, transactionId } = await declinedOnce();
    await tellWhileAway(hold, transactionId);
    const again = hold.ask('capture', { commandId: 'two' });
    const refused = expect(again).rejects.toMatchObject(failsWith('StateConflict', 'could take the money twice'));
    await time.startWorker();
    await pass(MINUTE);
    await refused;
  });

  test('stops one that has begun and could not be sent yet, and calls a person at once', async () => {
    const { hold, transactionId } = await declinedOnce();
    const { paymentId } = await hold.status();
    const fault = await time.sandbox.addFault(answers(401, 'POST', `/payments/${paymentId}/captures`));
    const { answer } = await hold.command('capture', { commandId: 'two' });
    await pass(MINUTE);
    await hold.event({ ...SUCCEEDS, transactionId });
    await pass(MINUTE);
    expect((await hold.status()).operatorReason).toContain(`an event calls capture ${transactionId} Succeed`);
    await time.sandbox.removeFault(fault.id);
    await time.holdfast.retryNow({ workflowId: hold.workflowId });
    await pass(3 * HOUR);
    expect(await answer).toMatchObject({ status: 'notExecuted' });
    const moved = await movements(time, hold.reference);
    expect(moved.filter((row) => row.startsWith('capture'))).toEqual(['capture Failed 6000 USD']);
  });

  test('stops a void that has begun and could not be sent yet: captured money must not be voided', async () => {
    const { hold, transactionId } = await declinedOnce({ captureDeadline: '8 hours' });
    const { paymentId } = await hold.status();
    const fault = await time.sandbox.addFault(answers(503, 'POST', `/payments/${paymentId}/voids`));
    const { answer } = await hold.command('void', { commandId: 'off' });
    await pass(MINUTE);
    await hold.event({ ...SUCCEEDS, transactionId });
    await pass(MINUTE);
    await time.sandbox.removeFault(fault.id);
    await pass(4 * HOUR);
    expect(await answer).toMatchObject({ status: 'notExecuted' });
    const moved = await movements(time, hold.reference);
    expect(moved).toEqual(['authorization Succeed 6000 USD', 'capture Failed 6000 USD']);
  });

  test('takes the answer of one that is under way, which may be the only evidence ever', async () => {
    const { hold, transactionId } = await declinedOnce();
    const { paymentId } = await hold.status();
    for (const path of [`/payments/${paymentId}/captures`, `/payments/${paymentId}/captures/*`])
      await time.sandbox.addFault(answers(405, 'GET', path));
    const sending = time.hold('createCapture');
    const { answer } = await hold.command('capture', { commandId: 'two' });
    await sending.reached;
    await hold.event({ ...SUCCEEDS, transactionId });
    await pass(1_000);
    sending.release();
    await pass(MINUTE);
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(await hold.status()).toMatchObject({ status: 'captured', needsOperator: true });
  });

  test('bars a reauthorization that comes with it', async () => {
    const { hold, transactionId } = await declinedOnce(await onFile());
    await tellWhileAway(hold, transactionId);
    const longer = hold.ask('reauthorize', { commandId: 'longer' });
    const refused = expect(longer).rejects.toMatchObject(failsWith('StateConflict', 'the money may have been taken'));
    await time.startWorker();
    await pass(MINUTE);
    await refused;
    expect((await movements(time, hold.reference))[0]).toBe('authorization Succeed 6000 USD');
    expect(await movements(time, hold.reference)).toHaveLength(2);
  });

  test('calls a person also if it comes once that hold was replaced', async () => {
    const { hold, transactionId } = await declinedOnce(await onFile());
    const { paymentId } = await hold.status();
    expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
    await hold.event({ ...SUCCEEDS, transactionId, paymentId: paymentId ?? '' });
    await pass(MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
  });

  test('of another business unit calls nobody, and bars nothing', async () => {
    const { hold, transactionId } = await declinedOnce();
    await hold.event({ ...SUCCEEDS, transactionId, businessUnit: 'other' });
    await pass(MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
    expect(await hold.ask('capture', { commandId: 'two' })).toMatchObject({ status: 'succeeded' });
  });

  test('is remembered by a run that a reset makes', async () => {
    const { hold } = await contradicted(true);
    await pass(MINUTE);
    await resetToFirstTask(time.client, hold.workflowId);
    await pass(2 * MINUTE);
    const handle = time.client.workflow.getHandle(hold.workflowId);
    const again = handle.executeUpdate('capture', { args: [{ commandId: 'two' }] });
    await expect(again).rejects.toMatchObject(failsWith('StateConflict', 'could take the money twice'));
  });

  test('is another one than that of the capture that has just succeeded', async () => {
    const hold = await beginHeld(time, { amount: 10_000 });
    // The look at what is left keeps the flow open.
    const look = time.hold('getPayment');
    const { answer } = await hold.command('capture', { commandId: 'part', amount: 6_000 });
    await look.reached;
    const { transaction_id: transactionId = '' } = (await time.sandbox.ledger(hold.reference)).at(-1) ?? {};
    await hold.event({ ...SUCCEEDS, transactionId });
    look.release();
    expect(await answer).toMatchObject({ status: 'succeeded', transactionId });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
    expect(await hold.status()).toMatchObject({ needsOperator: false });
  });

  test('does nothing if nobody has signed it', async () => {
    const { hold } = await contradicted(false);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
    expect(await hold.ask('capture', { commandId: 'two' })).toMatchObject({ status: 'succeeded' });
  });
});

test('a signed event of another authorization or charge on the payment that is held calls a person, and stays after the end', async () => {
  const hold = await beginHeld(time);
  const { transactionId: own = '' } = await hold.status();
  const event = { eventType: 'payment.authorization.update', status: 'Succeed', amount: 6_000 } as const;
  await hold.event({ ...event, transactionId: own });
  await hold.event({ ...event, transactionId: 'unsigned', trusted: false });
  await pass(MINUTE);
  expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
  await hold.event({ ...event, transactionId: 'second' });
  await hold.event({ ...event, eventType: 'payment.charge.create', transactionId: 'charged' });
  await hold.ask('capture', { commandId: 'one' });
  expect(await hold.outcome()).toMatchObject({ status: 'captured' });
  const { operatorReason = '' } = await hold.status();
  expect(operatorReason).toContain(`authorization second Succeed, beside authorization ${own}`);
  expect(operatorReason).toContain('charge charged Succeed');
});

test('a late event of the authorization before says nothing of the one that replaces it', async () => {
  const hold = await beginHeld(time, { ...(await onFile()), onDeadline: 'void' });
  const { transactionId = '', paymentId = '' } = await hold.status();
  const creating = time.hold('createPayment');
  await time.sandbox.addFault({ ...answers(503, 'POST', '*/authorizations'), reconciliation_id: hold.reference });
  const { answer } = await hold.command('reauthorize', { commandId: 'longer' });
  await creating.reached;
  const event = { eventType: 'payment.authorization.update', status: 'Succeed', amount: 6_000 } as const;
  const late = { ...event, transactionId, paymentId, reconciliationId: hold.reference };
  await hold.event(late);
  await time.passUntil((await time.now()) + 1_000);
  creating.release();
  await pass(MINUTE);
  await hold.event(late);
  await time.passUntil((await time.now()) + 2 * DAY + MINUTE);
  expect(await answer).toMatchObject({ status: 'notExecuted' });
  expect(await hold.status()).toMatchObject({ status: 'notExecuted', needsOperator: false });
  expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
});
