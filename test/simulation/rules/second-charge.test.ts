import { describe, expect, test } from 'vitest';
import type { TransactionEvent } from '../../../src/contract/messages.js';
import { CARDS } from '../../support/charges.js';
import { beginHold } from '../../support/virtual-flows.js';
import { plant, signalEvent } from '../../time/checks.js';
import { calm, type NetworkStrategy } from '../world/strategies.js';
import {
  answers,
  beginFlow,
  DAY,
  declined,
  HOUR,
  inputOf,
  MINUTE,
  OPERATOR,
  provideVoidsOfPending,
  SECOND,
  sharedTime,
} from './context.js';

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

  test('that comes while keys are rejected calls a person once they work again, and a void of what pends changes nothing', async () => {
    await provideVoidsOfPending(time, 'allowed');
    const { charge, transactionId, tell, explained } = await pendingCharge();
    const { reference } = charge.input;
    const rejected = await time.sandbox.addFault(answers(401, 'GET', `*/charges/${transactionId}`));
    const lookAgain = async () => {
      await time.holdfast.retryNow(reference);
      await time.passUntil((await time.now()) + SECOND);
    };
    await lookAgain();
    await tell({ transactionId: 'second' });
    expect(await explained()).toContain('rejects the credentials');
    await time.sandbox.removeFault(rejected.id);
    await lookAgain();
    expect(await charge.status()).toMatchObject({ status: 'pending', needsOperator: true });
    expect(await explained()).toContain(`charge second Succeed, beside ${transactionId}`);
    await time.sandbox.addFault({ ...declined('*/voids'), reconciliation_id: reference, times: 1 });
    const voided = await time.holdfast.void(reference, { commandId: 'off' });
    expect(voided).toMatchObject({ status: 'declined' });
    expect(await charge.status()).toMatchObject({ status: 'pending', needsOperator: true });
    expect(await explained()).toContain(`charge second Succeed, beside ${transactionId}`);
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    await charge.outcome();
    await provideVoidsOfPending(time, 'refused');
  });

  test('hides no question about what is done next', async () => {
    await provideVoidsOfPending(time, 'allowed');
    const { charge, transactionId, tell, explained } = await pendingCharge();
    const { reference } = charge.input;
    await tell({ transactionId: 'second' });
    const lists = await time.sandbox.addFault(answers(405, 'GET', '*/voids'));
    const lost = await time.sandbox.addFault({ ...answers(503, 'POST', '*/voids'), reconciliation_id: reference });
    const { workflowId } = await charge.status();
    void time.holdfast.void(reference, { commandId: 'off' }).catch(() => undefined);
    await time.passUntil((await time.now()) + 26 * HOUR);
    expect(await explained()).toContain('look in its back office');
    await time.sandbox.removeFault(lists.id);
    await time.sandbox.removeFault(lost.id);
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    await time.holdfast.settleManually({ workflowId }, { ...OPERATOR, status: 'notExecuted' });
    await charge.outcome();
    expect((await charge.status()).operatorReason).toContain('charge second Succeed');
    await provideVoidsOfPending(time, 'refused');
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

describe('a signed event of other money on the payment', () => {
  const OTHERS = ['refund', 'void', 'credit', 'capture', 'authorization'];

  test.each(OTHERS)('of a %s calls a person while the charge is open, and the flag outlasts the end', async (kind) => {
    const { charge, transactionId, succeed, tell, explained } = await pendingCharge();
    await tell({ transactionId: 'back', eventType: `payment.${kind}.update` });
    expect(await charge.status()).toMatchObject({ status: 'pending', needsOperator: true });
    await succeed();
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', transactionId });
    expect(await charge.status()).toMatchObject({ status: 'succeeded', needsOperator: true });
    expect((await explained()).split(`${kind} back Succeed, which this flow has not made`)).toHaveLength(2);
  });

  test.each<[string, Partial<TransactionEvent>]>([
    ['that nobody has signed', { trusted: false }],
    ['that has failed', { status: 'Failed', category: 'payment_method_declined' }],
    ['that pends', { status: 'Pending' }],
    ['of another business unit', { businessUnit: 'another' }],
    ['of another payment', { paymentId: 'another' }],
  ])('%s calls nobody', async (_of, event) => {
    const { charge, succeed, tell } = await pendingCharge();
    await tell({ transactionId: 'back', eventType: 'payment.refund.update', ...event });
    await succeed();
    await charge.outcome();
    expect(await charge.status()).toMatchObject({ status: 'succeeded', needsOperator: false });
  });

  test.each(['refund', 'void', 'charge'])('of a %s calls a person while an authorization pends', async (kind) => {
    await time.sandbox.settings({ pendingMs: DAY });
    const hold = await beginHold(time, {}, { card: CARDS.pendsThenSucceeds });
    await time.passUntil(hold.startedAt + SECOND);
    await hold.event({ eventType: `payment.${kind}.update`, transactionId: 'back', status: 'Succeed' });
    expect(await hold.status()).toMatchObject({ status: 'pending', needsOperator: true });
    const { transactionId = '' } = await hold.status();
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    await time.passUntil(hold.startedAt + HOUR);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
    await time.sandbox.settings({ pendingMs: 10_000 });
  });

  test('of a void of our own calls nobody, however late it comes', async () => {
    await provideVoidsOfPending(time, 'too_late');
    await time.sandbox.settings({ pendingMs: DAY });
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card: CARDS.pendsThenSucceeds }));
    await time.passUntil(flow.startedAt + SECOND);
    const { transactionId = '' } = await flow.status();
    const { answer } = await flow.command('void', { commandId: 'off' });
    await time.passUntil(flow.startedAt + MINUTE);
    const [, voided] = await time.sandbox.ledger(flow.reference);
    const own = { eventType: 'payment.void.update', transactionId: voided?.transaction_id, status: 'Succeed' } as const;
    await flow.event(own);
    expect(await flow.status()).toMatchObject({ needsOperator: false });
    await time.sandbox.complete(transactionId, { status: 'Failed', category: 'payment_method_declined' });
    expect(await flow.outcome()).toMatchObject({ status: 'voided' });
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(await flow.status()).toMatchObject({ needsOperator: false });
    await provideVoidsOfPending(time, 'refused');
    await time.sandbox.settings({ pendingMs: 10_000 });
  });
});

