import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomUUID } from 'node:crypto';
import type { FaultInput } from '../../sandbox/control.js';
import { CARDS } from '../support/charges.js';
import { gaps } from '../support/request-log.js';
import {
  HOUR,
  MINUTE,
  SECOND,
  type StartedCharge,
  startVirtualTime,
  type VirtualTime,
} from '../support/virtual-time.js';
import { expectOnLedger, expectGaps, plant, signalEvent } from './checks.js';
import { half } from '../support/counts.js';

const CHARGES_DOWN: FaultInput = { action: 'status', status: 503, method: 'POST', path: '*/charges' };
const OPERATOR = { who: 'Grace Hopper', why: 'seen in the back office of the provider' };

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  await time?.close();
});

/** A charge whose POSTs are never answered. With a CVV its window is the short one. */
async function startUnanswered(): Promise<StartedCharge> {
  const input = await time.input({ cvv: '737' });
  await plant(time, input, CHARGES_DOWN);
  return await time.start(input);
}

describe('while the absence of a charge is being proven', () => {
  test('an operator who knows better ends it, but not while it may still be sent', async () => {
    const charge = await startUnanswered();
    const { reference } = charge.input;
    const transactionId = randomUUID();
    const decision = { ...OPERATOR, status: 'succeeded', transactionId } as const;

    await time.passUntil(charge.startedAt + 2 * HOUR);
    await expect(time.holdfast.settleManually(reference, decision)).rejects.toMatchObject({ type: 'StateConflict' });
    await time.passUntil(charge.startedAt + 3 * HOUR);
    expect(await charge.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof' });
    await time.holdfast.settleManually(reference, decision);

    expect(await charge.outcome()).toMatchObject({
      status: 'succeeded',
      transactionId,
      evidence: { knownBy: 'operator', operator: OPERATOR },
    });
    expect(await time.sandbox.ledger(reference)).toEqual([]);
  });

  test('an event that names a transaction keeps it from being called absent, and asks an operator', async () => {
    const charge = await startUnanswered();
    const { reference } = charge.input;
    await time.passUntil(charge.startedAt + 3 * HOUR);
    const { paymentId = '' } = await charge.status();
    const transactionId = randomUUID();
    await signalEvent(time, charge, { eventType: 'payment.charge.create', paymentId, transactionId });

    // Long after the proof would have been complete.
    await time.passUntil(charge.startedAt + 6 * HOUR);
    const status = await charge.status();
    expect(status).toMatchObject({ status: 'unknown', waitingFor: 'proof', needsOperator: true });
    expect(status.operatorReason).toContain(transactionId);
    const reads = time.requests.reads(paymentId);
    expect(reads.some(({ path }) => path.endsWith(`/charges/${transactionId}`))).toBe(true);
    // Nobody may come for weeks: hourly by now, the transaction and the list, or the history overflows.
    await time.passUntil(charge.startedAt + 12 * HOUR);
    expect(time.requests.reads(paymentId).length - reads.length).toBeLessThanOrEqual(2 * 7);

    // Somebody signed for it: it is there, however it ended.
    const absent = time.holdfast.settleManually(reference, { ...OPERATOR, status: 'notExecuted' });
    await expect(absent).rejects.toThrow(`names transaction ${transactionId}`);
    await time.holdfast.settleManually(reference, { ...OPERATOR, status: 'declined' });
    const outcome = await charge.outcome();
    expect(outcome).toMatchObject({ status: 'declined', evidence: { knownBy: 'operator' } });
  });
});

describe('credentials that are rejected for three hours', () => {
  test.each(
    half([
      ['from the first call on', '*'],
      ['once the payment exists', '*/charges'],
    ]),
  )('%s call an operator, slow the calls down and cost nothing once they work again', async (_when, path) => {
    const input = await time.input();
    const rejected = await plant(time, input, { action: 'status', status: 401, path });
    const charge = await time.start(input);

    await time.passUntil(charge.startedAt + MINUTE);
    expect(await charge.status()).toMatchObject({ waitingFor: 'credentials', needsOperator: true });
    await time.passUntil(charge.startedAt + 3 * HOUR);
    expect(await charge.status()).toMatchObject({ waitingFor: 'credentials', needsOperator: true });
    const posts = time.requests
      .posts(input.reference)
      .filter(({ path: to }) => path === '*' || to.endsWith('/charges'));
    const parked = [15, 30, 60, 120, 240, 480].map((s) => s * SECOND);
    expectGaps(gaps(posts), [...parked, ...Array<number>(10).fill(15 * MINUTE)]);
    expect(posts).toHaveLength(parked.length + 11);

    await time.sandbox.removeFault(rejected.id);
    const outcome = await charge.outcome();
    expect(outcome).toMatchObject({ status: 'succeeded' });
    expect(await charge.status()).toMatchObject({ needsOperator: false });
    await expectOnLedger(time, charge, outcome);
  });
});

describe('an operator is asked', () => {
  test('24 h after the start of a charge, not of its last wait, and not earlier', async () => {
    const input = await time.input();
    await plant(time, input, { action: 'result', status: 'Pending', path: '*/charges' });
    await time.stopWorker();
    const charge = await time.start(input);
    await time.passUnserved(charge.startedAt + 15 * HOUR);
    await time.startWorker();
    await time.passUntil(charge.startedAt + 24 * HOUR - MINUTE);
    expect(await charge.status()).toMatchObject({ status: 'pending', needsOperator: false });
    // The next of the hourly polls.
    await time.passUntil(charge.startedAt + 25 * HOUR + MINUTE);
    expect(await charge.status()).toMatchObject({ status: 'pending', needsOperator: true });

    const { transactionId = '' } = await charge.status();
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    await expectOnLedger(time, charge, await charge.outcome());
  });

  test('once more of a transaction that an event had named, and that a read has shown since', async () => {
    const input = await time.input({ card: CARDS.pendsThenSucceeds });
    const lost = { action: 'drop_reply', method: 'POST', path: '*/charges', times: 1 } as const;
    for (const fault of [lost, { ...CHARGES_DOWN, status: 400, times: 1 }]) await plant(time, input, fault);
    const unread = await plant(time, input, { ...CHARGES_DOWN, method: 'GET', path: '*' });
    await time.sandbox.settings({ pendingMs: 7 * 24 * HOUR });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 10 * MINUTE);
    const [row] = await time.sandbox.ledger(input.reference);
    const { payment_id: paymentId = '', transaction_id: transactionId } = row ?? {};
    await signalEvent(time, charge, { paymentId, transactionId, eventType: 'payment.charge.create' });
    await time.passUntil(charge.startedAt + HOUR);
    expect((await charge.status()).operatorReason).toContain(`an event names transaction ${transactionId}`);
    await time.sandbox.removeFault(unread.id);
    await time.passUntil(charge.startedAt + 3 * HOUR);
    expect(await charge.status()).toMatchObject({ status: 'pending', transactionId, needsOperator: false });
    await time.passUntil(charge.startedAt + 26 * HOUR);
    expect((await charge.status()).operatorReason).toContain('no final answer for 24 hours');
    await time.sandbox.settings({ pendingMs: 10_000 });
    await time.sandbox.complete(transactionId ?? '', { status: 'Succeed' });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', transactionId });
  });

  test.each(half([401, 403]))('as soon as a read of a pending charge is answered with %i', async (status) => {
    const input = await time.input();
    await plant(time, input, { action: 'result', status: 'Pending', path: '*/charges' });
    const rejected = await plant(time, input, { action: 'status', method: 'GET', status });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + MINUTE);
    const { operatorReason, ...pending } = await charge.status();
    expect(pending).toMatchObject({ status: 'pending', needsOperator: true });
    expect(operatorReason).toContain('rejects the credentials of business unit "default"');

    await time.sandbox.removeFault(rejected.id);
    await time.sandbox.complete(pending.transactionId ?? '', { status: 'Succeed' });
    await expectOnLedger(time, charge, await charge.outcome());
    expect(await charge.status()).toMatchObject({ needsOperator: false });
  });

  test.each(half([401, 403]))('as soon as the list that is to prove an absence is answered with %i', async (status) => {
    const input = await time.input();
    for (const refused of [503, 400]) await plant(time, input, { ...CHARGES_DOWN, status: refused, times: 1 });
    const rejected = await plant(time, input, { action: 'status', method: 'GET', status });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 10 * MINUTE);
    const { operatorReason, ...proving } = await charge.status();
    expect(proving).toMatchObject({ status: 'unknown', waitingFor: 'proof', needsOperator: true });
    expect(operatorReason).toContain('rejects the credentials of business unit "default"');

    await time.sandbox.removeFault(rejected.id);
    const outcome = await charge.outcome();
    expect(outcome).toMatchObject({ status: 'notExecuted' });
    await expectOnLedger(time, charge, outcome);
  });
});
