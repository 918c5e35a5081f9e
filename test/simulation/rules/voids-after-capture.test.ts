import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { storedInSkippedTime } from '../../support/cards.js';
import { CARDS } from '../../support/charges.js';
import { authorizeInput, movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { begin, beginActions, beginHeld, SPECS } from '../../support/virtual-flows.js';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import type { AppReply } from '../world/app-call.js';
import type { SimulatedWorker } from '../worker/worker.js';
import { answers, DAY, failsWith, HOUR, MINUTE, OPERATOR, sharedTime } from './context.js';

const time = sharedTime();

const HELD = 'authorization Succeed 20000 USD';
const PART = 'capture Succeed 6000 USD';
const REST = 'void Succeed 14000 USD';

/** What a void after a partial capture does at the provider. */
const provider = async (partial_capture_void: 'refused' | 'allowed' | 'cancels') =>
  void (await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { partial_capture_void } }));

let worker: SimulatedWorker | undefined;
/** A worker whose unit is set to send one. */
async function sendingVoids(): Promise<void> {
  await time.stopWorker();
  const unit = { ...DEFAULT_UNIT, voidAfterPartialCapture: true };
  worker = time.simulation.startWorker({ env: { HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: unit }) } });
}

afterEach(async () => {
  await provider('refused');
  await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { reading: 'observed' } });
  await worker?.stop();
  if (worker !== undefined) await time.startWorker();
  worker = undefined;
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

const capturedInPart = async () => {
  const hold = await beginHeld(time, { amount: 20_000 });
  expect(await hold.ask('capture', { commandId: 'part', amount: 6_000 })).toMatchObject({ status: 'succeeded' });
  return hold;
};

describe('what a partial capture has left, where the service offers a void of it', () => {
  test('is not voided unless the unit is set so: the void might cancel the capture, and the outcome says it', async () => {
    await provider('cancels');
    const hold = await capturedInPart();
    expect(await hold.outcome()).toMatchObject({
      status: 'captured',
      capturedAmount: 6_000,
      released: { amount: 14_000, by: 'expiry', why: expect.stringContaining('voidAfterPartialCapture is not set') },
    });
    const explained = await time.holdfast.explain(hold.reference);
    expect(explained).toContain('140.00 USD are released by the provider at');
    expect(explained).toContain('voidAfterPartialCapture is not set for business unit "default"');
    expect(await movements(time, hold.reference)).toEqual([HELD, PART]);
  });

  test('is voided where it is set, once a read shows that the capture stands', async () => {
    await provider('allowed');
    await sendingVoids();
    const hold = await capturedInPart();
    expect(await hold.outcome()).toMatchObject({
      status: 'captured',
      capturedAmount: 6_000,
      released: { amount: 14_000, by: 'void', transactionId: expect.any(String) },
    });
    expect(await hold.status()).toMatchObject({ needsOperator: false });
    expect(await movements(time, hold.reference)).toEqual([HELD, PART, REST]);
  });

  test.each(['a read', 'its event'] as const)('is voided also where %s shows the sum that it releases', async (by) => {
    await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { reading: 'interface' } });
    await provider('allowed');
    await sendingVoids();
    const hold = await beginHeld(time, { amount: 20_000 });
    const { paymentId } = await hold.status();
    if (by === 'its event')
      await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `/payments/${paymentId}/voids` });
    await hold.command('capture', { commandId: 'part', amount: 6_000 });
    await time.passUntil((await time.now()) + 2_000);
    if (by === 'its event') {
      const { transactionId = '' } = await hold.status();
      await hold.event({ eventType: 'payment.void.update', transactionId, status: 'Succeed', amount: 14_000 });
      await time.sandbox.complete(transactionId, { status: 'Succeed' });
    }
    await time.passUntil((await time.now()) + MINUTE);
    expect(await hold.status()).toMatchObject({ needsOperator: false });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', released: { amount: 14_000, by: 'void' } });
  });

  test('is not voided where it is set, and the service offers none', async () => {
    await sendingVoids();
    const hold = await capturedInPart();
    const { paymentId = '', ...outcome } = await hold.outcome();
    expect(outcome).toMatchObject({ released: { by: 'expiry', why: 'the service offers no void after a capture' } });
    expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
  });

  test('is not voided, nor asked about, once a capture by others is told while ours is under way', async () => {
    await provider('allowed');
    await sendingVoids();
    const hold = await beginHeld(time, { amount: 20_000 });
    const capturing = time.hold('createCapture');
    await hold.command('capture', { commandId: 'part', amount: 6_000 });
    await capturing.reached;
    const others = { eventType: 'payment.capture.create', transactionId: 'others', status: 'Succeed' } as const;
    await hold.event({ ...others, amount: 5_000 });
    await time.passUntil((await time.now()) + 1_000);
    capturing.release();
    await time.passUntil((await time.now()) + MINUTE);
    const { status, outcome, operatorReason, paymentId } = await hold.status();
    expect(status).toBe('captured');
    expect(outcome).toMatchObject({
      capturedAmount: 6_000,
      released: { amount: 14_000, by: 'expiry', why: 'an event calls another capture Succeed' },
    });
    expect(operatorReason).toContain('others Succeed');
    expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
  });

  test('while it is being voided the capture is known, and what pends is not told as the answer', async () => {
    await provider('allowed');
    await sendingVoids();
    await time.input();
    const input = await authorizeInput(time, CARDS.succeeds, { amount: 20_000 });
    const hold = await begin(time, SPECS.authorize(input));
    expect(await time.holdfast.authorize(input)).toMatchObject({ status: 'authorized' });
    const { paymentId } = await hold.status();
    await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `/payments/${paymentId}/voids` });
    const { transactionId } = await hold.ask('capture', { amount: 6_000 });
    await time.passUntil((await time.now()) + MINUTE);
    const { transactionId: voided = '', operation } = await hold.status();
    expect(operation).toBe('void');
    expect(await time.holdfast.authorize(input, { waitFor: '1 minute' })).toMatchObject({
      status: 'unknown',
      transactionId,
      captured: { transactionId, amount: 6_000 },
    });
    // It answers at once, and its history keeps each question.
    const { events = [] } = await time.client.workflow.getHandle(hold.workflowId).fetchHistory();
    expect((events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length).toBeLessThan(
      30,
    );
    expect(await time.holdfast.explain(hold.reference)).toContain(`captured 60.00 USD by ${transactionId}`);
    await time.sandbox.complete(voided, { status: 'Succeed' });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', released: { by: 'void' } });
  });
});

