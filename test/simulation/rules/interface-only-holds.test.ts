import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { movements } from '../../support/payments.js';
import { beginHeld, beginHold } from '../../support/virtual-flows.js';
import { resetToFirstTask } from '../../support/resets.js';
import { answers, DAY, declined, failsWith, HOUR, lostReply, MINUTE, OPERATOR, sharedTime } from './context.js';

const time = sharedTime();
beforeAll(async () => {
  await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { offers: 'interface' } });
});

async function liftFaults(): Promise<void> {
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
}

describe('an authorization that a void made unwanted before it was answered', () => {
  test('is followed to its end, as no read could tell it: what is held is voided, and nobody is asked', async () => {
    const slow = { action: 'delay', delay_ms: 20_000, method: 'POST', path: '*/authorizations', times: 1 } as const;
    const hold = await beginHold(time, {}, { faults: [slow] });
    await time.passUntil(hold.startedAt + 12_000);
    const { answer } = await hold.command('void', { commandId: 'released' });
    await time.passUntil(hold.startedAt + 2 * MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'voided', needsOperator: false });
    expect(await answer).toMatchObject({ status: 'succeeded' });
    const { paymentId = '' } = await hold.status();
    expect(time.requests.operations(paymentId, 'authorizations').length).toBeLessThanOrEqual(2);
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
  });

  test('is sent no more where the attempt under way gets no answer', async () => {
    const faults = [{ ...answers(503, 'POST', '*/authorizations') }];
    const hold = await beginHold(time, {}, { faults });
    await time.passUntil(hold.startedAt + 20_000);
    await hold.command('void', { commandId: 'released' });
    const { paymentId = '' } = await hold.status();
    const before = time.requests.operations(paymentId, 'authorizations').length;
    await liftFaults();
    await time.passUntil(hold.startedAt + HOUR);
    expect(time.requests.operations(paymentId, 'authorizations').length).toBe(before);
    expect(await hold.status()).toMatchObject({ status: 'unknown' });
  });

  test('is settled by its signed event, and then voided: no read could ever tell of it', async () => {
    const hold = await beginHold(time, {}, { faults: [{ ...lostReply('*/authorizations', 9) }] });
    await time.passUntil(hold.startedAt + 2_000);
    const { answer } = await hold.command('void', { commandId: 'released' });
    await time.passUntil(hold.startedAt + MINUTE);
    const [made] = await time.sandbox.ledger(hold.reference);
    const transactionId = made?.transaction_id ?? '';
    const event = { eventType: 'payment.authorization.create', transactionId, status: 'Succeed' as const };
    await hold.event({ ...event, amount: 6_000, reconciliationId: 'of-another' });
    await hold.event({ ...event, amount: 6_000, trusted: false });
    await hold.event({ ...event, amount: 6_000, reconciliationId: hold.reference });
    await time.passUntil(hold.startedAt + 2 * HOUR);
    expect(await hold.status()).toMatchObject({ status: 'voided' });
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
  });
});

describe('a capture that is voided while it pends', () => {
  test('is settled by the one event about it, which came while the void was under way', async () => {
    const unit = async (profile: object) => await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile });
    await unit({ offers: 'all', pending_void: 'allowed' });
    await time.sandbox.settings({ pendingMs: 7 * DAY });
    const pends = { action: 'result', status: 'Pending' } as const;
    const faults = [
      { ...pends, path: '*/captures' },
      { ...pends, path: '*/voids' },
    ];
    const hold = await beginHold(time, { captureMode: 'auto' }, { faults });
    await time.passUntil(hold.startedAt + 2_000);
    const { paymentId = '', transactionId: captureId = '' } = await hold.status();
    await time.sandbox.addFault({ ...pends, path: `/payments/${paymentId}/voids` });
    const { answer } = await hold.command('void', { commandId: 'released' });
    await time.passUntil(hold.startedAt + 4_000);
    const { operation, transactionId: voidId = '' } = await hold.status();
    expect(operation).toBe('void');
    await unit({ offers: 'interface', pending_void: 'refused' });
    const ended = { eventType: 'payment.capture.update', transactionId: captureId, amount: 6_000 };
    await hold.event({ ...ended, status: 'Failed', category: 'payment_method_declined' });
    await time.passUntil(hold.startedAt + MINUTE);
    await hold.event({ eventType: 'payment.void.update', transactionId: voidId, status: 'Succeed', amount: 6_000 });
    await time.passUntil(hold.startedAt + HOUR);
    expect(await hold.status()).toMatchObject({ status: 'voided' });
    expect(await answer).toMatchObject({ status: 'succeeded', transactionId: voidId });
    await time.sandbox.settings({ pendingMs: 10_000 });
    await liftFaults();
  });
});

