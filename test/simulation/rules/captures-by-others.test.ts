import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { SIGNAL_NAMES } from '../../../src/contract/names.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginHeld, type VirtualFlow } from '../../support/virtual-flows.js';
import { answers, declined, failsWith, HOUR, OPERATOR, sharedTime } from './context.js';

const time = sharedTime();

const HELD = 'authorization Succeed 6000 USD';

async function captureElsewhere(hold: VirtualFlow<unknown>, amount: number): Promise<string> {
  const { paymentId = '' } = await hold.status();
  const key = randomUUID();
  return (await time.provider.createCapture(paymentId, { amount }, { idempotencyKey: key })).data.id;
}

async function failElsewhere(hold: VirtualFlow<unknown>, amount: number): Promise<string> {
  const { paymentId = '' } = await hold.status();
  const path = `/payments/${paymentId}/captures`;
  await time.sandbox.addFault({ ...declined(path), times: 1 });
  await captureElsewhere(hold, amount);
  return path;
}

const profile = async (given: object) =>
  await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: given });

describe('captures that somebody else has made', () => {
  test('are told as the sum of those which succeeded', async () => {
    const hold = await beginHeld(time, { amount: 20_000 });
    const { paymentId } = await hold.status();
    await time.sandbox.addFault({ ...declined(`/payments/${paymentId}/captures`), times: 1 });
    for (const amount of [6_000, 5_000, 5_500]) await captureElsewhere(hold, amount);
    await time.holdfast.retryNow(hold.reference);
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 10_500, currency: 'USD' });
    expect(await movements(time, hold.reference)).toEqual([
      'authorization Succeed 20000 USD',
      'capture Failed 6000 USD',
      'capture Succeed 5000 USD',
      'capture Succeed 5500 USD',
    ]);
  });

  test('are all known to the flow once it has counted them, whatever was told before', async () => {
    const hold = await beginHeld(time, { amount: 20_000 });
    const { paymentId } = await hold.status();
    const unread = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    for (const amount of [5_000, 5_500]) {
      const transactionId = await captureElsewhere(hold, amount);
      await hold.event({ eventType: 'payment.capture.create', transactionId, status: 'Succeed', amount });
    }
    await time.passUntil((await time.now()) + 60_000);
    await time.sandbox.removeFault(unread.id);
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 10_500 });
    expect(await hold.status()).toMatchObject({ needsOperator: false });
  });

  test('that have failed are no answer to one of ours that is under way: it is captured once', async () => {
    const hold = await beginHeld(time, { amount: 20_000 });
    const path = await failElsewhere(hold, 7_000);
    await time.sandbox.addFault({ action: 'delay', delay_ms: 8_000, method: 'POST', path, times: 1 });
    const { answer } = await hold.command('capture', { commandId: 'one', amount: 7_000 });
    await time.passUntil((await time.now()) + 60_000);
    expect(await answer).toMatchObject({ status: 'succeeded', amount: 7_000 });
    expect(await movements(time, hold.reference)).toEqual([
      'authorization Succeed 20000 USD',
      'capture Failed 7000 USD',
      'capture Succeed 7000 USD',
    ]);
  });

  test('that have failed are no answer either where the service says that ours is being processed', async () => {
    const hold = await beginHeld(time, { amount: 20_000 });
    const path = await failElsewhere(hold, 7_000);
    await time.sandbox.addFault({ action: 'garbage', method: 'POST', path, times: 1 });
    await time.sandbox.addFault({ ...answers(409, 'POST', path), times: 1 });
    const { answer } = await hold.command('capture', { commandId: 'one', amount: 7_000 });
    await time.passUntil((await time.now()) + HOUR);
    expect(await answer).toMatchObject({ status: 'succeeded', amount: 7_000 });
    const captures = (await movements(time, hold.reference)).filter((row) => row.startsWith('capture Succeed'));
    expect(captures).toEqual(['capture Succeed 7000 USD']);
  });

  test('that have failed long before are no answer where ours can only be looked for', async () => {
    const hold = await beginHeld(time, { amount: 20_000 });
    const path = await failElsewhere(hold, 7_000);
    await time.passUntil((await time.now()) + HOUR);
    await time.sandbox.addFault({ action: 'garbage', method: 'POST', path, times: 1 });
    await time.sandbox.addFault({ ...answers(409, 'POST', path), times: 5 });
    const { answer } = await hold.command('capture', { commandId: 'one', amount: 7_000 });
    await time.passUntil((await time.now()) + 3 * HOUR);
    expect(await answer).toMatchObject({ status: 'notExecuted' });
  });

  test('that have failed are not adopted after a reset: the deadline captures', async () => {
    const hold = await beginHeld(time, { onDeadline: 'capture', captureDeadline: '4 hours' });
    await failElsewhere(hold, 6_000);
    await resetToFirstTask(time.client, hold.workflowId);
    await time.passUntil(hold.startedAt + 5 * HOUR);
    expect(await movements(time, hold.reference)).toEqual([
      HELD,
      'capture Failed 6000 USD',
      'capture Succeed 6000 USD',
    ]);
  });

  test('are seen when an event or a person makes the flow look: it ends captured, and takes nothing itself', async () => {
    const hold = await beginHeld(time);
    const transactionId = await captureElsewhere(hold, 6_000);
    await hold.event({ eventType: 'payment.capture.create', transactionId, status: 'Succeed' });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000, transactionId });
    expect(await movements(time, hold.reference)).toEqual([HELD, 'capture Succeed 6000 USD']);
  });
});

