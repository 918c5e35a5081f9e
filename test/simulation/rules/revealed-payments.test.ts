import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { startAttributes, startMemo } from '../../../src/client/start-options.js';
import { idempotencyKey } from '../../../src/contract/idempotency.js';
import { PAYMENTS_TASK_QUEUE, SIGNAL_NAMES } from '../../../src/contract/names.js';
import { movements } from '../../support/payments.js';
import { tellingOf } from '../../support/telling.js';
import { SPECS } from '../../support/virtual-flows.js';
import { signalEvent } from '../../time/checks.js';
import { answers, HOUR, MINUTE, SECOND, sharedTime } from './context.js';
import { listenToAll, MERCHANT, type Told, takenOf } from './told.js';

const time = sharedTime({}, { telling: tellingOf([{ url: `${MERCHANT}/all` }]) });
let told: Told[];
beforeAll(() => {
  told = listenToAll(time);
});

/** A charge over 10.95 USD that a task which was lost has made, on a payment that its flow does not know. */
async function lostCharge() {
  const { reference, paymentMethod: used, ...input } = await time.input();
  const { paymentMethod } = await time.input();
  const spec = SPECS.charge({ ...input, reference, paymentMethod });
  const made = await time.provider.createPayment({ amount: 1095, currency: 'USD' }, { idempotencyKey: randomUUID() });
  const paymentId = made.data.id;
  const key = idempotencyKey(spec.workflowId, 'createCharge', 1);
  const sent = { paymentMethod: used, reconciliationId: reference, additionalDetails: { holdfast_key: key } };
  const { data } = await time.provider.createCharge(paymentId, sent, { idempotencyKey: key });
  return { input: { ...input, reference, paymentMethod }, reference, spec, paymentId, transactionId: data.id };
}

test('a charge that an event shows on another payment under its reference is not made a second time', async () => {
  const { input, reference, paymentId, transactionId } = await lostCharge();
  const down = await time.sandbox.addFault({ ...answers(503, 'POST', '/payments'), reconciliation_id: reference });
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + MINUTE);
  await signalEvent(time, charge, { paymentId, transactionId });
  await time.sandbox.removeFault(down.id);

  expect(await charge.outcome()).toMatchObject({ status: 'succeeded', paymentId, transactionId });
  expect(time.requests.chargePosts(reference)).toEqual([]);
  expect(await movements(time, reference)).toEqual(['charge Succeed 1095 USD']);
});

/** Starts a charge with an event that comes before its first task. */
async function startWith(spec: ReturnType<typeof SPECS.charge>, event: object) {
  const said = { hash: randomUUID(), eventType: 'payment.charge.update', created: '', trusted: true };
  const of = { reconciliationId: spec.subject.reference, businessUnit: 'default' };
  return await time.client.workflow.signalWithStart(spec.type, {
    taskQueue: PAYMENTS_TASK_QUEUE,
    workflowId: spec.workflowId,
    args: [spec.input],
    memo: startMemo(spec.fingerprint),
    typedSearchAttributes: startAttributes(spec.subject),
    signal: SIGNAL_NAMES.transactionEvent,
    signalArgs: [{ ...said, ...of, ...event }],
  });
}

test('nor if that event came before the first task, which makes a payment of its own', async () => {
  const { reference, spec, paymentId, transactionId } = await lostCharge();
  const flow = await startWith(spec, { paymentId, transactionId, status: 'Succeed' });
  expect(await flow.result()).toMatchObject({ status: 'succeeded', paymentId, transactionId });
  expect(await movements(time, reference)).toEqual(['charge Succeed 1095 USD']);
});

test('a charge is made although an event that came before the first task shows one that has failed', async () => {
  const spec = SPECS.charge(await time.input());
  const flow = await startWith(spec, { paymentId: randomUUID(), transactionId: randomUUID(), status: 'Failed' });
  expect(await flow.result()).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, spec.subject.reference)).toEqual(['charge Succeed 1095 USD']);
});

test('it is what the flow ends with where no payment of its own could be created', async () => {
  const { input, reference, paymentId, transactionId } = await lostCharge();
  await time.sandbox.addFault({ ...answers(503, 'POST', '/payments'), reconciliation_id: reference });
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + MINUTE);
  await signalEvent(time, charge, { paymentId, transactionId });
  expect(await charge.outcome()).toMatchObject({ status: 'succeeded', paymentId, transactionId });
  expect(await charge.status()).toMatchObject({ needsOperator: false });
});