describe('a hold that is shown as captured, where no list says by what', () => {
  test.each([
    [
      { status: 'succeeded', transactionId: 'seen', amount: 5_500 },
      { status: 'captured', capturedAmount: 5_500, transactionId: 'seen' },
    ],
    [{ status: 'notExecuted' }, { status: 'voided', reason: 'elsewhere' }],
  ] as const)('is ended by a person who says %o', async (decision, end) => {
    const hold = await beginHeld(time, {}, { faults: [answers(404, 'GET', '*/captures')] });
    const { paymentId = '' } = await hold.status();
    await time.sandbox.addFault(answers(404, 'GET', `/payments/${paymentId}/captures`));
    await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { offers: 'all' } });
    await time.provider.createCapture(paymentId, { amount: 5_500 }, { idempotencyKey: `elsewhere-${paymentId}` });
    await time.passUntil(hold.startedAt + HOUR);
    const { answer } = await hold.command('void');
    const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'it may have been captured'));
    await time.passUntil(hold.startedAt + 2 * HOUR);
    await refused;
    expect(await hold.status()).toMatchObject({
      status: 'authorized',
      operatorReason: expect.stringContaining(`look in its back office for captures of payment ${paymentId}`),
    });
    const say = async (what: object) =>
      await time.holdfast.settleManually(hold.reference, { ...OPERATOR, ...what } as never);
    await expect(say({ status: 'succeeded' })).rejects.toThrow('name the transactionId');
    await say(decision);
    expect(await hold.status()).toMatchObject({ status: end.status });
    expect(await hold.outcome()).toMatchObject({ ...end, evidence: { knownBy: 'operator' } });
    await liftFaults();
    await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { offers: 'interface' } });
  });
});

describe('a hold that nothing can be read of, where an event has told of a capture by others', () => {
  async function told() {
    const hold = await beginHeld(time);
    const event = { eventType: 'payment.capture.create', status: 'Succeed', amount: 5_500 } as const;
    await hold.event({ ...event, transactionId: 'others' });
    const off = hold.ask('void', { commandId: 'off' });
    await expect(off).rejects.toMatchObject(failsWith('StateConflict', 'it may have been captured'));
    const taken = hold.ask('capture', { commandId: 'take' });
    await expect(taken).rejects.toMatchObject(failsWith('StateConflict', 'it may have been captured'));
    expect(await time.holdfast.explain(hold.reference)).toContain('or `settleManually` with what you know');
    const { needsOperator, operatorReason } = await hold.status();
    expect(needsOperator).toBe(true);
    expect(operatorReason).toContain('say by settleManually succeeded, with transactionId and amount, or notExecuted');
    const say = async (what: object) =>
      await time.holdfast.settleManually(hold.reference, { ...OPERATOR, ...what } as never);
    return { hold, say };
  }

  test('is not voided, and ends captured by the word of a person', async () => {
    const { hold, say } = await told();
    await say({ status: 'succeeded', transactionId: 'others', amount: 5_500 });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId: 'others', capturedAmount: 5_500 });
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD']);
  });

  test.each([
    [{ status: 'declined' }, 'it is to be told whether the payment was captured'],
    [{ status: 'succeeded', transactionId: 'others', amount: 6_001 }, '6001 minor units are more than the 6000 held'],
  ])('is not ended by %o', async (what, why) => {
    const { hold, say } = await told();
    await expect(say(what)).rejects.toThrow(why);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
  });

  test('is held on where a person finds no such capture, and can be voided then', async () => {
    const { hold, say } = await told();
    await say({ status: 'notExecuted' });
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
    expect(await hold.ask('void', { commandId: 'again' })).toMatchObject({ status: 'succeeded' });
    expect(await hold.outcome()).toMatchObject({ status: 'voided' });
  });

  test('is held on too where the read that follows the word of a person is not answered', async () => {
    const { hold, say } = await told();
    const { paymentId = '' } = await hold.status();
    const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    await say({ status: 'notExecuted' });
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
    await time.sandbox.removeFault(away.id);
    expect(await hold.ask('void', { commandId: 'again' })).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
  });
});