describe('captured money is neither voided nor captured again', () => {
  const SUCCEEDS = { eventType: 'payment.capture.create', status: 'Succeed', amount: 6_000 } as const;

  beforeEach(async () => await profile({ partial_capture_void: 'cancels' }));
  afterEach(async () => await profile({ partial_capture_void: 'refused' }));

  async function expectOneCapture(hold: VirtualFlow<unknown>): Promise<void> {
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
    const moved = await movements(time, hold.reference);
    expect(moved).toEqual(['authorization Succeed 20000 USD', 'capture Succeed 6000 USD']);
  }

  test.each([
    ['void', {}],
    ['capture', { amount: 6_000 }],
  ] as const)(
    'by a %s that has begun before a capture by others is told, and could not be sent',
    async (name, what) => {
      const hold = await beginHeld(time, { amount: 20_000 });
      const { paymentId } = await hold.status();
      const fault = await time.sandbox.addFault(answers(503, 'POST', `/payments/${paymentId}/${name}s`));
      const { answer } = await hold.command(name, { commandId: 'off', ...what });
      await time.passUntil((await time.now()) + 10 * 60_000);
      await time.sandbox.removeFault(fault.id);
      const transactionId = await captureElsewhere(hold, 6_000);
      await hold.event({ ...SUCCEEDS, transactionId });
      await time.passUntil((await time.now()) + 4 * HOUR);
      // Nothing says whose capture it is.
      const known = name === 'void' ? { status: 'notExecuted' } : { status: 'succeeded', transactionId };
      expect(await answer).toMatchObject(known);
      await expectOneCapture(hold);
    },
  );

  test('by a void during whose look a capture by others is told: the look may be older, and is made again', async () => {
    const hold = await beginHeld(time, { amount: 20_000 });
    await time.passUntil((await time.now()) + 2 * 60_000);
    const looking = time.hold('getPayment');
    const { answer } = await hold.command('void', { commandId: 'off' });
    const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'the hold is gone: captured'));
    await looking.reached;
    await hold.event({ ...SUCCEEDS, transactionId: 'not-shown-yet' });
    looking.release();
    const again = time.hold('getPayment');
    await time.passUntil((await time.now()) + 1_000);
    await captureElsewhere(hold, 6_000);
    again.release();
    await time.passUntil((await time.now()) + HOUR);
    await refused;
    await expectOneCapture(hold);
  });

  test.each([
    ['void', {}],
    ['capture', { amount: 6_000 }],
  ] as const)(
    'by a %s that comes with the news of a capture by others, though the hold was seen just before',
    async (name, what) => {
      const hold = await beginHeld(time, { amount: 20_000 });
      const transactionId = await captureElsewhere(hold, 6_000);
      const { businessUnit, paymentId = '', currency } = await hold.status();
      const event = { ...SUCCEEDS, hash: 'late', created: String(hold.startedAt), businessUnit, paymentId, currency };
      await time.stopWorker();
      const handle = time.client.workflow.getHandle(hold.workflowId);
      await handle.signal(SIGNAL_NAMES.transactionEvent, { ...event, transactionId, trusted: true });
      const refused = expect(hold.ask(name, { commandId: 'off', ...what })).rejects.toMatchObject(
        failsWith('StateConflict', 'the hold is gone: captured'),
      );
      await time.startWorker();
      await time.passUntil((await time.now()) + 60_000);
      await refused;
      await expectOneCapture(hold);
    },
  );
});