test('a flow whose payment is refused calls a person because of it, and does not tell that nothing was executed', async () => {
  const { input, reference, paymentId, transactionId } = await lostCharge();
  await time.sandbox.addFault({ ...answers(400, 'POST', '/payments'), reconciliation_id: reference });
  const creating = time.hold('createPayment');
  const charge = await time.start(input, 'raw');
  await creating.reached;
  await signalEvent(time, charge, { paymentId, transactionId });
  await time.passUntil((await time.now()) + SECOND);
  creating.release();
  await time.passUntil((await time.now()) + MINUTE);
  expect(await charge.status()).toMatchObject({
    status: 'refused',
    needsOperator: true,
    operatorReason: expect.stringContaining(`calls transaction ${transactionId} Succeed, and this run says`),
  });
  expect(takenOf(told, charge.workflowId)).toEqual(['payment.needsAttention']);
});

test('a charge is not made beside one on another payment whose failure is unconfirmed', async () => {
  const { input, reference, paymentId, transactionId } = await lostCharge();
  const down = await time.sandbox.addFault({ ...answers(503, 'POST', '/payments'), reconciliation_id: reference });
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + MINUTE);
  await signalEvent(time, charge, { paymentId, transactionId, status: 'Failed', category: 'provider_network_error' });
  await time.sandbox.removeFault(down.id);
  expect(await charge.outcome()).toMatchObject({ status: 'succeeded', paymentId, transactionId });
  expect(await movements(time, reference)).toEqual(['charge Succeed 1095 USD']);
});

describe('what a later event shows on yet another payment under its reference', () => {
  async function shownAnother(later: { status: 'Failed' | 'Succeed'; category?: string }) {
    const { input, reference, paymentId, transactionId } = await lostCharge();
    const down = await time.sandbox.addFault({ ...answers(503, 'POST', '/payments'), reconciliation_id: reference });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + MINUTE);
    await signalEvent(time, charge, { paymentId, transactionId });
    await signalEvent(time, charge, { paymentId: 'another', transactionId: 'second', ...later });
    await time.sandbox.removeFault(down.id);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', paymentId, transactionId });
    expect(await movements(time, reference)).toEqual(['charge Succeed 1095 USD']);
    return charge;
  }

  test('and has failed there does not displace the charge that is followed', async () => {
    const charge = await shownAnother({ status: 'Failed', category: 'payment_method_declined' });
    expect(await charge.status()).toMatchObject({ needsOperator: false });
  });

  test('and has succeeded there is followed where the first one had not', async () => {
    const { input, reference, paymentId, transactionId } = await lostCharge();
    const down = await time.sandbox.addFault({ ...answers(503, 'POST', '/payments'), reconciliation_id: reference });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + MINUTE);
    await signalEvent(time, charge, { paymentId: 'another', transactionId: 'first', status: 'Pending' });
    await signalEvent(time, charge, { paymentId, transactionId });
    await time.sandbox.removeFault(down.id);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', paymentId, transactionId });
    expect(await charge.status()).toMatchObject({
      operatorReason: expect.stringContaining('charge first of payment another Pending'),
    });
    expect(await movements(time, reference)).toEqual(['charge Succeed 1095 USD']);
  });

  test('and has succeeded there calls a person, beside the charge that is followed', async () => {
    const charge = await shownAnother({ status: 'Succeed' });
    expect(await charge.status()).toMatchObject({
      needsOperator: true,
      operatorReason: expect.stringContaining('charge second of payment another Succeed, under this reference, beside'),
    });
  });
});

test.each([
  ['that nothing vouches for', { trusted: false }],
  ['of another reference', { reconciliationId: 'another' }],
  ['of another kind', { eventType: 'payment.refund.update' }],
  ['of another business unit', { businessUnit: 'another' }],
  ['that has failed', { status: 'Failed', category: 'payment_method_declined' }],
] as const)('a charge is made although an event %s shows one on another payment', async (_what, change) => {
  const input = await time.input();
  const down = await time.sandbox.addFault({
    ...answers(503, 'POST', '/payments'),
    reconciliation_id: input.reference,
  });
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + MINUTE);
  await signalEvent(time, charge, { paymentId: randomUUID(), transactionId: randomUUID(), ...change });
  await time.sandbox.removeFault(down.id);
  await time.passUntil(charge.startedAt + HOUR);
  expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
  expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
});
