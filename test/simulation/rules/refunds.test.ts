import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { HoldfastClient } from '../../../src/client/holdfast-client.js';
import { createReconcilePort } from '../../../src/client/reconcile-port.js';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { accountOf } from '../../../src/domain/reconcile/account.js';
import { TEST_ENCRYPTION_KEYS, testDataConverter } from '../../support/data-converter.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginActions, beginHeld, ledgerRows } from '../../support/virtual-flows.js';
import { answers, beginFlow, failsWith, heldElsewhere, HOUR, inputOf, sharedTime } from './context.js';

const time = sharedTime();

/** 200.00 USD held by somebody else, and captured by us in two parts. */
async function twiceCaptured() {
  const paymentId = await heldElsewhere(time, 20_000);
  const actions = await beginActions(time, { paymentId, currency: 'USD' });
  const { transactionId: first = '' } = await actions.ask('capture', { commandId: 'first', amount: 9_000 });
  const { transactionId: second = '' } = await actions.ask('capture', { commandId: 'second', amount: 11_000 });
  return { actions, first, second, onLedger: () => ledgerRows(time, paymentId) };
}

const CAPTURED = ['authorization Succeed 20000 USD', 'capture Succeed 9000 USD', 'capture Succeed 11000 USD'];

describe('a refund that names a capture', () => {
  test('and no amount refunds what is left of that capture, not of the payment', async () => {
    const { actions, first, second, onLedger } = await twiceCaptured();
    const asked = { commandId: 'one', captureId: first };
    expect(await actions.ask('refund', asked)).toMatchObject({ status: 'succeeded', amount: 9_000 });
    expect(await actions.ask('refund', asked)).toMatchObject({ amount: 9_000 });
    expect(await actions.ask('refund', { commandId: 'part', captureId: second, amount: 5_500 })).toMatchObject({
      amount: 5_500,
    });
    expect(await actions.ask('refund', { commandId: 'rest', captureId: second })).toMatchObject({ amount: 5_500 });
    expect(await onLedger()).toEqual([
      ...CAPTURED,
      'refund Succeed 9000 USD',
      'refund Succeed 5500 USD',
      'refund Succeed 5500 USD',
    ]);
  });

  test('refunds no more than that capture took, and nothing of a capture that is not there', async () => {
    const { actions, first, second, onLedger } = await twiceCaptured();
    await expect(actions.ask('refund', { commandId: 'a', captureId: first, amount: 9_001 })).rejects.toMatchObject(
      failsWith('InvalidInput', '90.01 USD is more than the 90.00 USD left to refund'),
    );
    await actions.ask('refund', { commandId: 'b', captureId: second });
    await expect(actions.ask('refund', { commandId: 'c', captureId: second, amount: 5_000 })).rejects.toMatchObject(
      failsWith('StateConflict', 'nothing is left to refund'),
    );
    const unknown = '11111111-1111-4111-8111-111111111111';
    await expect(actions.ask('refund', { commandId: 'd', captureId: unknown })).rejects.toMatchObject(
      failsWith('InvalidInput', `captureId: the payment has no capture ${unknown}`),
    );
    expect(await onLedger()).toEqual([...CAPTURED, 'refund Succeed 11000 USD']);
  });
});

test('a payment that is named in capitals is the same one: what is repeated of it is not sent again', async () => {
  const paymentId = await heldElsewhere(time, 20_000);
  const part = { amount: 9_000, commandId: 'part' };
  const capture = async (payment: string) =>
    (await time.holdfast.capture({ payment, currency: 'USD' }, part)).transactionId;
  expect(await capture(paymentId.toUpperCase())).toBe(await capture(paymentId));
  expect(await ledgerRows(time, paymentId)).toEqual(CAPTURED.slice(0, 2));
});

