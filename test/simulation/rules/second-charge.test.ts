import { describe, expect, test } from 'vitest';
import type { TransactionEvent } from '../../../src/contract/messages.js';
import { plant, signalEvent } from '../../time/checks.js';
import { calm, type NetworkStrategy } from '../world/strategies.js';
import { OPERATOR, SECOND, sharedTime } from './context.js';

/** The reply to a read is under way for so long that events overtake it. */
const SLOW = { fate: 'deliver', requestDelayMs: 2, replyDelayMs: 8 * SECOND } as const;
let isSlow = false;
const strategy: NetworkStrategy = (request) => (isSlow && request.method === 'GET' ? SLOW : calm(request));
const time = sharedTime({}, { strategy: () => strategy });

async function pendingCharge() {
  const input = await time.input();
  await plant(time, input, { action: 'result', status: 'Pending', path: '*/charges' });
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + SECOND);
  const { status, paymentId = '', transactionId = '' } = await charge.status();
  expect(status).toBe('pending');
  const succeed = () => time.sandbox.complete(transactionId, { status: 'Succeed' });
  const tell = (event: Partial<TransactionEvent>) => signalEvent(time, charge, { paymentId, ...event });
  const explained = () => time.holdfast.explain(input.reference);
  return { charge, transactionId, succeed, tell, explained };
}

describe('a signed event of a second charge on the payment', () => {
  test('calls a person at once, and the flag outlasts the end', async () => {
    const { charge, transactionId, succeed, tell, explained } = await pendingCharge();
    await tell({ transactionId: 'second' });
    expect(await charge.status()).toMatchObject({ status: 'pending', needsOperator: true });
    await succeed();
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', transactionId });
    expect(await charge.status()).toMatchObject({ status: 'succeeded', needsOperator: true });
    expect(await explained()).toContain(`charge second Succeed, beside ${transactionId}`);
  });

  test.each<[string, Partial<TransactionEvent>]>([
    ['that has failed', { status: 'Failed', category: 'payment_method_declined' }],
    ['that nobody has signed', { trusted: false }],
    ['of another payment, under another reference', { paymentId: 'another', reconciliationId: 'another' }],
    ['of another payment, that nobody has signed', { paymentId: 'another', trusted: false }],
    ['of another payment and business unit', { paymentId: 'another', businessUnit: 'another' }],
    ['of another payment, that has failed', { paymentId: 'another', status: 'Failed', category: 'provider_error' }],
    ['of a refund of another payment', { paymentId: 'another', eventType: 'payment.refund.update' }],
  ])('%s calls nobody', async (_of, event) => {
    const { charge, succeed, tell } = await pendingCharge();
    await tell({ transactionId: 'second', ...event });
    await succeed();
    await charge.outcome();
    expect(await charge.status()).toMatchObject({ status: 'succeeded', needsOperator: false });
  });
});

describe('a signed event of a charge on another payment, under the reference of this one', () => {
  test('calls a person at once, and the flag outlasts the end', async () => {
    const { charge, succeed, tell, explained } = await pendingCharge();
    const { paymentId } = await charge.status();
    await tell({ paymentId: 'another', transactionId: 'second' });
    expect(await charge.status()).toMatchObject({ status: 'pending', needsOperator: true });
    await succeed();
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', paymentId });
    expect(await charge.status()).toMatchObject({ status: 'succeeded', needsOperator: true });
    expect(await explained()).toContain(
      `charge second of payment another Succeed, under this reference, beside payment ${paymentId}`,
    );
  });

  test('is said once at the end, though it came with the read that ends the flow', async () => {
    const { now, explained } = await endedBy({ paymentId: 'another', transactionId: 'second' });
    expect(now).toMatchObject({ needsOperator: true });
    expect((await explained()).split('second')).toHaveLength(2);
  });

  test('keeps what a person is asked already: the end says both', async () => {
    const { charge, transactionId, succeed, tell, explained } = await pendingCharge();
    await succeed();
    await tell({ transactionId, amount: 7 });
    await tell({ paymentId: 'another', transactionId: 'second' });
    expect(await explained()).toContain('AmountMismatch');
    await time.holdfast.settleManually(charge.input.reference, { ...OPERATOR, status: 'succeeded' });
    await charge.outcome();
    expect(await explained()).toContain('charge second of payment another');
  });
});

async function endedBy(event: Partial<TransactionEvent>) {
  const pending = await pendingCharge();
  await pending.succeed();
  isSlow = true;
  await time.holdfast.retryNow(pending.charge.input.reference);
  await time.passUntil((await time.now()) + 2 * SECOND);
  isSlow = false;
  await pending.tell({ transactionId: pending.transactionId, ...event });
  expect(await pending.charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
  return { ...pending, now: await pending.charge.status() };
}

describe('what comes while the read is under way that ends the flow', () => {
  test.each<[string, Partial<TransactionEvent>, string]>([
    ['a second charge', { transactionId: 'second' }, 'second Succeed, and the outcome does not'],
    [
      'a refund that nobody asked for',
      { transactionId: 'back', eventType: 'payment.refund.update' },
      'back Succeed, and',
    ],
    [
      'a failure of this one',
      { status: 'Failed', category: 'payment_method_declined' },
      'Failed, and the outcome does not',
    ],
  ])('%s: a person is called', async (_of, event, why) => {
    const { now, explained } = await endedBy(event);
    expect(now).toMatchObject({ needsOperator: true });
    expect(await explained()).toContain(why);
  });

  test.each<[string, Partial<TransactionEvent>]>([
    ['what agrees with the outcome', { status: 'Succeed' }],
    ['an older failure that was not final', { status: 'Failed', category: 'provider_network_error' }],
    ['an older failure that does not say why', { status: 'Failed' }],
  ])('%s calls nobody', async (_of, event) => {
    expect((await endedBy(event)).now).toMatchObject({ needsOperator: false });
  });
});
