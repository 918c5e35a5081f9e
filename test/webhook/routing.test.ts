import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chargeBody, EVENT_TYPE, KEY, startHandler, type Harness } from './support.js';

const BODY = chargeBody();
const PAYMENT = BODY.payment_id;
const OWN = 'payment-order-1001';
const ACTIONS = `payment-actions-${PAYMENT}`;
const RESOLVE = `resolve-${BODY.data.id}`;

let harness: Harness;
beforeEach(async () => {
  harness = await startHandler({ lookUpTimeoutMs: 200 });
  harness.sink.answer = () => Promise.resolve('notFound');
});
afterEach(() => harness.close());

const tried = () => harness.sink.sent.map(({ workflowId }) => workflowId);
const onlyRuns = (running: string) => (workflowId: string) =>
  Promise.resolve(workflowId === running ? ('delivered' as const) : ('notFound' as const));
const result = async (eventType: string, wanted: string) =>
  await harness.metric('holdfast_webhook_events_total', { type: eventType, version: '1.3.0', result: wanted });

/** A payment event: no reconciliation id, and its `data.id` is the payment. */
const paymentBody = () => ({ ...BODY, data: { id: PAYMENT, amount: 1095, currency: 'USD' } });
const claimedBy = (workflowId: string) => () => Promise.resolve({ holdfast_workflow_id: workflowId });

describe('an event looks for its flow', () => {
  test.each(['charge', 'authorization', 'credit', 'dispute'])('by its reference first (%s)', async (resource) => {
    await harness.postSigned(BODY, KEY, `payment.${resource}.update`);
    expect(tried()).toEqual([OWN, ACTIONS, RESOLVE]);
  });

  test.each(['capture', 'refund', 'void'])('by the actions of its payment first (%s)', async (resource) => {
    await harness.postSigned(BODY, KEY, `payment.${resource}.create`);
    expect(tried()).toEqual([ACTIONS, OWN, RESOLVE]);
  });

  test.each([OWN, ACTIONS, RESOLVE])('and stops at the one that runs (%s), asking nobody', async (running) => {
    harness.sink.answer = onlyRuns(running);
    expect((await harness.postSigned(BODY)).status).toBe(200);
    expect(tried().at(-1)).toBe(running);
    expect(harness.asked).toEqual([]);
    expect(await result(EVENT_TYPE, 'delivered')).toBe(1);
  });

  test('by what the service knows of the payment, where it names no reference', async () => {
    harness.sink.answer = onlyRuns(OWN);
    harness.setDetails(claimedBy(OWN));
    expect((await harness.postSigned(paymentBody(), KEY, 'payment.payment.update')).status).toBe(200);
    expect(tried()).toEqual([OWN]);
    expect(harness.asked).toEqual([`default ${PAYMENT}`]);
    expect(await result('payment.payment.update', 'delivered')).toBe(1);
  });

  test('and asks the service once for a payment, however many of its events come', async () => {
    harness.sink.answer = onlyRuns(OWN);
    harness.setDetails(claimedBy(OWN));
    const events = Array.from({ length: 20 }, (_, index) => ({ ...paymentBody(), id: `event-${index}` }));
    const all = await Promise.all(events.map((body) => harness.postSigned(body, KEY, 'payment.payment.update')));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
    expect(harness.asked).toHaveLength(1);
  });
});

describe('a flow that ended when the event came', () => {
  test('and has opened again by the time it is looked at gets it after all', async () => {
    const answers = ['ended', 'delivered'] as const;
    harness.sink.answer = () => Promise.resolve(answers[harness.sink.sent.length - 1] ?? 'notFound');
    harness.sink.ended = () => Promise.resolve(undefined);
    expect((await harness.postSigned(BODY, KEY, 'payment.refund.update')).text).toBe('{"result":"delivered"}');
    expect(tried()).toEqual([ACTIONS, ACTIONS]);
  });

  test('and ends and opens faster than it can be told is no reason to forget the event', async () => {
    harness.sink.answer = () => Promise.resolve('ended');
    harness.sink.ended = () => Promise.resolve(undefined);
    expect((await harness.postSigned(BODY)).status).toBe(503);
    expect(harness.sink.parked).toEqual([]);
  });
});