describe('a refund by others of what others have captured', () => {
  const refund = { eventType: 'payment.refund.create', transactionId: 'given-back', status: 'Succeed' } as const;
  const called = {
    needsOperator: true,
    operatorReason: expect.stringContaining('refund given-back Succeed, beside authorization'),
  };

  test('calls a person at once, also once the hold is known to be captured', async () => {
    const hold = await beginHeld(time);
    await hold.event(refund);
    await time.passUntil((await time.now()) + 60_000);
    expect(await hold.status()).toMatchObject({ status: 'authorized', ...called });
    const transactionId = await captureElsewhere(hold, 6_000);
    await hold.event({ eventType: 'payment.capture.create', transactionId, status: 'Succeed' });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId });
    expect(await hold.status()).toMatchObject(called);
  });

  test('makes the hold be read: the event of the capture may be lost', async () => {
    const hold = await beginHeld(time);
    const transactionId = await captureElsewhere(hold, 6_000);
    await hold.event(refund);
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000, transactionId });
    expect(await hold.status()).toMatchObject(called);
    expect(await time.now()).toBeLessThan(hold.startedAt + HOUR);
  });

  test('counts while a capture of ours is under way, which takes no event of it', async () => {
    const hold = await beginHeld(time);
    const { paymentId } = await hold.status();
    const path = `/payments/${paymentId}/captures`;
    await time.sandbox.addFault({ action: 'delay', delay_ms: 8_000, method: 'POST', path, times: 1 });
    const { answer } = await hold.command('capture', { commandId: 'one' });
    await hold.event(refund);
    await time.passUntil((await time.now()) + 60_000);
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(await hold.status()).toMatchObject({ status: 'captured', ...called });
  });

  test('says nothing if nobody has signed it', async () => {
    const hold = await beginHeld(time);
    await hold.event({ ...refund, trusted: false });
    await time.passUntil((await time.now()) + 60_000);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
  });
});

test('a capture by others that is listed late ends the hold whenever it is looked at', async () => {
  await profile({ list_lag_ms: 30_000 });
  const hold = await beginHeld(time);
  const transactionId = await captureElsewhere(hold, 6_000);
  await hold.event({ eventType: 'payment.capture.create', transactionId, status: 'Succeed' });
  await time.passUntil((await time.now()) + HOUR);
  expect(await hold.status()).toMatchObject({ status: 'authorized' });
  await time.holdfast.retryNow(hold.reference);
  expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000, transactionId });
  await profile({ list_lag_ms: 0 });
});

test('a payment that is captured by no capture that is listed waits for a person, whose word ends it', async () => {
  await profile({ second_charge: 'allowed' });
  const hold = await beginHeld(time);
  const { paymentId = '' } = await hold.status();
  const { paymentMethod } = await time.input();
  await time.provider.createCharge(paymentId, { paymentMethod }, { idempotencyKey: randomUUID() });
  await profile({ second_charge: 'refused' });
  const early = time.holdfast.settleManually(hold.reference, { ...OPERATOR, status: 'notExecuted' });
  await expect(early).rejects.toThrow('the money is held');
  await time.passUntil((await time.now()) + 120_000);
  const { answer } = await hold.command('capture', { commandId: 'one' });
  const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'nothing was sent'));
  await time.passUntil((await time.now()) + HOUR);
  await refused;
  expect(await hold.status()).toMatchObject({
    needsOperator: true,
    operatorReason: expect.stringContaining('settleManually'),
  });
  await time.holdfast.settleManually(hold.reference, { ...OPERATOR, status: 'notExecuted' });
  expect(await hold.outcome()).toMatchObject({
    status: 'voided',
    reason: 'elsewhere',
    evidence: { knownBy: 'operator' },
  });
});

test('one that the service shows as refunded calls a person, though no event told of it', async () => {
  const hold = await beginHeld(time);
  const captureId = await captureElsewhere(hold, 6_000);
  const { paymentId = '' } = await hold.status();
  await time.provider.createRefund(paymentId, { captureId, amount: 6_000 }, { idempotencyKey: randomUUID() });
  await time.holdfast.retryNow(hold.reference);
  expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
  expect((await hold.status()).operatorReason).toContain('as Refunded: look what of it was given back');
});
