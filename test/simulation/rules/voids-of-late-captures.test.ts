import { afterEach, describe, expect, test } from 'vitest';
import { commandSequence, idempotencyKey } from '../../../src/contract/idempotency.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginHeld, ledgerRows } from '../../support/virtual-flows.js';
import { answers, DAY, declined, failsWith, HOUR, lostReply, MINUTE, sharedTime } from './context.js';
import { lateCaptures, RELEASE } from './late-captures.js';

const time = sharedTime();
const { afterHold, lateCapture, provider, resetBeforeTheVoid } = lateCaptures(time);

const VOIDED = 'void Succeed 6000 USD';

afterEach(async () => {
  await provider('refused');
  await time.sandbox.settings({ pendingMs: 10_000 });
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

describe('a capture by paymentActions that pends', () => {
  const AUTHORIZED = 'authorization Succeed 6000 USD';

  test('is not voided once an event says that an earlier capture has succeeded, which the void could undo', async () => {
    const { actions, paymentId, capture } = await lateCapture('allowed');
    const captures = `/payments/${paymentId}/captures`;
    await time.sandbox.addFault({ ...declined(captures), times: 1 });
    const { transactionId = '' } = await actions.ask('capture', { commandId: 'first', amount: 5_000 });
    await capture({ amount: 1_000 });
    const away = await time.sandbox.addFault(answers(503, 'POST', `/payments/${paymentId}/voids`));
    await actions.command('void', RELEASE);
    await time.passUntil((await time.now()) + 10_000);
    const sent = () => time.requests.operations(paymentId, 'voids').length;
    const before = sent();
    await actions.event({ eventType: 'payment.capture.update', transactionId, status: 'Succeed', amount: 5_000 });
    await time.sandbox.removeFault(away.id);
    await time.passUntil((await time.now()) + 2 * MINUTE);
    expect(before).toBeGreaterThan(0);
    expect(sent()).toBe(before);
    expect(await ledgerRows(time, paymentId)).not.toContain(VOIDED);
  });

  test('is voided on command: the capture fails, and the void is answered once that is known', async () => {
    const { actions, paymentId, capture, voidAgain } = await lateCapture('allowed');
    const { answer, captureId } = await capture({});
    const voided = await actions.ask('void', RELEASE);
    expect(voided).toMatchObject({ status: 'succeeded' });
    expect(await answer).toMatchObject({ status: 'declined', transactionId: captureId });
    expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: false });
    expect(await ledgerRows(time, paymentId)).toEqual([AUTHORIZED, 'capture Failed 6000 USD', VOIDED]);
    // The same command again, also of the run that a reset makes, sends no second void.
    expect(await actions.ask('void', RELEASE)).toEqual(voided);
    await resetToFirstTask(time.client, actions.workflowId);
    await time.passUntil((await time.now()) + HOUR);
    expect(await ledgerRows(time, paymentId)).toEqual([AUTHORIZED, 'capture Failed 6000 USD', VOIDED]);
    const { status, transactionId } = await voidAgain();
    expect({ status, transactionId }).toEqual({ status: 'succeeded', transactionId: voided.transactionId });
  });

  test('is voided under one key, whose reply may be lost', async () => {
    const { actions, paymentId, capture } = await lateCapture('allowed');
    const { answer } = await capture({});
    await time.sandbox.addFault(lostReply(`/payments/${paymentId}/voids`));
    const given = await actions.command('void', RELEASE);
    expect(await given.answer).toMatchObject({ status: 'succeeded' });
    expect(await answer).toMatchObject({ status: 'declined' });
    const keys = new Set(time.requests.operations(paymentId, 'voids').map(({ key }) => key));
    // Made of the command: a later run of the flow counts from one again.
    expect([...keys]).toEqual([idempotencyKey(actions.workflowId, 'void', commandSequence(RELEASE.commandId))]);
    expect(await ledgerRows(time, paymentId)).toEqual([AUTHORIZED, 'capture Failed 6000 USD', VOIDED]);
  });

  test('and succeeds although it was voided has captured: a person is told, and so is whoever asks again', async () => {
    const { actions, capture, voidAgain } = await lateCapture('too_late');
    const { answer, captureId } = await capture({});
    const given = await actions.command('void', RELEASE);
    const refused = expect(given.answer).rejects.toMatchObject(failsWith('StateConflict', 'has succeeded although'));
    await time.passUntil((await time.now()) + 4_000);
    await time.sandbox.complete(captureId, { status: 'Succeed' });
    expect(await answer).toMatchObject({ status: 'succeeded', transactionId: captureId });
    await refused;
    expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: true });
    await time.passUntil((await time.now()) + 31 * DAY);
    expect(await actions.outcome()).toMatchObject({ status: 'idle' });
    await expect(voidAgain()).rejects.toMatchObject({ type: 'StateConflict', message: /has succeeded although/ });
  });

  test('and succeeds although it was voided is not forgotten by the run that a reset makes', async () => {
    const { actions, capture, voidAgain } = await lateCapture('too_late');
    const { captureId } = await capture({});
    const given = await actions.command('void', RELEASE);
    await time.passUntil((await time.now()) + 4_000);
    await time.sandbox.complete(captureId, { status: 'Succeed' });
    await expect(given.answer).rejects.toThrow();
    await resetToFirstTask(time.client, actions.workflowId);
    await time.passUntil((await time.now()) + HOUR);
    await expect(voidAgain()).rejects.toMatchObject({ type: 'StateConflict', message: /back office/ });
    expect(await actions.status()).toMatchObject({ needsOperator: true });
  });

  test('where no void is offered goes on, and nothing is sent', async () => {
    const { actions, paymentId, capture } = await lateCapture('refused');
    const { answer, captureId } = await capture({});
    await expect(actions.ask('void', RELEASE)).rejects.toMatchObject(failsWith('StateConflict', 'offers no void'));
    expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
    await time.sandbox.complete(captureId, { status: 'Succeed' });
    expect(await answer).toMatchObject({ status: 'succeeded' });
  });

  test.each([
    { lists: 'show it', lagMs: 0 },
    { lists: 'lag', lagMs: HOUR / 2 },
    { lists: 'can not be read', lagMs: 0, why: 'what was captured can not be read' },
  ])('beside an earlier capture is not voided, which would undo that as well: its lists $lists', async (of) => {
    const { lagMs, why = 'another capture may have taken money' } = of;
    const { actions, paymentId, capture } = await lateCapture('allowed');
    await time.passUntil((await time.now()) + HOUR);
    const first = { commandId: 'first', amount: 5_000 };
    expect(await actions.ask('capture', first)).toMatchObject({ status: 'succeeded' });
    await provider('allowed', lagMs);
    const { answer, captureId } = await capture({ amount: 1_000 });
    const captures = answers(503, 'GET', `/payments/${paymentId}/captures`);
    const unread = of.why === undefined ? undefined : await time.sandbox.addFault(captures);
    await expect(actions.ask('void', RELEASE)).rejects.toMatchObject(failsWith('StateConflict', why));
    if (unread !== undefined) await time.sandbox.removeFault(unread.id);
    expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
    await provider('allowed');
    await time.sandbox.complete(captureId, { status: 'Succeed' });
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(await ledgerRows(time, paymentId)).toEqual([
      AUTHORIZED,
      'capture Succeed 5000 USD',
      'capture Succeed 1000 USD',
    ]);
  });

  test('is not voided by a command that the flow of the payment has carried out', async () => {
    const hold = await beginHeld(time);
    const { paymentId = '' } = await hold.status();
    const path = `/payments/${paymentId}/voids`;
    const fault = await time.sandbox.addFault({ action: 'result', status: 'Failed', category: 'provider_error', path });
    const declined = await hold.ask('void', RELEASE);
    expect(declined).toMatchObject({ status: 'declined' });
    await time.sandbox.removeFault(fault.id);
    await hold.ask('capture', { commandId: 'part', amount: 5_000 });
    expect(await hold.outcome()).toMatchObject({ status: 'captured' });
    await provider('allowed');
    const { actions, capture } = await afterHold(hold.reference, paymentId);
    const { answer, captureId } = await capture({ amount: 1_000 });
    expect(await actions.ask('void', RELEASE)).toMatchObject({ transactionId: declined.transactionId });
    expect(time.requests.operations(paymentId, 'voids')).toHaveLength(1);
    await time.sandbox.complete(captureId, { status: 'Succeed' });
    expect(await answer).toMatchObject({ status: 'succeeded' });
  });

  test('of a part is voided by a void of all that was held', async () => {
    const { actions, paymentId, capture } = await lateCapture('allowed');
    const { answer } = await capture({ amount: 5_000 });
    const { answer: voided } = await actions.command('void', RELEASE);
    await time.passUntil((await time.now()) + MINUTE);
    expect(await voided).toMatchObject({ status: 'succeeded', amount: 6_000 });
    expect(await answer).toMatchObject({ status: 'declined' });
    expect(await ledgerRows(time, paymentId)).toEqual([AUTHORIZED, 'capture Failed 5000 USD', VOIDED]);
  });

  test('is voided under the same command once, also when it can not be read after a reset what is held', async () => {
    const { actions, paymentId, capture, voidAgain } = await lateCapture('too_late');
    const { captureId } = await capture({});
    const given = await actions.command('void', RELEASE);
    await time.passUntil((await time.now()) + 4_000);
    const unread = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}/authorizations`));
    // The capture goes on where it was, and what speaks against a void can't be read.
    await resetBeforeTheVoid(actions.workflowId);
    await time.passUntil((await time.now()) + MINUTE);
    await time.sandbox.removeFault(unread.id);
    expect(time.requests.operations(paymentId, 'voids')).toHaveLength(1);
    await time.sandbox.complete(captureId, { status: 'Failed' });
    await time.passUntil((await time.now()) + HOUR);
    expect(await voidAgain()).toMatchObject({ status: 'succeeded' });
    expect(await ledgerRows(time, paymentId)).toEqual([AUTHORIZED, 'capture Failed 6000 USD', VOIDED]);
    await given.answer.catch(() => undefined);
  });

  test('that has succeeded beside a void that no list had shown calls a person', async () => {
    const { actions, paymentId, capture } = await lateCapture('too_late');
    await time.passUntil((await time.now()) + HOUR);
    const { captureId } = await capture({});
    await actions.command('void', RELEASE);
    await time.passUntil((await time.now()) + 4_000);
    await provider('too_late', HOUR / 2);
    await resetBeforeTheVoid(actions.workflowId);
    await time.passUntil((await time.now()) + HOUR);
    expect(await actions.status()).toMatchObject({ status: 'pending' });
    await time.sandbox.complete(captureId, { status: 'Succeed' });
    await time.passUntil((await time.now()) + HOUR);
    expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: true });
    expect(await time.holdfast.explain({ workflowId: actions.workflowId })).toContain('was not listed then');
    expect(await ledgerRows(time, paymentId)).toEqual([AUTHORIZED, 'capture Succeed 6000 USD', VOIDED]);
  });

  test('is not voided twice by one command, whichever run gives it', async () => {
    const { actions, paymentId, capture, reopen } = await lateCapture('allowed');
    const { captureId } = await capture({});
    const fault = await time.sandbox.addFault(declined(`/payments/${paymentId}/voids`));
    expect(await actions.ask('void', RELEASE)).toMatchObject({ status: 'declined' });
    await time.sandbox.removeFault(fault.id);
    await time.client.workflow.getHandle(actions.workflowId).terminate();
    await time.passUntil((await time.now()) + 2 * DAY);
    const again = await reopen();
    const { answer } = await again.command('capture', { commandId: 'late' });
    await time.passUntil((await time.now()) + MINUTE);
    expect(await again.status()).toMatchObject({ status: 'pending', transactionId: captureId });
    expect(await again.ask('void', RELEASE)).toMatchObject({ status: 'declined' });
    await time.sandbox.complete(captureId, { status: 'Succeed' });
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(await ledgerRows(time, paymentId)).toEqual([AUTHORIZED, 'capture Succeed 6000 USD', 'void Failed 6000 USD']);
  });

  test('and its void, which a later run finds, are told by what has become of both', async () => {
    const { actions, paymentId, capture, reopen, voidAgain } = await lateCapture('allowed');
    const { captureId } = await capture({});
    const fault = await time.sandbox.addFault({
      action: 'result',
      status: 'Pending',
      path: `/payments/${paymentId}/voids`,
    });
    await actions.command('void', RELEASE);
    await time.passUntil((await time.now()) + MINUTE);
    await time.sandbox.removeFault(fault.id);
    await time.client.workflow.getHandle(actions.workflowId).terminate();
    const again = await reopen();
    const { answer } = await again.command('void', RELEASE);
    await time.passUntil((await time.now()) + MINUTE);
    const { status, transactionId = '' } = await again.status();
    expect(status).toBe('pending');
    await time.sandbox.complete(captureId, { status: 'Failed' });
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    expect(await answer).toMatchObject({ status: 'succeeded', transactionId });
    expect(await voidAgain()).toMatchObject({ status: 'succeeded', transactionId });
    expect(time.requests.operations(paymentId, 'voids')).toHaveLength(1);
  });

  test('is not voided while the flow that made the payment is open again', async () => {
    const { actions, paymentId, capture, hold } = await lateCapture('allowed');
    const { answer, captureId } = await capture({});
    await resetToFirstTask(time.client, hold.workflowId);
    await time.passUntil((await time.now()) + MINUTE);
    await expect(actions.ask('void', RELEASE)).rejects.toMatchObject(failsWith('StateConflict', 'is still open'));
    expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
    await time.sandbox.complete(captureId, { status: 'Succeed' });
    expect(await answer).toMatchObject({ status: 'succeeded' });
  });

  test('is not voided beside a void that another has made', async () => {
    const { actions, paymentId, capture } = await lateCapture('too_late');
    const { answer, captureId } = await capture({});
    await time.provider.createVoid(paymentId, {}, { idempotencyKey: 'by-hand' });
    await expect(actions.ask('void', RELEASE)).rejects.toMatchObject(failsWith('StateConflict', 'was made already'));
    expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
    await time.sandbox.complete(captureId, { status: 'Succeed' });
    expect(await answer).toMatchObject({ status: 'succeeded' });
  });

  test('is not sent again once it was voided, whatever the network did to it', async () => {
    const { actions, paymentId, capture } = await lateCapture('too_late');
    const { answer, captureId } = await capture({});
    const { answer: voided } = await actions.command('void', RELEASE);
    const refused = expect(voided).rejects.toMatchObject(failsWith('StateConflict', 'nobody has confirmed'));
    await time.passUntil((await time.now()) + 4_000);
    await time.sandbox.complete(captureId, { status: 'Failed', category: 'provider_network_error' });
    expect(await answer).toMatchObject({ status: 'declined', confirmed: false });
    await refused;
    expect(time.requests.operations(paymentId, 'captures')).toHaveLength(1);
  });
});
