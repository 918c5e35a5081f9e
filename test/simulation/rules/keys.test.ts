import { expect, test } from 'vitest';
import { storedInSkippedTime } from '../../support/cards.js';
import { movements } from '../../support/payments.js';
import { beginActions, beginHeld, ledgerRows } from '../../support/virtual-flows.js';
import { beginFlow, DAY, declined, failsWith, HOUR, inputOf, keysOf, lostReply, sharedTime } from './context.js';

const time = sharedTime();

const HELD = 'authorization Succeed 6000 USD';

test('a capture after a declined one has a key of its own, and takes the money', async () => {
  const hold = await beginHeld(time, {}, { faults: [{ ...declined('*/captures'), times: 2 }] });
  for (const amount of [5_100, 5_200]) {
    expect(await hold.ask('capture', { amount })).toMatchObject({ status: 'declined', amount });
  }
  expect(await hold.ask('capture')).toMatchObject({ status: 'succeeded', amount: 6_000 });
  await hold.outcome();
  expect(keysOf(time, hold.reference)).toEqual([
    'createPayment:1',
    'authorize:1',
    'capture:1',
    'capture:2',
    'capture:3',
  ]);
  expect(await movements(time, hold.reference)).toEqual([
    HELD,
    'capture Failed 5100 USD',
    'capture Failed 5200 USD',
    'capture Succeed 6000 USD',
  ]);
});

test('a void after a declined one has a key of its own, and releases the money', async () => {
  const hold = await beginHeld(time, {}, { faults: [{ ...declined('*/voids'), times: 1 }] });
  expect(await hold.ask('void')).toMatchObject({ status: 'declined' });
  expect(await hold.ask('void')).toMatchObject({ status: 'succeeded' });
  expect(await hold.outcome()).toMatchObject({ status: 'voided' });
  expect(keysOf(time, hold.reference).slice(-2)).toEqual(['void:1', 'void:2']);
  expect(await movements(time, hold.reference)).toEqual([HELD, 'void Failed 6000 USD', 'void Succeed 6000 USD']);
});

test('the refund of a consent after a declined one has a key of its own, and moves the money once', async () => {
  const input = await inputOf(time, 'storeCard', { onNotStored: 'undo' });
  // Of another customer by now: it can't be put on file.
  const refused = await time.sandbox.addFault({
    action: 'status',
    status: 400,
    method: 'POST',
    path: '*/payment-methods/*',
  });
  const flow = await beginFlow(time, 'storeCard', input, [{ ...declined('*/refunds'), times: 2 }]);
  const outcome = await flow.outcome();
  await time.sandbox.removeFault(refused.id);
  expect(outcome).toMatchObject({ status: 'consentedNotStored', money: { status: 'refunded' } });
  expect(keysOf(time, input.reference).filter((key) => key.startsWith('refund'))).toEqual([
    'refund:1',
    'refund:2',
    'refund:3',
  ]);
  expect(await movements(time, input.reference)).toEqual([
    'charge Succeed 6000 USD',
    'refund Failed 6000 USD',
    'refund Failed 6000 USD',
    'refund Succeed 6000 USD',
  ]);
});

test('the refund of a consent that failed without confirmation is not sent a second time: the money may be back', async () => {
  const input = await inputOf(time, 'storeCard', { onNotStored: 'undo' });
  const refused = await time.sandbox.addFault({
    action: 'status',
    status: 400,
    method: 'POST',
    path: '*/payment-methods/*',
  });
  const unreached = { ...declined('*/refunds'), category: 'provider_network_error' };
  const flow = await beginFlow(time, 'storeCard', input, [{ ...unreached, times: 5 }]);
  const outcome = await flow.outcome();
  await time.sandbox.removeFault(refused.id);
  expect(outcome).toMatchObject({ status: 'consentedNotStored', money: { status: 'notRefunded' } });
  expect(keysOf(time, input.reference).filter((key) => key.startsWith('refund'))).toEqual(['refund:1']);
  expect(await movements(time, input.reference)).toEqual(['charge Succeed 6000 USD', 'refund Failed 6000 USD']);
});

