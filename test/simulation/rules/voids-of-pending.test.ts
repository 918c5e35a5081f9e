import { afterEach, describe, expect, test } from 'vitest';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginHold, ledgerRows } from '../../support/virtual-flows.js';
import {
  answers,
  beginFlow,
  DAY,
  declined,
  failsWith,
  HOUR,
  inputOf,
  keysOf,
  lostReply,
  MINUTE,
  OPERATOR,
  sharedTime,
  provideVoidsOfPending,
} from './context.js';

const time = sharedTime();

const RELEASE = { commandId: 'released', who: 'Ada', why: 'ordered twice' };
const VOIDED = 'void Succeed 6000 USD';
const KINDS = ['charge', 'credit'] as const;
type Kind = (typeof KINDS)[number];

afterEach(async () => {
  await provideVoidsOfPending(time, 'refused');
  await time.sandbox.settings({ pendingMs: 10_000 });
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

async function pending(kind: Kind, pends: 'allowed' | 'refused' | 'too_late', card: string = CARDS.pendsThenSucceeds) {
  await provideVoidsOfPending(time, pends);
  await time.sandbox.settings({ pendingMs: HOUR });
  const flow = await beginFlow(time, kind, await inputOf(time, kind, { card }));
  await time.passUntil(flow.startedAt + 2_000);
  expect(await flow.status()).toMatchObject({ status: 'pending' });
  return flow;
}

async function pendingCapture(pends: 'allowed' | 'refused' | 'too_late', onDeadline: 'capture' | 'void' = 'void') {
  await provideVoidsOfPending(time, pends);
  await time.sandbox.settings({ pendingMs: 7 * DAY });
  const faults = [{ action: 'result', status: 'Pending', path: '*/captures' } as const];
  const hold = await beginHold(time, { captureMode: 'auto', onDeadline, captureDeadline: '1 hour' }, { faults });
  await time.passUntil(hold.startedAt + 2_000);
  expect(await hold.status()).toMatchObject({ status: 'pending' });
  const { paymentId = '', transactionId = '' } = await hold.status();
  return { hold, paymentId, captureId: transactionId };
}
test('a charge that pends is voided by a worker whose clock is two minutes fast as well', async () => {
  const flow = await pending('charge', 'allowed');
  await time.stopWorker();
  const fast = time.simulation.startWorker({ aheadMs: 2 * MINUTE });
  expect(await flow.ask('void', RELEASE)).toMatchObject({ status: 'succeeded' });
  await fast.stop();
  await time.startWorker();
});

describe.each(KINDS)('a %s that pends', (kind) => {
  test('is voided on command where a read of that moment offers it', async () => {
    const flow = await pending(kind, 'allowed');
    const { transactionId } = await flow.status();
    const answer = await flow.ask('void', RELEASE);
    expect(answer).toMatchObject({ status: 'succeeded' });
    const outcome = await flow.outcome();
    expect(outcome).toMatchObject({
      status: 'voided',
      reason: 'command',
      transactionId: answer.transactionId,
      voided: { status: 'declined', transactionId },
      actions: [{ action: 'void', commandId: 'released' }],
    });
    expect(await movements(time, flow.reference)).toEqual([`${kind} Failed 6000 USD`, VOIDED]);
    expect(await time.holdfast.void(flow.reference, RELEASE)).toEqual(answer);
  });

  test('is not voided where the service does not offer it: nothing is sent, and the caller told', async () => {
    const flow = await pending(kind, 'refused');
    await expect(flow.ask('void', RELEASE)).rejects.toMatchObject(failsWith('StateConflict', 'offers no void'));
    expect(await flow.status()).toMatchObject({ status: 'pending' });
    expect(keysOf(time, flow.reference).filter((key) => key.startsWith('void'))).toEqual([]);
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, flow.reference)).toEqual([`${kind} Succeed 6000 USD`]);
  });

  test('and succeeds although it was voided has succeeded, and a person is told', async () => {
    const flow = await pending(kind, 'too_late');
    const { answer } = await flow.command('void', RELEASE);
    const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'has succeeded although'));
    const outcome = await flow.outcome();
    expect(outcome).toMatchObject({ status: 'succeeded', despiteVoid: { status: 'succeeded' } });
    await refused;
    expect(await flow.status()).toMatchObject({ status: 'succeeded', needsOperator: true });
    expect(await movements(time, flow.reference)).toEqual([`${kind} Succeed 6000 USD`, VOIDED]);
    // Whoever asks again is told the same: the void has succeeded, and has released nothing.
    const again = { type: 'StateConflict', message: expect.stringContaining('has succeeded although') };
    await expect(time.holdfast.void(flow.reference, RELEASE)).rejects.toMatchObject(again);
  });
});