describe('a hold that nothing can be read of, where an event calls its own declined capture Succeed', () => {
  async function told() {
    const hold = await beginHeld(time);
    const { paymentId = '' } = await hold.status();
    await time.sandbox.addFault({ ...declined(`/payments/${paymentId}/captures`), times: 1 });
    const { status, transactionId = '' } = await hold.ask('capture', { commandId: 'one' });
    expect(status).toBe('declined');
    await hold.event({ eventType: 'payment.capture.update', status: 'Succeed', amount: 6_000, transactionId });
    const off = hold.ask('void', { commandId: 'off' });
    await expect(off).rejects.toMatchObject(failsWith('StateConflict', 'it may have been captured'));
    expect(await time.holdfast.explain(hold.reference)).toContain('or `settleManually` with what you know');
    const say = async (what: object) =>
      await time.holdfast.settleManually(hold.reference, { ...OPERATOR, ...what } as never);
    return { hold, transactionId, say };
  }

  test('ends captured by the word of a person, also long after it must have ended', async () => {
    const { hold, transactionId, say } = await told();
    await time.passUntil(hold.startedAt + 60 * DAY);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
    await say({ status: 'succeeded', transactionId, amount: 6_000 });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId, capturedAmount: 6_000 });
    expect(await movements(time, hold.reference)).toEqual([
      'authorization Succeed 6000 USD',
      'capture Failed 6000 USD',
    ]);
  });

  test('can be captured or voided where a person finds that it took nothing', async () => {
    const { hold, say } = await told();
    await say({ status: 'notExecuted' });
    await time.passUntil((await time.now()) + HOUR);
    expect(await hold.ask('void', { commandId: 'again' })).toMatchObject({ status: 'succeeded' });
    expect(await hold.outcome()).toMatchObject({ status: 'voided' });
  });
});

test('an event of our own capture, whose reply was lost, stops no repeat of it: only that tells how it ended', async () => {
  const hold = await beginHeld(time);
  const { paymentId = '' } = await hold.status();
  const path = `/payments/${paymentId}/captures`;
  await time.sandbox.addFault(lostReply(path, 1));
  const fault = await time.sandbox.addFault(answers(503, 'POST', path));
  const { answer } = await hold.command('capture', { commandId: 'one' });
  await time.passUntil((await time.now()) + 10 * MINUTE);
  const { transaction_id: transactionId = '' } = (await time.sandbox.ledger(hold.reference)).at(-1) ?? {};
  const event = { eventType: 'payment.capture.create', status: 'Succeed', amount: 6_000 } as const;
  await hold.event({ ...event, transactionId, reconciliationId: hold.reference });
  await time.passUntil((await time.now()) + MINUTE);
  await time.sandbox.removeFault(fault.id);
  await time.passUntil((await time.now()) + HOUR);
  expect(await answer).toMatchObject({ status: 'succeeded', transactionId });
  expect(await hold.status()).toMatchObject({ status: 'captured', needsOperator: false });
  expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'capture Succeed 6000 USD']);
});

test('an event of a capture by others, of the same amount, does not prove our own, of which nothing can be read', async () => {
  const hold = await beginHeld(time);
  const { paymentId = '' } = await hold.status();
  await time.sandbox.addFault(answers(503, 'POST', `/payments/${paymentId}/captures`));
  const { answer } = await hold.command('capture', { commandId: 'one' });
  await time.passUntil((await time.now()) + MINUTE);
  const event = { eventType: 'payment.capture.create', status: 'Succeed', amount: 6_000 } as const;
  await hold.event({ ...event, transactionId: randomUUID() });
  await time.passUntil((await time.now()) + DAY);
  expect(await hold.status()).toMatchObject({ status: 'unknown', operation: 'capture', needsOperator: true });
  await liftFaults();
  await time.holdfast.settleManually(hold.reference, { ...OPERATOR, status: 'succeeded', transactionId: 'own' });
  expect(await answer).toMatchObject({ status: 'succeeded', transactionId: 'own' });
});

describe('a hold that a run made by a reset looks after, where nothing shows what the run before has done', () => {
  test('is never called expired because its time is over: it was captured, and a person says so', async () => {
    const hold = await beginHeld(time);
    const { paymentId = '' } = await hold.status();
    await resetToFirstTask(time.client, hold.workflowId);
    const { data } = await time.provider.createCapture(paymentId, {}, { idempotencyKey: `before-${paymentId}` });
    const say = async (what: object) =>
      await time.holdfast.settleManually(hold.reference, { ...OPERATOR, ...what } as never);
    // Its authorization, and then each void of it: there is none.
    await time.passUntil(hold.startedAt + HOUR);
    await say({ status: 'succeeded' });
    let settledVoids = 0;
    for (let day = 1; day < 11; day += 1) {
      await time.passUntil(hold.startedAt + day * DAY);
      const { operatorReason = '', operation } = await hold.status();
      if (operation !== 'void' || !operatorReason.includes('for a void')) continue;
      expect(await say({ status: 'notExecuted', commandId: `day ${day}` })).toMatchObject({ status: 'notExecuted' });
      settledVoids += 1;
    }
    expect(settledVoids).toBeGreaterThan(0);
    expect(await hold.status()).toMatchObject({
      needsOperator: true,
      operatorReason: expect.stringContaining(`look in its back office for captures of payment ${paymentId}`),
    });
    await say({ status: 'succeeded', transactionId: data.id, amount: 6_000 });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId: data.id, capturedAmount: 6_000 });
  });
});
