import { describe, expect, test } from 'vitest';
import type { TransactionEvent } from '../../../src/contract/messages.js';
import { SIGNAL_NAMES } from '../../../src/contract/names.js';
import type { FaultInput } from '../../../sandbox/control.js';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { reviewedInput } from '../../support/virtual-flows.js';
import { plant, signalEvent } from '../../time/checks.js';
import { answers, beginFlow, DAY, HOUR, lostReply, MINUTE, OPERATOR, SECOND, sharedTime } from './context.js';

const time = sharedTime();

const CHARGES = '*/charges';
const PENDS: FaultInput = { action: 'result', status: 'Pending', path: CHARGES };

/** A charge over 10.95 USD whose bank has not answered, and where it stands. */
async function pending(...faults: FaultInput[]) {
  const input = await time.input();
  for (const fault of [PENDS, ...faults]) await plant(time, input, fault);
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + 2 * SECOND);
  const { paymentId = '', transactionId = '' } = await charge.status();
  return {
    charge,
    paymentId,
    transactionId,
    reference: input.reference,
    settle: (status: 'Succeed' | 'Failed') => time.sandbox.complete(transactionId, { status }),
    receives: (event: Partial<TransactionEvent>) => signalEvent(time, charge, { paymentId, transactionId, ...event }),
    onLedger: () => movements(time, input.reference),
  };
}

describe('a charge that pends', () => {
  test('takes malformed signals for nothing, counts them, and ends as the ledger says', async () => {
    const { charge, settle, onLedger } = await pending();
    const handle = time.client.workflow.getHandle(charge.workflowId);
    const nonsense = [
      undefined,
      null,
      'text',
      7,
      [],
      {},
      { hash: 1 },
      { hash: 'a', eventType: 'payment.charge.update' },
    ];
    for (const payload of nonsense) await handle.signal(SIGNAL_NAMES.transactionEvent, payload);
    await handle.signal('no such signal', {});
    expect(await charge.status()).toMatchObject({
      status: 'pending',
      ignored: { malformedEvent: nonsense.length, unknownSignal: 1 },
    });
    await settle('Succeed');
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    expect(await onLedger()).toEqual(['charge Succeed 1095 USD']);
  });

  test('looks when an event says that its payment has changed: a merchant may be sent no other', async () => {
    const { charge, settle, receives, onLedger, paymentId } = await pending();
    await time.passUntil(charge.startedAt + 20 * MINUTE);
    const polls = () => time.requests.reads(paymentId).length;
    const before = polls();
    const elsewhere = { paymentId: charge.input.paymentMethod.token };
    await receives({ eventType: 'payment.payment.update', trusted: true, ...elsewhere });
    await receives({ eventType: 'payment.payment.create', transactionId: paymentId, trusted: true });
    await time.passUntil(charge.startedAt + 21 * MINUTE);
    expect(polls()).toBe(before);
    await settle('Succeed');
    await receives({ eventType: 'payment.payment.update', transactionId: paymentId, trusted: true });
    await time.passUntil(charge.startedAt + 22 * MINUTE);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
    expect(await onLedger()).toEqual(['charge Succeed 1095 USD']);
  });

  test('is ended by a signed event, which is how it is known, before the next look', async () => {
    const { charge, settle, receives, transactionId, onLedger } = await pending();
    await settle('Succeed');
    await receives({});
    const outcome = await charge.outcome();
    expect(outcome).toMatchObject({ status: 'succeeded', transactionId, evidence: { knownBy: 'webhook' } });
    expect(Date.parse(outcome.evidence.settledAt) - charge.startedAt).toBeLessThan(5 * SECOND);
    expect(await onLedger()).toEqual(['charge Succeed 1095 USD']);
  });

  test.each([
    ['of another kind', { eventType: 'payment.refund.update' }],
    ['of another payment', { paymentId: '11111111-1111-4111-8111-111111111111', reconciliationId: 'another' }],
    ['of another business unit', { businessUnit: 'another' }],
    ['whose signature does not cover it', { trusted: false }],
    ['without an amount', { amount: undefined }],
    ['without a currency', { currency: undefined }],
  ] as const)('is not ended by an event %s', async (_what, change) => {
    const { charge, settle, receives, onLedger } = await pending();
    await receives({ status: 'Succeed', ...change } as Partial<TransactionEvent>);
    await time.passUntil(charge.startedAt + HOUR);
    expect(await charge.status()).toMatchObject({ status: 'pending', needsOperator: false });
    await settle('Failed');
    expect(await charge.outcome()).toMatchObject({ status: 'declined', evidence: { knownBy: 'poll' } });
    expect(await onLedger()).toEqual(['charge Failed 1095 USD']);
  });

  test('is not ended by an event of another transaction, of which a person is told', async () => {
    const { charge, settle, receives, onLedger } = await pending();
    await receives({ status: 'Succeed', transactionId: '11111111-1111-4111-8111-111111111111' });
    await time.passUntil(charge.startedAt + HOUR);
    expect(await charge.status()).toMatchObject({ status: 'pending', needsOperator: true });
    await settle('Failed');
    expect(await charge.outcome()).toMatchObject({ status: 'declined', evidence: { knownBy: 'poll' } });
    expect(await onLedger()).toEqual(['charge Failed 1095 USD']);
  });

  test.each([
    ['another currency', { currency: 'EUR' }, {}],
    ['another sum', { amount: 1_094 }, { amount: 1_095 }],
  ])('is not ended by an event over %s: a person is asked', async (_what, change, moved) => {
    const { charge, settle, receives, onLedger, reference } = await pending();
    await settle('Succeed');
    await receives(change);
    await time.passUntil(charge.startedAt + HOUR);
    const { outcome, operatorReason, ...status } = await charge.status();
    expect(outcome).toBeUndefined();
    expect(status).toMatchObject({ status: 'unknown', waitingFor: 'operator', needsOperator: true });
    expect(operatorReason).toContain('AmountMismatch');
    await time.holdfast.settleManually(reference, { ...OPERATOR, status: 'succeeded', ...moved });
    const ended = await charge.outcome();
    expect(ended).toMatchObject({ status: 'succeeded', amount: 1_095, evidence: { knownBy: 'operator' } });
    expect(await onLedger()).toEqual(['charge Succeed 1095 USD']);
  });

  test('is looked at ever less often, by an event or poll found at last, and a person is asked after a day', async () => {
    const { charge, settle, paymentId, onLedger } = await pending();
    await time.passUntil(charge.startedAt + DAY - MINUTE);
    expect(await charge.status()).toMatchObject({ status: 'pending', needsOperator: false });
    await time.passUntil(charge.startedAt + DAY + 2 * HOUR);
    expect(await charge.status()).toMatchObject({ status: 'pending', needsOperator: true });
    const after = time.requests.reads(paymentId).map(({ at }) => Math.round((at - charge.startedAt) / SECOND));
    expect(after.slice(0, 6)).toEqual([5, 20, 80, 380, 1280, 4880]);
    expect(after.length).toBeGreaterThanOrEqual(28);
    await settle('Succeed');
    const outcome = await charge.outcome();
    expect(Date.parse(outcome.evidence.settledAt) - charge.startedAt).toBeLessThan(DAY + 3 * HOUR + MINUTE);
    expect(await onLedger()).toEqual(['charge Succeed 1095 USD']);
  });
});