describe('an event without a flow', () => {
  test.each([
    ['names no workflow', {}],
    ['names something that is no flow of ours', { holdfast_workflow_id: '../../payment-1' }],
  ])('is foreign when its payment %s', async (_, details) => {
    harness.setDetails(() => Promise.resolve(details));
    const { status, text } = await harness.postSigned(BODY);
    expect([status, text]).toEqual([200, '{"result":"foreign"}']);
    expect(harness.sink.parked).toEqual([]);
    expect(await result(EVENT_TYPE, 'foreign')).toBe(1);
  });

  test('is parked when its payment is ours', async () => {
    harness.setDetails(claimedBy(OWN));
    const { status, text } = await harness.postSigned(BODY);
    expect([status, text]).toEqual([200, '{"result":"parked"}']);
    expect(harness.sink.parked).toMatchObject([{ reason: 'flowNotFound', event: { paymentId: PAYMENT } }]);
    expect(tried()).toEqual([OWN, ACTIONS, RESOLVE]);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('503'))],
    ['does not know the payment', () => Promise.resolve(undefined)],
  ])('is parked when the service %s', async (_, details) => {
    harness.setDetails(details);
    expect((await harness.postSigned(BODY)).status).toBe(200);
    expect(harness.sink.parked).toMatchObject([{ reason: 'lookUpFailed' }]);
    // What failed is not remembered.
    harness.setDetails(() => Promise.resolve({}));
    expect((await harness.postSigned(BODY)).text).toBe('{"result":"foreign"}');
  });

  test('is not acknowledged when it cannot be parked', async () => {
    harness.setDetails(claimedBy(OWN));
    harness.sink.park = () => Promise.reject(new Error('14 UNAVAILABLE'));
    expect((await harness.postSigned(BODY)).status).toBe(503);
  });
});

describe('an event for a flow that has ended', () => {
  const { id } = BODY.data;
  const declined = { status: 'declined', transactionId: id, category: 'payment_method_declined' };

  test.each([
    ['its result agrees', { status: 'declined', paymentId: PAYMENT, result: declined }, 'late', []],
    [
      'its result contradicts',
      { status: 'succeeded', paymentId: PAYMENT, result: { status: 'succeeded', transactionId: id } },
      'parked',
      ['contradictsResult'],
    ],
    [
      'it ended without having executed anything',
      { status: 'notExecuted', paymentId: PAYMENT, result: { status: 'notExecuted' } },
      'parked',
      ['unknownTransaction'],
    ],
    [
      'its result knows another transaction only',
      { status: 'declined', paymentId: PAYMENT, result: { ...declined, transactionId: 'another' } },
      'parked',
      ['unknownTransaction'],
    ],
    ['only its status is left, which agrees', { status: 'declined', paymentId: PAYMENT }, 'late', []],
    [
      'only its status is left, and contradicts',
      { status: 'succeeded', paymentId: PAYMENT },
      'parked',
      ['contradictsResult'],
    ],
    [
      'it was stopped without a final status',
      { status: 'pending', paymentId: PAYMENT },
      'parked',
      ['unknownTransaction'],
    ],
  ])('%s', async (_, ended, wanted, reasons) => {
    harness.sink.answer = (workflowId) => Promise.resolve(workflowId === OWN ? 'ended' : 'notFound');
    harness.sink.ended = () => Promise.resolve(ended);
    expect((await harness.postSigned(BODY)).status).toBe(200);
    expect(await result(EVENT_TYPE, wanted)).toBe(1);
    expect(harness.sink.parked.map(({ reason }) => reason)).toEqual(reasons);
  });

  test('that knows nothing of a refund leaves it to the actions of the payment', async () => {
    harness.sink.answer = (workflowId) => Promise.resolve(workflowId === OWN ? 'ended' : 'notFound');
    harness.sink.ended = () => Promise.resolve({ status: 'succeeded', paymentId: PAYMENT, result: {} });
    await harness.postSigned(BODY, KEY, 'payment.refund.update');
    expect(harness.sink.parked).toMatchObject([{ reason: 'unknownTransaction' }]);
    harness.sink.answer = (workflowId) => Promise.resolve(workflowId === OWN ? 'ended' : 'delivered');
    const other = { ...BODY, id: 'another event' };
    expect((await harness.postSigned(other, KEY, 'payment.refund.update')).text).toBe('{"result":"delivered"}');
  });

  test('is taken once it has opened again', async () => {
    let opened = false;
    harness.sink.answer = () => Promise.resolve(opened ? 'delivered' : 'ended');
    harness.sink.ended = () => {
      opened = true;
      return Promise.resolve(undefined);
    };
    expect((await harness.postSigned(BODY)).text).toBe('{"result":"delivered"}');
  });

  test('of another payment under the same reference asks the service whose it is', async () => {
    harness.sink.answer = (workflowId) => Promise.resolve(workflowId === OWN ? 'ended' : 'notFound');
    harness.sink.ended = () => Promise.resolve({ status: 'succeeded', paymentId: 'another payment' });
    expect((await harness.postSigned(BODY)).text).toBe('{"result":"foreign"}');
    expect(harness.sink.parked).toEqual([]);
  });
});
