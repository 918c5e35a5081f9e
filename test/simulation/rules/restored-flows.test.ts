import { describe, expect, test } from 'vitest';
import { storedInSkippedTime } from '../../support/cards.js';
import { movements } from '../../support/payments.js';
import { anotherCard, declinedFor } from '../../support/subscriptions.js';
import { begin, beginActions, beginHeld, reviewedInput, SPECS } from '../../support/virtual-flows.js';
import { beginFlow, DAY, HOUR, inputOf, MINUTE, OPERATOR, sharedTime } from './context.js';
import { restore as restoreOf, type Restoring, type Taken, taken as takenOf } from './restored.js';
import { beginWeekly } from './weekly.js';

const time = sharedTime({ billing: true });
const taken = (): Taken => takenOf(time);
const restore = (state: Taken, how?: Restoring): Promise<void> => restoreOf(time, state, how);

const HELD = 'authorization Succeed 6000 USD';
const CAPTURED = 'capture Succeed 6000 USD';

describe('while the service knows the keys of the lost time', () => {
  test('a hold that its deadline reauthorized is reauthorized as that hold, and followed', async () => {
    const card = await storedInSkippedTime(time);
    const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' as const };
    const hold = await beginHeld(time, { ...card, cardOnFile, onDeadline: 'reauthorize', captureDeadline: '2 hours' });
    const state = taken();
    await time.passUntil(hold.startedAt + 2.1 * HOUR);
    const moved = [HELD, 'void Succeed 6000 USD', HELD];
    expect(await movements(time, hold.reference)).toEqual(moved);
    await restore(state, { downFor: HOUR / 2 });
    await time.passUntil(Date.now() + MINUTE);
    expect(await movements(time, hold.reference)).toEqual(moved);
    expect(await hold.ask('capture')).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, hold.reference)).toEqual([...moved, CAPTURED]);
  });

  test('a hold that a command reauthorized is followed once the command is given again', async () => {
    const card = await storedInSkippedTime(time);
    const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' as const };
    const hold = await beginHeld(time, { ...card, cardOnFile });
    const state = taken();
    const { transactionId } = await hold.ask('reauthorize', { commandId: 'longer' });
    await restore(state, { downFor: HOUR });
    expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ transactionId });
    await time.passUntil(Date.now() + MINUTE);
    expect(await hold.ask('capture')).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, hold.reference)).toEqual([HELD, 'void Succeed 6000 USD', HELD, CAPTURED]);
  });

  test('a flow that is lost with its reauthorization is asked for again, and follows the hold that there is', async () => {
    const state = taken();
    const card = await storedInSkippedTime(time);
    const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' as const };
    const input = { ...(await inputOf(time, 'authorizeAndCapture')), ...card, captureMode: 'manual', cardOnFile };
    const hold = await beginFlow(time, 'authorizeAndCapture', input);
    await time.passUntil(Date.now() + MINUTE);
    await hold.ask('reauthorize', { commandId: 'longer' });
    await restore(state);
    await time.holdfast.authorize(input as never);
    await time.passUntil(Date.now() + MINUTE);
    expect(await time.holdfast.capture(input.reference)).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, input.reference)).toEqual([HELD, 'void Succeed 6000 USD', HELD, CAPTURED]);
  });

  test('a hold that was reauthorized is released by a cancel that comes afterwards', async () => {
    const card = await storedInSkippedTime(time);
    const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' as const };
    const hold = await beginHeld(time, { ...card, cardOnFile });
    const state = taken();
    await hold.ask('reauthorize', { commandId: 'longer' });
    await restore(state, { downFor: HOUR });
    await hold.cancel();
    expect(await hold.outcome()).toMatchObject({ status: 'voided' });
    const voided = 'void Succeed 6000 USD';
    expect(await movements(time, hold.reference)).toEqual([HELD, voided, HELD, voided]);
  });

  test('a hold that somebody else voided in the lost time is not made again', async () => {
    const card = await storedInSkippedTime(time);
    const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' as const };
    const hold = await beginHeld(time, { ...card, cardOnFile, onDeadline: 'reauthorize', captureDeadline: '2 hours' });
    const state = taken();
    await hold.ask('void', { commandId: 'not wanted' });
    await restore(state, { downFor: 3 * HOUR });
    expect(await hold.outcome()).toMatchObject({
      status: 'voided',
      reason: expect.stringContaining('not reauthorized'),
    });
    expect(await movements(time, hold.reference)).toEqual([HELD, 'void Succeed 6000 USD']);
  });

  test('a hold that is asked for again and was voided is told to be voided, and not to be held', async () => {
    const state = taken();
    const input = { ...(await inputOf(time, 'authorizeAndCapture')), captureMode: 'manual' };
    const hold = await beginFlow(time, 'authorizeAndCapture', input);
    await time.passUntil(Date.now() + MINUTE);
    await hold.ask('void');
    await restore(state);
    await time.holdfast.authorize(input as never);
    await time.passUntil(Date.now() + MINUTE);
    expect(await time.holdfast.authorize(input as never)).toMatchObject({ status: 'voided' });
  });

  test('another part of a hold that was captured in part is refused', async () => {
    const hold = await beginHeld(time);
    const state = taken();
    await hold.ask('capture', { amount: 5_000, commandId: 'first' });
    await restore(state, { downFor: HOUR });
    await expect(hold.ask('capture', { amount: 700, commandId: 'second' })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('captured') },
    });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 5_000 });
  });

  test('a payment that the service refuses waits for a person: a lost run may have charged one', async () => {
    const state = taken();
    await restore(state);
    const input = await inputOf(time, 'charge');
    await time.sandbox.addFault({ action: 'status', status: 400, method: 'POST', path: '/payments', times: 9 });
    expect(await time.holdfast.charge(input as never)).toMatchObject({ status: 'unknown' });
    expect(await time.holdfast.status(input.reference)).toMatchObject({ needsOperator: true, waitingFor: 'operator' });
    await time.sandbox.clearFaults();
  });
});