describe('what an operator says', () => {
  test.each([
    ['succeeded', 'succeeded'],
    ['declined', 'declined'],
  ] as const)('of a charge that pends (%s) is its end, with who said so and why', async (said, status) => {
    const { charge, reference, onLedger } = await pending();
    await time.holdfast.settleManually(reference, { ...OPERATOR, status: said });
    const outcome = await charge.outcome();
    expect(outcome).toMatchObject({ status, evidence: { knownBy: 'operator', operator: OPERATOR } });
    expect(await onLedger()).toEqual(['charge Pending 1095 USD']);
  });

  test('is not believed where a transaction is there and is said not to be', async () => {
    const { charge, reference, settle, onLedger } = await pending();
    const word = time.holdfast.settleManually(reference, { ...OPERATOR, status: 'notExecuted' });
    await expect(word).rejects.toMatchObject({ type: 'StateConflict', message: expect.stringContaining('Pending') });
    await settle('Succeed');
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await onLedger()).toEqual(['charge Succeed 1095 USD']);
  });

  test.each([
    ['Succeed', 'declined', 'succeeded'],
    ['Failed', 'succeeded', 'declined'],
  ] as const)('against a final answer of the service (%s, said %s) is refused', async (status, said, end) => {
    const { charge, reference, settle, onLedger } = await pending();
    await settle(status);
    const word = time.holdfast.settleManually(reference, { ...OPERATOR, status: said });
    await expect(word).rejects.toMatchObject({ type: 'StateConflict', message: expect.stringContaining(status) });
    expect(await charge.outcome()).toMatchObject({ status: end });
    expect(await onLedger()).toEqual([`charge ${status} 1095 USD`]);
  });

  test('while the charge is still being sent is refused: it could yet be made', async () => {
    const input = await time.input();
    await plant(time, input, { ...answers(503, 'POST', CHARGES), times: 4 });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 3 * SECOND);
    const word = time.holdfast.settleManually(input.reference, { ...OPERATOR, status: 'notExecuted' });
    await expect(word).rejects.toMatchObject({ type: 'StateConflict' });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
  });
});

test('the evidence counts every time that the charge was sent, as the log of the service does', async () => {
  const input = await time.input();
  await plant(time, input, { ...answers(401, 'POST', CHARGES), times: 3 });
  const charge = await time.start(input);
  const outcome = await charge.outcome();
  expect(time.requests.chargePosts(input.reference)).toHaveLength(4);
  expect(outcome).toMatchObject({ status: 'succeeded', evidence: { attempts: 4, knownBy: 'reply' } });
  expect(outcome.evidence.requestIds.length).toBeGreaterThan(0);
  expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
});

