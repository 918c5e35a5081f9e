import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { beginHeld, beginHold, ledgerRows } from '../../support/virtual-flows.js';
import {
  answers,
  DAY,
  declined,
  failsWith,
  HOUR,
  MINUTE,
  scheduledOf,
  SECOND,
  sharedTime,
  startRaw,
} from './context.js';

const time = sharedTime();
const keyed = () => ({ idempotencyKey: randomUUID() });

const HELD = 'authorization Succeed 6000 USD';
const TAKEN = 'capture Succeed 6000 USD';

type Hold = Awaited<ReturnType<typeof beginHeld>>;
const paymentOf = async (hold: Hold): Promise<string> => (await hold.status()).paymentId ?? '';

/** By somebody else with the same credentials; no event about it ever comes. */
async function captureElsewhere(hold: Hold): Promise<string> {
  const paymentId = await paymentOf(hold);
  await time.provider.createCapture(paymentId, {}, keyed());
  return paymentId;
}

describe('a hold that was captured elsewhere, of which no event tells', () => {
  test.each([
    ['capture', { amount: 3_000 }],
    ['void', {}],
  ] as const)('takes no %s in the minute after a read that showed it, by no capture listed yet', async (name, what) => {
    await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { list_lag_ms: 30 * SECOND } });
    const hold = await beginHeld(time);
    const paymentId = await captureElsewhere(hold);
    await time.holdfast.retryNow(hold.reference);
    await time.passUntil((await time.now()) + SECOND);
    const { answer } = await hold.command(name, { commandId: 'one', ...what });
    const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'the hold is gone: captured'));
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
    await refused;
    expect(await ledgerRows(time, paymentId)).toEqual([HELD, TAKEN]);
    await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { list_lag_ms: 0 } });
  });

  test.each(['capture', 'void'] as const)(
    'is not touched by its deadline (%s), and ends as captured',
    async (onDeadline) => {
      const hold = await beginHeld(time, { onDeadline });
      await time.passUntil(hold.startedAt + DAY);
      const paymentId = await captureElsewhere(hold);
      expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
      expect(await ledgerRows(time, paymentId)).toEqual([HELD, TAKEN]);
      expect(time.requests.operations(paymentId, 'captures')).toEqual([]);
      expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
    },
  );

  test.each(['capture', 'void'] as const)('refuses a %s after hours, and says why', async (name) => {
    const hold = await beginHeld(time);
    await time.passUntil(hold.startedAt + 5 * HOUR);
    const paymentId = await captureElsewhere(hold);
    await expect(hold.ask(name)).rejects.toMatchObject(failsWith('StateConflict', 'the hold is gone: captured'));
    expect(await hold.outcome()).toMatchObject({ status: 'captured' });
    expect(await ledgerRows(time, paymentId)).toEqual([HELD, TAKEN]);
    expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
  });

  test('is not voided while that capture pends: what comes of it is waited for', async () => {
    const hold = await beginHeld(time);
    const paymentId = await paymentOf(hold);
    await time.passUntil(hold.startedAt + 5 * DAY);
    const pends = await time.sandbox.addFault({
      action: 'result',
      status: 'Pending',
      path: `/payments/${paymentId}/captures`,
    });
    await time.sandbox.settings({ pendingMs: 7 * DAY });
    await time.provider.createCapture(paymentId, {}, keyed());
    await time.sandbox.removeFault(pends.id);
    await time.passUntil(hold.startedAt + 9 * DAY);
    expect(await hold.status()).toMatchObject({ needsOperator: true });
    expect(await ledgerRows(time, paymentId)).toEqual([HELD, 'capture Pending 6000 USD']);
    const [, capture] = (await time.sandbox.ledger()).filter(({ payment_id }) => payment_id === paymentId);
    // Right after it was seen to pend, too.
    await hold.event({ eventType: 'payment.payment.update' });
    const { answer } = await hold.command('void');
    const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'nothing was sent'));
    await time.passUntil((await time.now()) + HOUR);
    await refused;
    expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
    await time.sandbox.complete(capture?.transaction_id ?? '', { status: 'Succeed' });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId: capture?.transaction_id });
    expect(await ledgerRows(time, paymentId)).toEqual([HELD, TAKEN]);
    await time.sandbox.settings({ pendingMs: 10_000 });
  });
});