test('a refund that waits behind another is not said to pend, nor to be that one', async () => {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { amount: 12_000 }));
  const { paymentId } = await flow.outcome();
  const fault = { action: 'result', status: 'Pending', path: `/payments/${paymentId}/refunds`, times: 1 } as const;
  await time.sandbox.addFault(fault);
  const ask = async (commandId: string, amount: number) => {
    const request = { payment: flow.reference, commandId, amount };
    return await time.holdfast.refund(request, { waitFor: '2 seconds' });
  };
  await time.sandbox.settings({ pendingMs: HOUR });
  const first = await ask('one', 5_500);
  expect(first).toMatchObject({ status: 'pending', amount: 5_500, transactionId: expect.any(String) as string });
  const second = await ask('two', 5_000);
  expect(second).toMatchObject({ status: 'unknown', amount: 5_000, commandId: 'two' });
  expect(second).not.toHaveProperty('transactionId');
  await time.sandbox.settings({ pendingMs: 10_000 });
  await time.sandbox.complete(first.transactionId ?? '', { status: 'Succeed' });
  await time.passUntil((await time.now()) + 2 * HOUR);
  expect(await ask('one', 5_500)).toMatchObject({ status: 'succeeded', amount: 5_500 });
  expect(await ask('two', 5_000)).toMatchObject({ status: 'succeeded', amount: 5_000 });
});

test('a refund that the service refuses fails with the type of that refusal', async () => {
  const { actions, first, onLedger } = await twiceCaptured();
  const { paymentId = '' } = await actions.status();
  await time.sandbox.addFault({ ...answers(400, 'POST', `/payments/${paymentId}/refunds`), times: 1 });
  const asked = actions.ask('refund', { commandId: 'bad', captureId: first });
  await expect(asked).rejects.toMatchObject(failsWith('InvalidInput', '400'));
  expect(await onLedger()).toEqual(CAPTURED);
});

test('commands opened by hand under the reference of another payment are not refused for as long as that one is held', async () => {
  const other = await beginHeld(time);
  const hold = await beginHeld(time);
  await hold.ask('capture');
  const { paymentId = '' } = await hold.outcome();
  const wrong = await beginActions(time, { paymentId, currency: 'USD', paymentReference: other.reference });
  await expect(wrong.ask('refund', { commandId: 'back' })).rejects.toMatchObject(
    failsWith('StateConflict', `was made by "${hold.workflowId}", not by "${other.workflowId}"`),
  );
  const right = await time.holdfast.refund({ payment: hold.reference, commandId: 'back' });
  expect(right).toMatchObject({ status: 'succeeded', amount: 6_000 });
  await other.ask('void');
  await other.outcome();
});

test('commands opened by hand under the reference of another payment, which has ended, are not answered with what was done to that one', async () => {
  const request = { commandId: 'same' };
  const other = await beginHeld(time);
  await other.ask('void', request);
  await other.outcome();
  const hold = await beginHeld(time);
  await hold.ask('capture', { commandId: 'take' });
  const { paymentId = '' } = await hold.outcome();
  const input = { paymentId, currency: 'USD', paymentReference: other.reference };
  const unfit = failsWith('StateConflict', `was made by "${hold.workflowId}", not by "${other.workflowId}"`);
  const wrong = await beginActions(time, input);
  await expect(wrong.ask('void', request)).rejects.toMatchObject(unfit);
  await wrong.outcome();
  const again = await beginActions(time, input);
  await expect(again.ask('refund', { commandId: 'back' })).rejects.toMatchObject(unfit);
  const right = await time.holdfast.refund({ payment: hold.reference, commandId: 'back' });
  expect(right).toMatchObject({ status: 'succeeded', amount: 6_000 });
});

test('nor are they where the service does not say which flow made a payment: the one that is named has made another', async () => {
  const echoes = async (echo_additional_details: boolean) =>
    await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { echo_additional_details } });
  const request = { commandId: 'same' };
  const other = await beginHeld(time);
  await other.ask('void', request);
  const made = await other.outcome();
  const hold = await beginHeld(time);
  await hold.ask('capture', { commandId: 'take' });
  const { paymentId = '' } = await hold.outcome();
  const input = { paymentId, currency: 'USD', paymentReference: other.reference };
  const unfit = failsWith(
    'StateConflict',
    `"${other.workflowId}" has made payment ${made.paymentId}, not ${paymentId}`,
  );
  await echoes(false);
  const wrong = await beginActions(time, input);
  await expect(wrong.ask('void', request)).rejects.toMatchObject(unfit);
  await wrong.outcome();
  const again = await beginActions(time, input);
  await expect(again.ask('refund', { commandId: 'back' })).rejects.toMatchObject(unfit);
  await echoes(true);
  expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'capture Succeed 6000 USD']);
});