describe('a void of a pending charge', () => {
  test('that the provider declines is told so, and the charge goes on; another may be asked for', async () => {
    const flow = await pending('charge', 'allowed');
    const { paymentId } = await flow.status();
    const fault = await time.sandbox.addFault(declined(`/payments/${paymentId}/voids`));
    expect(await flow.ask('void', RELEASE)).toMatchObject({ status: 'declined' });
    expect(await flow.status()).toMatchObject({ status: 'pending' });
    await time.sandbox.removeFault(fault.id);
    expect(await flow.ask('void', { commandId: 'again' })).toMatchObject({ status: 'succeeded' });
    expect(await flow.outcome()).toMatchObject({ status: 'voided' });
    expect(keysOf(time, flow.reference).filter((key) => key.startsWith('void'))).toEqual(['void:1', 'void:2']);
  });

  test('whose reply is lost is sent under one key, and found', async () => {
    const flow = await pending('charge', 'allowed');
    const { paymentId } = await flow.status();
    await time.sandbox.addFault(lostReply(`/payments/${paymentId}/voids`));
    const { answer } = await flow.command('void', RELEASE);
    const again = await flow.command('void', RELEASE);
    expect(await flow.outcome()).toMatchObject({ status: 'voided' });
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(await again.answer).toEqual(await answer);
    expect(await movements(time, flow.reference)).toEqual(['charge Failed 6000 USD', VOIDED]);
  });

  test('that is never answered is sent for a minute only, and the charge then followed to its end', async () => {
    const flow = await pending('charge', 'allowed');
    const { paymentId = '' } = await flow.status();
    await time.sandbox.addFault(answers(503, 'POST', `/payments/${paymentId}/voids`));
    const { answer } = await flow.command('void', RELEASE);
    await time.passUntil(flow.startedAt + 3 * MINUTE);
    const sent = time.requests.operations(paymentId, 'voids').length;
    expect(await flow.status()).toMatchObject({ status: 'unknown' });
    const outcome = await flow.outcome();
    expect(outcome).toMatchObject({ status: 'succeeded', despiteVoid: { status: 'notExecuted' } });
    expect(await answer).toMatchObject({ status: 'notExecuted' });
    expect(await flow.status()).toMatchObject({ needsOperator: true });
    expect(time.requests.operations(paymentId, 'voids')).toHaveLength(sent);
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('that pends itself is followed, and the charge that has failed meanwhile is voided', async () => {
    const flow = await pending('charge', 'allowed', CARDS.pendsThenFails);
    const { paymentId, transactionId = '' } = await flow.status();
    await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `/payments/${paymentId}/voids` });
    const { answer } = await flow.command('void', RELEASE);
    await time.passUntil(flow.startedAt + 4_000);
    const pends = await flow.status();
    expect(pends).toMatchObject({ status: 'pending', operation: 'void' });
    await expect(flow.ask('void', { commandId: 'other' })).rejects.toMatchObject(failsWith('StateConflict'));
    await time.sandbox.complete(transactionId, { status: 'Failed', category: 'payment_method_declined' });
    await flow.event({
      eventType: 'payment.charge.update',
      transactionId,
      status: 'Failed',
      category: 'x',
      amount: 6_000,
    });
    expect(await flow.status()).toMatchObject({ status: 'pending' });
    await time.sandbox.complete(pends.transactionId ?? '', { status: 'Succeed' });
    expect(await flow.outcome()).toMatchObject({ status: 'voided', voided: { transactionId } });
    expect(await answer).toMatchObject({ status: 'succeeded', transactionId: pends.transactionId });
  });

  test('is taken only while it pends', async () => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [answers(503, 'POST', '*/charges')]);
    await time.passUntil(flow.startedAt + 30_000);
    await expect(flow.ask('void')).rejects.toMatchObject(failsWith('StateConflict', 'only while it is pending'));
    for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
  });

  test('is found by the run that a reset makes, and not sent again', async () => {
    const flow = await pending('charge', 'allowed');
    expect(await flow.ask('void', RELEASE)).toMatchObject({ status: 'succeeded' });
    expect(await flow.outcome()).toMatchObject({ status: 'voided' });
    await resetToFirstTask(time.client, flow.workflowId);
    const handle = time.client.workflow.getHandle(flow.workflowId);
    expect(await handle.result()).toMatchObject({ status: 'voided', reason: 'command' });
    expect(await movements(time, flow.reference)).toEqual(['charge Failed 6000 USD', VOIDED]);
  });

  test('after which nobody confirms that the charge has failed has a person look, and is not called done', async () => {
    const flow = await pending('charge', 'too_late');
    const { transactionId = '' } = await flow.status();
    const { answer } = await flow.command('void', RELEASE);
    const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'nobody has confirmed'));
    await time.passUntil(flow.startedAt + 4_000);
    await time.sandbox.complete(transactionId, { status: 'Failed', category: 'provider_network_error' });
    expect(await flow.outcome()).toMatchObject({
      status: 'voided',
      voided: { status: 'declined', transactionId, confirmed: false },
    });
    await refused;
    expect(await flow.status()).toMatchObject({ needsOperator: true });
  });

  test('is not decided by what an operator says of the charge', async () => {
    const flow = await pending('charge', 'too_late');
    const { paymentId, transactionId: chargeId = '' } = await flow.status();
    await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `/payments/${paymentId}/voids` });
    const { answer } = await flow.command('void', RELEASE);
    await time.passUntil(flow.startedAt + 4_000);
    const { operation, transactionId = '' } = await flow.status();
    expect(operation).toBe('void');
    const says = async (named: { transactionId?: string }) =>
      await time.holdfast.settleManually(flow.reference, { ...OPERATOR, status: 'succeeded', ...named });
    await expect(says({ transactionId: chargeId })).rejects.toThrow(chargeId);
    await expect(says({ transactionId: 'another' })).rejects.toThrow(transactionId);
    await expect(says({})).rejects.toThrow('transactionId');
    expect(await flow.status()).toMatchObject({ operation: 'void', status: 'pending' });
    expect(await says({ transactionId })).toMatchObject({ status: 'succeeded', transactionId });
    await time.sandbox.complete(chargeId, { status: 'Failed', category: 'payment_method_declined' });
    expect(await flow.outcome()).toMatchObject({ status: 'voided', voided: { transactionId: chargeId } });
    expect(await answer).toMatchObject({ status: 'succeeded', transactionId });
  });

  test('comes from a command alone: neither a cancel nor days of waiting void it', async () => {
    const flow = await pending('charge', 'allowed');
    await time.sandbox.settings({ pendingMs: 7 * DAY });
    const { paymentId } = await flow.status();
    await flow.cancel();
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await ledgerRows(time, paymentId)).toEqual(['charge Succeed 6000 USD']);
  });
});

