import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { CommandAnswer, PaymentRef } from '../../../src/client/send-command.js';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { beginHeld, ledgerRows } from '../../support/virtual-flows.js';
import { HOUR, SECOND, sharedTime } from './context.js';

const time = sharedTime();

const HELD = 'authorization Succeed 6000 USD';
const VOIDED = 'void Succeed 6000 USD';

/** Asked again, as a caller is told to, until it is known how the void ended. Virtual ms that this took. */
async function voided(payment: PaymentRef): Promise<{ answer: CommandAnswer; tookMs: number }> {
  const begun = await time.now();
  for (;;) {
    const answer = await time.holdfast.void(payment, { commandId: 'released' }, { waitFor: '5 seconds' });
    const tookMs = (await time.now()) - begun;
    if ((answer.status !== 'unknown' && answer.status !== 'pending') || tookMs > HOUR) return { answer, tookMs };
  }
}

/** The worker dies, and what it was doing with it; another is there a second later. */
async function replaceWorker(): Promise<void> {
  for (const worker of time.simulation.workers) worker.kill();
  await time.passUnserved((await time.now()) + SECOND);
  await time.startWorker();
}

/** Kills the worker as it begins the named call, or when it is about to tell how that has ended. */
async function killedAt(activity: string, when: 'begun' | 'done', work: () => ReturnType<typeof voided>) {
  const { activities } = time.simulation.engine;
  const ended = activities.ended.bind(activities);
  let isReached = (): void => {};
  const reached = new Promise<void>((resolve) => (isReached = resolve));
  const held = when === 'begun' ? time.hold(activity) : undefined;
  let isLost = false;
  activities.ended = (task, token, end) => {
    if (when === 'begun' || isLost || task.type !== activity) return ended(task, token, end);
    isLost = true;
    isReached();
    return false;
  };
  const replaced = (held?.reached ?? reached).then(async () => {
    const next = replaceWorker();
    held?.release();
    await next;
  });
  try {
    const result = await work();
    await replaced;
    return result;
  } finally {
    activities.ended = ended;
  }
}

/** For one death. A lost read is noticed after 10 s, a lost POST after 15, and the next task may be a few seconds late. */
const LIMIT_MS = 30 * SECOND;
const WHENS = ['begun', 'done'] as const;

describe.each(WHENS)('a void whose worker dies where a call of it is %s', (when) => {
  test.each(['getPayment', 'createVoid'])(
    'is answered within half a minute: %s, in the flow of the hold',
    async (call) => {
      const hold = await beginHeld(time);
      await time.passUntil(hold.startedAt + HOUR);
      const { answer, tookMs } = await killedAt(call, when, () => voided(hold.reference));
      expect(answer).toMatchObject({ status: 'succeeded' });
      expect(tookMs).toBeLessThan(LIMIT_MS);
      expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
    },
  );

  test.each(['findActionsBefore', 'getPaymentAndTransactions', 'createVoid'])(
    'is answered within half a minute: %s, for a payment of others',
    async (call) => {
      const { token } = await time.sandbox.tokenize(CARDS.succeeds);
      const keyed = () => ({ idempotencyKey: randomUUID() });
      const { data: payment } = await time.provider.createPayment({ amount: 6_000, currency: 'USD' }, keyed());
      await time.provider.createAuthorization(payment.id, { paymentMethod: { type: 'tokenized', token } }, keyed());
      const asked = { payment: payment.id, currency: 'USD' };
      const { answer, tookMs } = await killedAt(call, when, () => voided(asked));
      expect(answer).toMatchObject({ status: 'succeeded' });
      expect(tookMs).toBeLessThan(LIMIT_MS);
      expect(await ledgerRows(time, payment.id)).toEqual([HELD, VOIDED]);
    },
  );
});

test('a void is answered as soon as its own call is, and not when the slow look beside it has ended', async () => {
  const hold = await beginHeld(time);
  const { paymentId = '' } = await hold.status();
  const path = `/payments/${paymentId}/voids`;
  const slow = [
    { action: 'delay', method: 'POST', path, delay_ms: 6 * SECOND },
    { action: 'delay', method: 'GET', path, delay_ms: 14 * SECOND },
  ] as const;
  const faults = await Promise.all(slow.map((fault) => time.sandbox.addFault(fault)));
  const { answer, tookMs } = await voided(hold.reference);
  for (const { id } of faults) await time.sandbox.removeFault(id);
  expect(answer).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'reply' } });
  expect(tookMs).toBeLessThan(10 * SECOND);
  expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
});

test('a void asked for again after its flow has ended is answered from the end of that flow, without any worker', async () => {
  const hold = await beginHeld(time);
  const { answer } = await voided(hold.reference);
  await hold.outcome();
  await time.stopWorker();
  const again = await time.holdfast.void(hold.reference, { commandId: 'released', why: 'no answer came' });
  expect(again).toEqual(answer);
  await time.startWorker();
  const { paymentId = '' } = answer;
  expect(time.simulation.engine.find(`payment-actions-${paymentId}`)).toBeUndefined();
  expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
});