test('a refund without an id is told the one it was given, under which a repeat is the same refund', async () => {
  const paymentId = await heldElsewhere(time, 20_000);
  const actions = await beginActions(time, { paymentId, currency: 'USD' });
  await actions.ask('capture', { commandId: 'all' });
  await time.sandbox.addFault({
    action: 'result',
    status: 'Pending',
    path: `/payments/${paymentId}/refunds`,
    times: 1,
  });
  const payment = { payment: paymentId, currency: 'USD' };
  const wait = { waitFor: '5 seconds' };
  const answer = await time.holdfast.refund({ payment, amount: 6_000 }, wait);
  if (answer.status !== 'pending') throw new Error(`the refund is ${answer.status}`);
  const { commandId } = answer;
  expect(await time.holdfast.refund({ payment, amount: 6_000, commandId }, wait)).toMatchObject({
    status: 'pending',
    commandId,
  });
  const rows = await ledgerRows(time, paymentId);
  expect(rows.filter((row) => row.startsWith('refund'))).toEqual(['refund Pending 6000 USD']);
});

test('a refund of all that is left names no sum before that is known', async () => {
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = await charge.outcome();
  const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
  const refund = async (more: object) =>
    await time.holdfast.refund({ payment: charge.reference, ...more }, { waitFor: '20 seconds' });
  for (const commandId of ['under way', 'behind it'])
    expect(await refund({ commandId })).toEqual(expect.not.objectContaining({ amount: expect.anything() as unknown }));
  expect(await refund({ commandId: 'named', amount: 2_000 })).toMatchObject({ status: 'unknown', amount: 2_000 });
  await time.sandbox.removeFault(away.id);
  await time.passUntil((await time.now()) + HOUR);
  expect(await refund({ commandId: 'under way' })).toMatchObject({ status: 'succeeded', amount: 6_000 });
});

test('a refund that a reset gives again is known to a reconciliation, while its flow is open', async () => {
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = (await charge.outcome()) as { paymentId?: string };
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: charge.reference });
  const { transactionId = '' } = await actions.ask('refund', { commandId: 'back', amount: 5_500 });
  await resetToFirstTask(time.client, actions.workflowId);
  await time.passUntil((await time.now()) + HOUR);
  const [flow] = await createReconcilePort(time.client).flowsById([actions.workflowId]);
  if (flow === undefined) throw new Error('there is no such flow');
  expect(flow).toMatchObject({ state: 'open', status: 'idle' });
  const [claim] = accountOf(flow).claims;
  expect(claim).toMatchObject({ kind: 'refund', transactionId, reconciliationId: expect.stringMatching(/^refund-/) });
});

test('a refund whose answer can not be read names its command id, with which a repeat is the same refund', async () => {
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge', { amount: 12_000 }));
  const { paymentId = '' } = await charge.outcome();
  const newKey = `new:${randomBytes(32).toString('base64')}`;
  const keys = `${newKey},${TEST_ENCRYPTION_KEYS}`;
  await time.stopWorker();
  // It encrypts with a key that the client has not been given yet.
  await time.startWorker(keys);
  const refund = { payment: charge.reference, amount: 5_500 };
  const refusal: unknown = await time.holdfast.refund(refund).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ type: 'UnexpectedResponse' });
  const [, commandId = ''] = /with commandId "([^"]+)"/.exec(String(refusal)) ?? [];
  const { connection, options } = time.client;
  const { namespace } = options;
  const informed = new HoldfastClient(new Client({ connection, namespace, dataConverter: testDataConverter(keys) }));
  expect(await informed.refund({ ...refund, commandId })).toMatchObject({ status: 'succeeded', amount: 5_500 });
  expect(await ledgerRows(time, paymentId)).toEqual(['charge Succeed 12000 USD', 'refund Succeed 5500 USD']);
  await time.stopWorker();
  await time.startWorker();
});