test('a hold that is to be reauthorized when the flow is cancelled is released, and no other is made', async () => {
  const card = await storedInSkippedTime(time);
  const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' } as const;
  const faults = [{ action: 'status', status: 503, method: 'POST', path: '*/voids', times: 4 } as const];
  const hold = await beginHeld(time, { ...card, cardOnFile }, { faults });
  const { answer } = await hold.command('reauthorize');
  await hold.cancel();
  expect(await hold.outcome()).toMatchObject({ status: 'voided' });
  await expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'cancelled'));
  expect(await movements(time, hold.reference)).toEqual([HELD, 'void Succeed 6000 USD']);
});

test('a capture of a hold that was reauthorized never has the key of a capture of the hold before', async () => {
  const card = await storedInSkippedTime(time);
  const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' } as const;
  const hold = await beginHeld(time, { ...card, cardOnFile }, { faults: [{ ...declined('*/captures'), times: 1 }] });
  expect(await hold.ask('capture')).toMatchObject({ status: 'declined' });
  expect(await hold.ask('reauthorize')).toMatchObject({ status: 'succeeded' });
  expect(await hold.ask('capture')).toMatchObject({ status: 'succeeded' });
  await hold.outcome();
  expect(keysOf(time, hold.reference)).toEqual([
    'createPayment:1',
    'authorize:1',
    'capture:1',
    'void:1',
    'createPayment:2',
    'authorize:2',
    'capture:2',
  ]);
  expect(await movements(time, hold.reference)).toEqual([
    HELD,
    'capture Failed 6000 USD',
    'void Succeed 6000 USD',
    HELD,
    'capture Succeed 6000 USD',
  ]);
});

test('two refunds whose command ids differ at their end alone are two, each under one key however often it is sent', async () => {
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge', { amount: 20_000 }));
  const { paymentId = '' } = (await charge.outcome()) as { paymentId?: string };
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: charge.reference });
  const long = 'r'.repeat(199);
  const path = `/payments/${paymentId}/refunds`;
  for (const commandId of [`${long}1`, `${long}2`]) {
    await time.sandbox.addFault(lostReply(path));
    const { answer } = await actions.command('refund', { commandId, amount: 6_000 });
    await time.passUntil((await time.now()) + HOUR);
    expect(await answer).toMatchObject({ status: 'succeeded', amount: 6_000 });
  }
  const posts = time.requests.operations(paymentId, 'refunds').map(({ key }) => key);
  expect(posts).toHaveLength(4);
  expect(new Set(posts).size).toBe(2);
  expect(await ledgerRows(time, paymentId)).toEqual([
    'charge Succeed 20000 USD',
    'refund Succeed 6000 USD',
    'refund Succeed 6000 USD',
  ]);
});

test('a refund that was declined is sent under another key by another command, and by the same one not at all', async () => {
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = (await charge.outcome()) as { paymentId?: string };
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: charge.reference });
  await time.sandbox.addFault({ ...declined(`/payments/${paymentId}/refunds`), times: 1 });
  const first = await actions.ask('refund', { commandId: 'one' });
  expect(first).toMatchObject({ status: 'declined' });
  await time.passUntil((await time.now()) + 2 * DAY);
  expect(await actions.ask('refund', { commandId: 'one' })).toEqual(first);
  expect(await actions.ask('refund', { commandId: 'two' })).toMatchObject({ status: 'succeeded' });
  const keys = time.requests.operations(paymentId, 'refunds').map(({ key }) => key);
  expect([keys.length, new Set(keys).size]).toEqual([2, 2]);
  expect(await ledgerRows(time, paymentId)).toEqual([
    'charge Succeed 6000 USD',
    'refund Failed 6000 USD',
    'refund Succeed 6000 USD',
  ]);
});