describe('a capture that pends', () => {
  test('is voided on command: nothing is taken, and the hold is gone', async () => {
    const { hold, paymentId, captureId } = await pendingCapture('allowed');
    const answer = await hold.ask('void', RELEASE);
    expect(answer).toMatchObject({ status: 'succeeded' });
    expect(await hold.outcome()).toMatchObject({
      status: 'voided',
      reason: 'command',
      transactionId: answer.transactionId,
      voided: { status: 'declined', transactionId: captureId },
    });
    expect(await ledgerRows(time, paymentId)).toEqual([
      'authorization Succeed 6000 USD',
      'capture Failed 6000 USD',
      VOIDED,
    ]);
    expect(await time.holdfast.void(hold.reference, RELEASE)).toEqual(answer);
  });

  test('and succeeds all the same has captured, and a person is told', async () => {
    const { hold, captureId } = await pendingCapture('too_late');
    const { answer } = await hold.command('void', RELEASE);
    const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'has succeeded although'));
    await time.passUntil(hold.startedAt + 4_000);
    await time.sandbox.complete(captureId, { status: 'Succeed' });
    expect(await hold.outcome()).toMatchObject({
      status: 'captured',
      transactionId: captureId,
      despiteVoid: { status: 'succeeded' },
    });
    await refused;
    expect(await hold.status()).toMatchObject({ needsOperator: true });
  });

  test.each(['capture', 'void'] as const)('is never voided by the deadline (%s) of its hold', async (onDeadline) => {
    const { hold, paymentId, captureId } = await pendingCapture('allowed', onDeadline);
    await time.passUntil(hold.startedAt + 3 * HOUR);
    expect(await hold.status()).toMatchObject({ status: 'pending' });
    expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
    await time.sandbox.complete(captureId, { status: 'Succeed' });
    expect(await hold.outcome()).toMatchObject({ status: 'captured' });
  });

  test('where no void is offered goes on', async () => {
    const { hold, captureId } = await pendingCapture('refused');
    await expect(hold.ask('void')).rejects.toMatchObject(failsWith('StateConflict', 'offers no void'));
    await time.sandbox.complete(captureId, { status: 'Succeed' });
    expect(await hold.outcome()).toMatchObject({ status: 'captured' });
  });
});