describe('a hold of which the service does not tell', () => {
  test('is not touched: after a quarter of an hour of looking a person is asked, and the caller told', async () => {
    const hold = await beginHeld(time);
    const paymentId = await paymentOf(hold);
    await time.passUntil(hold.startedAt + HOUR);
    const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    const { answer } = await hold.command('capture', { commandId: 'take' });
    const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'nothing was sent'));
    await time.passUntil(hold.startedAt + 2 * HOUR);
    await refused;
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
    expect(time.requests.operations(paymentId, 'captures')).toEqual([]);
    await time.sandbox.removeFault(away.id);
    expect(await hold.ask('capture', { commandId: 'again' })).toMatchObject({ status: 'succeeded' });
    expect(await ledgerRows(time, paymentId)).toEqual([HELD, TAKEN]);
  });

  test('is captured at its deadline once it tells again, and not released instead', async () => {
    const hold = await beginHeld(time, { onDeadline: 'capture' });
    const paymentId = await paymentOf(hold);
    await time.passUntil(hold.startedAt + 6 * DAY - HOUR);
    const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    await time.passUntil(hold.startedAt + 6 * DAY + HOUR);
    expect(await ledgerRows(time, paymentId)).toEqual([HELD]);
    await time.sandbox.removeFault(away.id);
    expect(await hold.outcome()).toMatchObject({ status: 'captured' });
    expect(await ledgerRows(time, paymentId)).toEqual([HELD, TAKEN]);
  });

  test('is shown as held, and takes a void, between the looks of a capture at once', async () => {
    await time.sandbox.settings({ pendingMs: 5 * MINUTE });
    const hold = await beginHold(time, { captureMode: 'auto' }, { card: CARDS.pendsThenSucceeds });
    await time.passUntil(hold.startedAt + MINUTE);
    const { status, paymentId = '' } = await hold.status();
    expect(status).toBe('pending');
    const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    // After a quarter of an hour of looks it waits as long for the next ones.
    await time.passUntil(hold.startedAt + 35 * MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'authorized', waitingFor: 'capture' });
    const { answer } = await hold.command('void', { commandId: 'off' });
    await time.sandbox.removeFault(away.id);
    await time.passUntil((await time.now()) + HOUR);
    expect(await answer).toMatchObject({ status: 'succeeded' });
    await time.sandbox.settings({ pendingMs: 10_000 });
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'command' });
    expect(await ledgerRows(time, paymentId)).toEqual([HELD, 'void Succeed 6000 USD']);
  });

  test('is released, and not captured, where it is cancelled while it is looked at', async () => {
    const hold = await beginHeld(time);
    const paymentId = await paymentOf(hold);
    await time.passUntil(hold.startedAt + HOUR);
    const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    const { answer } = await hold.command('capture', { commandId: 'take' });
    const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'cancelled meanwhile'));
    await time.passUntil(hold.startedAt + HOUR + 30_000);
    await hold.cancel();
    await time.sandbox.removeFault(away.id);
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'cancel' });
    await refused;
    expect(await ledgerRows(time, paymentId)).toEqual([HELD, 'void Succeed 6000 USD']);
  });

  test('since it offers no such read is captured all the same, and its evidence says so', async () => {
    const hold = await beginHeld(time);
    const paymentId = await paymentOf(hold);
    await time.passUntil(hold.startedAt + HOUR);
    const none = await time.sandbox.addFault(answers(404, 'GET', `/payments/${paymentId}`));
    const { answer } = await hold.command('capture');
    await time.passUntil(hold.startedAt + 2 * HOUR);
    expect(await answer).toMatchObject({ status: 'succeeded', evidence: { looked: false } });
    await time.sandbox.removeFault(none.id);
    expect(await ledgerRows(time, paymentId)).toEqual([HELD, TAKEN]);
  });
});