describe('with the keys of the lost time forgotten', () => {
  test('a capture that is given again is not made again', async () => {
    const hold = await beginHeld(time);
    const state = taken();
    await hold.ask('capture', { commandId: 'shipment-1' });
    await hold.outcome();
    await restore(state, { downFor: 26 * HOUR });
    await expect(hold.ask('capture', { commandId: 'shipment-1' })).rejects.toMatchObject({
      cause: { type: 'StateConflict', message: expect.stringContaining('captured') },
    });
    expect(await hold.outcome()).toMatchObject({ status: 'captured' });
    expect(await movements(time, hold.reference)).toEqual([HELD, CAPTURED]);
  });

  test('a review that is decided again, days after, does not charge again', async () => {
    const flow = await begin(
      time,
      SPECS.charge(await reviewedInput(time, { risk: { when: 'before', reviewTimeLimit: '9 days' } })),
    );
    await time.passUntil(Date.now() + MINUTE);
    const state = taken();
    await flow.ask('decideReview', { ...OPERATOR, decision: 'approve' });
    const { transactionId } = await flow.outcome();
    await restore(state);
    await time.passUntil(Date.now() + 3 * DAY);
    await flow.ask('decideReview', { ...OPERATOR, decision: 'approve' });
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded', transactionId });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('a refund of the lost time that is given again is the one that was made', async () => {
    const input = await inputOf(time, 'charge');
    const { paymentId = '' } = (await (await beginFlow(time, 'charge', input)).outcome()) as { paymentId?: string };
    const state = taken();
    const actions = { paymentId, paymentReference: input.reference, currency: 'USD' };
    const refund = { amount: 5_500, commandId: 'return-1' };
    const { transactionId } = await (await beginActions(time, actions)).ask('refund', refund);
    await restore(state, { downFor: 26 * HOUR });
    expect(await (await beginActions(time, actions)).ask('refund', refund)).toMatchObject({
      status: 'succeeded',
      transactionId,
    });
    const refunds = (await time.sandbox.ledger()).filter(
      ({ kind, payment_id }) => kind === 'refund' && payment_id === paymentId,
    );
    expect(refunds).toHaveLength(1);
  });

  test('a period that was billed in the lost time is billed again by nobody who has the statement', async () => {
    const { flow, reach, tried } = await beginWeekly(time, { periods: 2 });
    const state = taken();
    await reach(1);
    const billed = ['1.1 day 0 Succeed 6000 EUR'];
    expect(await tried()).toEqual(billed);
    await restore(state, { downFor: 2 * DAY, statement: true });
    await reach(6);
    expect(await flow.status()).toMatchObject({ subscription: { billedPeriods: 1 } });
    expect(await tried()).toEqual(billed);
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2 });
    expect(await tried()).toEqual([...billed, '2.1 day 7 Succeed 6000 EUR']);
  });

  test('a subscription that is lost with its first bill is made again, and its bill found by the statement', async () => {
    const state = taken();
    const { flow, input, reach, tried } = await beginWeekly(time, { periods: 1, missedPeriods: 'billAll' });
    await reach(1);
    const billed = ['1.1 day 0 Succeed 6000 EUR'];
    expect(await tried()).toEqual(billed);
    await restore(state, { downFor: 2 * DAY, statement: true });
    await time.holdfast.subscribe(input);
    const again = time.client.workflow.getHandle(flow.workflowId);
    expect(await again.result()).toMatchObject({ status: 'completed', billedPeriods: 1 });
    expect(await tried()).toEqual(billed);
  });

  test('a bill that was paid in the lost time with another card is not given up as unpaid', async () => {
    const stolen = { '1.1': declinedFor('lost_stolen_card') };
    const { flow, input, reach, tried } = await beginWeekly(time, { periods: 1 }, stolen);
    await reach(0);
    expect(await flow.status()).toMatchObject({ waitingFor: 'card' });
    const state = taken();
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await time.passUntil(Date.now() + MINUTE);
    const billed = ['1.1 day 0 Failed 6000 EUR', '1.2 day 0 Succeed 6000 EUR'];
    expect(await tried()).toEqual(billed);
    // Nobody gives the command again.
    await restore(state, { downFor: DAY, statement: true });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1, unpaidPeriods: 0 });
    expect(await tried()).toEqual(billed);
  });
});