describe('a failure that says the provider was not reached', () => {
  const NETWORK: FaultInput = { action: 'result', status: 'Failed', category: 'provider_network_error', path: CHARGES };

  test('is asked about again under the same key four times in ten minutes, then is a decline that nobody confirmed', async () => {
    const input = await time.input();
    await plant(time, input, NETWORK);
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 55 * MINUTE);
    expect((await charge.status()).outcome).toBeUndefined();
    await time.passUntil(charge.startedAt + 70 * MINUTE);
    expect(await charge.status()).toMatchObject({ status: 'declined' });
    const outcome = await charge.outcome();
    expect(outcome).toMatchObject({ status: 'declined', confirmed: false, retryable: 'nobody' });
    const posts = time.requests.chargePosts(input.reference);
    expect(posts.map(({ at }) => Math.floor((at - charge.startedAt) / SECOND))).toEqual([0, 15, 60, 240, 600]);
    expect(new Set(posts.map(({ key }) => key)).size).toBe(1);
    expect(await movements(time, input.reference)).toEqual(['charge Failed 1095 USD']);
  });

  test('and which an event without a reason repeats is no decline yet: the money that moves later is told', async () => {
    const input = await time.input();
    await plant(time, input, { ...NETWORK, times: 2 });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 2 * SECOND);
    const { paymentId = '', transactionId = '' } = await charge.status();
    await signalEvent(time, charge, { paymentId, transactionId, status: 'Failed' });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
  });
});

describe('a person is asked', () => {
  test('when a buyer who was sent to another page has not come back within the time that was given', async () => {
    await time.sandbox.settings({ pendingMs: 3 * HOUR });
    const buyer = { merchantSiteUrl: 'https://shop.example/back', redirectTimeLimit: '20 minutes' };
    const charge = await time.start({ ...(await time.input({ card: CARDS.pendsThenSucceeds })), ...buyer });
    await time.passUntil(charge.startedAt + 19 * MINUTE);
    expect(await charge.status()).toMatchObject({ status: 'pending', waitingFor: 'redirect', needsOperator: false });
    await time.passUntil(charge.startedAt + 21 * MINUTE);
    expect(await charge.status()).toMatchObject({ status: 'pending', waitingFor: 'settlement', needsOperator: true });
    await time.sandbox.settings({ pendingMs: 10 * SECOND });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, charge.input.reference)).toEqual(['charge Succeed 1095 USD']);
  });

  test('when the service rejects the key, and not any more when it takes it again', async () => {
    const input = await time.input();
    const { id } = await plant(time, input, answers(401, 'POST', CHARGES));
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + MINUTE);
    expect(await charge.status()).toMatchObject({ waitingFor: 'credentials', needsOperator: true });
    expect(await time.holdfast.explain(input.reference)).toContain('Never repeat it under a new reference.');
    await time.sandbox.removeFault(id);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await charge.status()).toMatchObject({ status: 'succeeded', needsOperator: false });
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
  });

  test('after an answer nobody can read, where no read answers either; nothing is sent blindly', async () => {
    const input = await time.input();
    await plant(time, input, { action: 'garbage', method: 'POST', path: CHARGES, times: 1 });
    const { id } = await plant(time, input, answers(503, 'GET', `${CHARGES}*`));
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + HOUR);
    expect(await charge.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof', needsOperator: true });
    expect(time.requests.chargePosts(input.reference)).toHaveLength(1);
    await time.sandbox.removeFault(id);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
  });
});

describe('a review that nobody ends in time', () => {
  test.each([
    ['declines', {}, 'declined', []],
    ['declines', { onReviewTimeout: 'decline' }, 'declined', []],
    ['lets the charge be made', { onReviewTimeout: 'proceed' }, 'succeeded', ['charge Succeed 6000 USD']],
  ] as const)('%s (%o)', async (_what, terms, status, onLedger) => {
    const risk = { reviewTimeLimit: '3 hours', ...terms };
    const flow = await beginFlow(time, 'charge', await reviewedInput(time, { risk }));
    await time.passUntil(flow.startedAt + 3 * HOUR - MINUTE);
    expect(await flow.status()).toMatchObject({ status: 'underReview' });
    expect(await movements(time, flow.reference)).toEqual([]);
    expect(await flow.outcome()).toMatchObject({ status, risk: { decidedBy: 'time limit' } });
    expect(await movements(time, flow.reference)).toEqual(onLedger);
  });
});

test('who asks for the outcome while the reply is lost is told that it is unknown, and later what the ledger says', async () => {
  const input = await time.input();
  await plant(time, input, lostReply(CHARGES));
  await plant(time, input, { ...answers(503, 'POST', CHARGES), times: 3 });
  expect(await time.holdfast.charge(input, { waitFor: 1_000 })).toMatchObject({ status: 'unknown' });
  expect(await time.holdfast.charge(input, { waitFor: 120_000 })).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
});