describe('a hold that the service still shows after it must have ended', () => {
  const left = async (): Promise<void> => {
    const [unit] = await time.sandbox.businessUnits();
    await time.sandbox.putBusinessUnit({ app_id: unit?.app_id ?? '', profile: { expired_hold: 'fails_capture' } });
  };

  test('is voided again every day until that succeeds, and a person is told', async () => {
    await left();
    const hold = await beginHeld(time, {}, { faults: [declined('*/voids')] });
    await time.passUntil(hold.startedAt + 10 * DAY);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
    for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
    const outcome = await hold.outcome();
    expect(outcome).toMatchObject({ status: 'voided', reason: 'deadline' });
    expect(Date.parse(outcome.evidence.settledAt)).toBeLessThan(hold.startedAt + 11 * DAY + HOUR);
    expect((await movements(time, hold.reference)).at(-1)).toBe('void Succeed 6000 USD');
  });

  test('is not voided more often because an event of each void comes', async () => {
    await left();
    const hold = await beginHeld(time, {}, { faults: [declined('*/voids')] });
    const paymentId = await paymentOf(hold);
    await time.passUntil(hold.startedAt + 8 * DAY);
    const before = time.requests.operations(paymentId, 'voids').length;
    const last = (await time.sandbox.ledger()).findLast(({ payment_id }) => payment_id === paymentId);
    for (let times = 0; times < 5; times += 1) {
      await hold.event({ eventType: 'payment.void.update', transactionId: last?.transaction_id, status: 'Failed' });
      await time.passUntil((await time.now()) + 60_000);
    }
    expect(time.requests.operations(paymentId, 'voids')).toHaveLength(before);
    await time.client.workflow.getHandle(hold.workflowId).terminate('seen enough');
  });

  test('is called expired after a month, and that nobody has confirmed it', async () => {
    await left();
    const hold = await beginHeld(time, {}, { faults: [declined('*/voids')] });
    const outcome = await hold.outcome();
    expect(outcome).toMatchObject({
      status: 'expired',
      confirmed: false,
      evidence: { proof: expect.stringContaining('Authorized') },
    });
    expect(Date.parse(outcome.evidence.settledAt)).toBeGreaterThan(hold.startedAt + 37 * DAY);
    const voids = (await movements(time, hold.reference)).filter((line) => line.startsWith('void'));
    expect(voids.length).toBeGreaterThan(30);
    expect(voids.length).toBeLessThan(60);
  });
});

describe('a look beside a charge that has no answer yet', () => {
  test.each([
    ['comes after 5 s where the service is quick', '*/charges', ['listCharges']],
    ['waits 15 s where it took as long for the payment', '*', []],
  ])('%s', async (_when, path, looks) => {
    const input = await time.input();
    const slow = { action: 'delay', method: 'POST', path, delay_ms: 10 * SECOND } as const;
    const fault = await time.sandbox.addFault(slow);
    const flow = await startRaw(time, 'charge', input);
    expect(await flow.result()).toMatchObject({ status: 'succeeded' });
    await time.sandbox.removeFault(fault.id);
    const calls = await scheduledOf(time, flow.workflowId);
    expect(calls.filter((name) => name === 'listCharges')).toEqual(looks);
  });

  test('comes after 15 s where the service has been slow and the charge hangs', async () => {
    const input = await time.input();
    const slow = { action: 'delay', method: 'POST', path: '/payments', delay_ms: 10 * SECOND } as const;
    const hangs = { ...slow, path: '*/charges', delay_ms: 50 * SECOND };
    const faults = [await time.sandbox.addFault(slow), await time.sandbox.addFault(hangs)];
    const flow = await startRaw(time, 'charge', input);
    const begun = await time.now();
    expect(await flow.result()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'reply' } });
    for (const { id } of faults) await time.sandbox.removeFault(id);
    expect((await time.now()) - begun).toBeLessThan(65 * SECOND);
    expect((await scheduledOf(time, flow.workflowId)).filter((name) => name === 'listCharges')).not.toEqual([]);
  });
});