describe('a void after a partial capture that has cancelled the capture', () => {
  async function cancelled() {
    await provider('cancels');
    await sendingVoids();
    const hold = await capturedInPart();
    await time.passUntil((await time.now()) + MINUTE);
    return hold;
  }

  test('is no capture: a person is called with the exact words, and can say that it was cancelled', async () => {
    const hold = await cancelled();
    const [, capture, voided] = await time.sandbox.ledger(hold.reference);
    const { status, needsOperator, operatorReason, transactionId } = await hold.status();
    expect({ status, needsOperator, transactionId }).toEqual({
      status: 'unknown',
      needsOperator: true,
      transactionId: capture?.transaction_id,
    });
    expect(operatorReason).toContain(
      `the capture ${capture?.transaction_id} may have been cancelled by the void ${voided?.transaction_id}`,
    );
    expect(operatorReason).toContain('is shown as Voided');
    const say = async (status: 'declined' | 'notExecuted', more = {}) =>
      await time.holdfast.settleManually(hold.reference, { ...OPERATOR, status, ...more });
    await expect(say('declined')).rejects.toMatchObject({ message: expect.stringContaining('say succeeded') });
    await expect(say('notExecuted', { transactionId: voided?.transaction_id })).rejects.toMatchObject({
      message: expect.stringContaining('whether the capture'),
    });
    await say('notExecuted');
    expect(await hold.outcome()).toMatchObject({
      status: 'voided',
      amount: 20_000,
      transactionId: voided?.transaction_id,
      reason: expect.stringContaining('has cancelled the capture'),
      evidence: { knownBy: 'operator' },
    });
    const { paymentId = '' } = await hold.status();
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: hold.reference });
    await expect(actions.ask('refund')).rejects.toMatchObject(failsWith('StateConflict'));
  });

  test('is not called one by a read that lags either, and still shows how it stood before the void', async () => {
    const { sandbox } = time.simulation.world;
    let before: AppReply | undefined;
    let voidedAt: number | undefined;
    sandbox.through = async (request, serve) => {
      const [path = ''] = request.path.split('?');
      const now = await time.now();
      if (request.method === 'POST' && path.endsWith('/voids')) voidedAt ??= now;
      const isRead = request.method === 'GET' && /\/payments\/[^/]+$/.test(path);
      const lags = isRead && voidedAt !== undefined && now < voidedAt + MINUTE / 2;
      const reply = lags ? before : undefined;
      const answered = reply ?? (await serve(request));
      if (isRead) before = answered;
      return answered;
    };
    try {
      const hold = await cancelled();
      expect(voidedAt).toBeGreaterThan(0);
      await time.passUntil((await time.now()) + 2 * MINUTE);
      expect(await hold.status()).toMatchObject({ status: 'unknown', needsOperator: true });
    } finally {
      sandbox.through = (request, serve) => serve(request);
    }
  });

  test('is a capture where the person says that it stands, and the outcome says whose word that is', async () => {
    const hold = await cancelled();
    const { transactionId } = await hold.status();
    await time.holdfast.settleManually(hold.reference, { ...OPERATOR, status: 'succeeded', transactionId });
    expect(await hold.outcome()).toMatchObject({
      status: 'captured',
      transactionId,
      capturedAmount: 6_000,
      released: { by: 'void' },
      evidence: { knownBy: 'operator' },
    });
  });

  test('is not called a capture by a run that a reset makes either', async () => {
    const hold = await cancelled();
    await time.passUntil((await time.now()) + HOUR);
    await resetToFirstTask(time.client, hold.workflowId);
    await time.passUntil((await time.now()) + DAY);
    expect(await hold.status()).toMatchObject({ status: 'unknown', needsOperator: true });
  });

  test('may have done so where no read answers after it: a person is called after a quarter of an hour', async () => {
    await provider('allowed');
    await sendingVoids();
    const hold = await beginHeld(time, { amount: 20_000 });
    const { paymentId = '' } = await hold.status();
    const slow = time.hold('createVoid');
    await hold.ask('capture', { amount: 6_000 });
    await slow.reached;
    const fault = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    slow.release();
    const from = await time.now();
    await time.passUntil(from + 10 * MINUTE);
    expect(await hold.status()).toMatchObject({ needsOperator: false });
    await time.passUntil(from + HOUR);
    expect(await hold.status()).toMatchObject({ status: 'unknown', needsOperator: true });
    await time.sandbox.removeFault(fault.id);
    await time.holdfast.retryNow(hold.reference);
    expect(await hold.outcome()).toMatchObject({ status: 'captured', released: { by: 'void' } });
  });
});