test('a signed event of a second credit on the payment calls a person at once as well', async () => {
  const input = await inputOf(time, 'credit');
  const credit = await beginFlow(time, 'credit', input, [{ action: 'result', status: 'Pending', path: '*/credits' }]);
  await time.passUntil(credit.startedAt + SECOND);
  const { status, transactionId = '' } = await credit.status();
  expect(status).toBe('pending');
  const event = { eventType: 'payment.credit.update', status: 'Succeed', amount: 6_000 } as const;
  await credit.event({ ...event, transactionId: 'second', reconciliationId: credit.reference });
  expect(await credit.status()).toMatchObject({ status: 'pending', needsOperator: true });
  await time.sandbox.complete(transactionId, { status: 'Succeed' });
  expect(await credit.outcome()).toMatchObject({ status: 'succeeded', transactionId });
  expect(await time.holdfast.explain(credit.reference)).toContain(`credit second Succeed, beside ${transactionId}`);
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
    await time.holdfast.settleManually(charge.input.reference, { ...OPERATOR, status: 'succeeded', amount: 7 });
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
      'refund back Succeed, which this flow has not made',
    ],
    [
      'a void that nobody asked for',
      { transactionId: 'gone', eventType: 'payment.void.update' },
      'void gone Succeed, which this flow has not made',
    ],
    [
      'a credit that nobody asked for',
      { transactionId: 'sent', eventType: 'payment.credit.update' },
      'credit sent Succeed, which this flow has not made',
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