test('a hold that is released to be replaced, and was captured in part elsewhere, is settled by a person where no list is offered', async () => {
  await provider('allowed');
  const stored = await storedInSkippedTime(time);
  const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' } as const;
  const hold = await beginHeld(time, { amount: 12_000, ...stored, cardOnFile });
  const { paymentId = '' } = await hold.status();
  const { data } = await time.provider.createCapture(paymentId, { amount: 5_000 }, { idempotencyKey: randomUUID() });
  await time.sandbox.addFault(answers(404, 'GET', `/payments/${paymentId}/captures`));
  await hold.command('reauthorize', { commandId: 'longer' });
  await time.passUntil((await time.now()) + HOUR);
  const said = { ...OPERATOR, status: 'succeeded', transactionId: data.id, amount: 5_000 } as const;
  await time.holdfast.settleManually(hold.reference, said);
  expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 5_000, transactionId: data.id });
});

test('a void of a capture that pends is not sent once a read shows that it has taken its part, though one of the rest is offered', async () => {
  const hold = await beginHeld(time, { amount: 20_000 });
  const { paymentId = '' } = await hold.status();
  await time.sandbox.settings({ pendingMs: 7 * DAY });
  await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `/payments/${paymentId}/captures` });
  const { answer } = await hold.command('capture', { commandId: 'part', amount: 6_000 });
  await time.passUntil((await time.now()) + 2_000);
  const { status, transactionId = '' } = await hold.status();
  expect(status).toBe('pending');
  await provider('cancels');
  await time.sandbox.complete(transactionId, { status: 'Succeed' });
  // Of the capture itself nothing can be read at that moment.
  const path = `/payments/${paymentId}/captures/${transactionId}`;
  const unread = await time.sandbox.addFault(answers(503, 'GET', path));
  await expect(hold.ask('void')).rejects.toMatchObject(failsWith('StateConflict', 'shows the payment as Captured'));
  await time.sandbox.removeFault(unread.id);
  expect(await answer).toMatchObject({ status: 'succeeded', transactionId });
  expect(await movements(time, hold.reference)).toEqual([HELD, PART]);
  await time.sandbox.settings({ pendingMs: 10_000 });
});
