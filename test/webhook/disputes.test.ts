import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EventSink } from '../../src/contract/engine-port.js';
import type { PaymentDetails } from '../../src/webhook/route.js';
import { chargeBody, KEY, startHandler, type Harness } from './support.js';

let harness: Harness;
beforeEach(async () => {
  harness = await startHandler();
});
afterEach(() => harness.close());

const UPDATE = 'payment.payment.update';
const OURS = { holdfast_workflow_id: 'payment-order-1001' };

const told: EventSink['disputed'] = () => Promise.resolve('passedOn');

/** An event of the payment itself. */
function paymentBody(change: object) {
  const { reconciliation_id: _id, result: _result, ...data } = chargeBody().data as Record<string, unknown>;
  return { ...chargeBody(), data: { ...data, ...change } } as ReturnType<typeof chargeBody>;
}
const send = async (change: object, type = UPDATE) => (await harness.postSigned(paymentBody(change), KEY, type)).status;

test.each([{ is_chargedback: true }, { is_disputed: true }])(
  'an event that says %j is passed on to the commands of its payment, and routed as others are',
  async (flag) => {
    harness.setDetails(() => Promise.resolve(OURS));
    expect(await send(flag)).toBe(200);
    expect(harness.sink.disputes).toEqual([
      {
        paymentId: chargeBody().payment_id,
        businessUnit: 'default',
        currency: 'USD',
        madeBy: 'payment-order-1001',
        paymentReference: 'order-1001',
        hash: expect.stringMatching(/./),
      },
    ]);
    expect(harness.sink.sent).not.toEqual([]);
  },
);

test.each([undefined, 'dollars'])('one whose currency is %j is passed on without it', async (currency) => {
  harness.setDetails(() => Promise.resolve(OURS));
  expect(await send({ is_chargedback: true, currency })).toBe(200);
  expect(harness.sink.disputes).toMatchObject([{ madeBy: 'payment-order-1001' }]);
  expect(harness.sink.disputes[0]).not.toHaveProperty('currency');
});

test.each([{}, { is_chargedback: false, is_disputed: 'true' }])('an event that says %j is not', async (flag) => {
  harness.setDetails(() => Promise.resolve(OURS));
  expect(await send(flag)).toBe(200);
  expect(harness.sink.disputes).toEqual([]);
});

test('of a payment that no flow is known to have made it is passed on as such: there may have been commands to it', async () => {
  harness.setDetails(() => Promise.resolve({}));
  expect(await send({ is_chargedback: true })).toBe(200);
  expect(harness.sink.disputes).toMatchObject([{ paymentId: chargeBody().payment_id }]);
  expect(harness.sink.disputes[0]).not.toHaveProperty('madeBy');
});

test('of a payment that nobody knows it is told by the answer, the log and the metric', async () => {
  harness.setDetails(() => Promise.resolve({}));
  harness.sink.answer = () => Promise.resolve('notFound');
  harness.sink.disputed = () => Promise.resolve('unknown');
  const { text } = await harness.postSigned(paymentBody({ is_chargedback: true }), KEY, UPDATE);
  expect(text).toBe('{"result":"foreignDisputed"}');
  const labels = { result: 'foreignDisputed', type: UPDATE, version: '1.3.0' };
  expect(await harness.metric('holdfast_webhook_events_total', labels)).toBe(1);
  const line = harness.logged.find((text) => text.includes('A disputed payment that no flow is known to have made'));
  expect(line).toContain(chargeBody().payment_id);
  harness.sink.answer = () => Promise.resolve('delivered');
  const taken = await harness.postSigned(paymentBody({ is_chargedback: true }), KEY, UPDATE);
  expect(taken.text).toBe('{"result":"delivered"}');
  const refused = harness.logged.filter((text) => text.includes('A disputed payment'));
  expect(refused).toHaveLength(2);
  await send({});
  expect(harness.logged.filter((text) => text.includes('A disputed payment'))).toHaveLength(2);
});

test('while the service does not say whose payment it is, or Temporal does not take it, it is sent again', async () => {
  harness.setDetails(() => Promise.reject(new Error('away')));
  expect(await send({ is_chargedback: true })).toBe(503);
  harness.setDetails(() => Promise.resolve(OURS));
  harness.sink.disputed = () => Promise.reject(new Error('Temporal is away'));
  expect(await send({ is_chargedback: true })).toBe(503);
});

test.each<[string, PaymentDetails, EventSink['disputed']]>([
  ['The payment service has not said whose', () => Promise.reject(new Error('away')), told],
  ['The payment service knows no payment', () => Promise.resolve(undefined), told],
  [
    'Neither an event of a disputed payment nor a flow',
    () => Promise.resolve(OURS),
    () => Promise.resolve('noCurrency'),
  ],
  ['Temporal did not take an event', () => Promise.resolve(OURS), () => Promise.reject(new Error('14 UNAVAILABLE'))],
])('why it is to be sent again stands in the log: %s', async (why, details, disputed) => {
  harness.setDetails(details);
  harness.sink.disputed = disputed;
  expect(await send({ is_chargedback: true })).toBe(503);
  const lines = harness.logged.map((line) => (JSON.parse(line) as { message: string }).message);
  expect(lines.filter((line) => line !== 'Webhook event')).toEqual([expect.stringContaining(why)]);
});

test.each([() => Promise.reject(new Error('away')), () => Promise.resolve(undefined)])(
  'while the service does not say whose payment it is, the flow that Temporal names for it counts',
  async (details) => {
    harness.setDetails(details);
    harness.sink.flowOfPayment = () => Promise.resolve(OURS.holdfast_workflow_id);
    expect(await send({ is_chargedback: true })).toBe(200);
    expect(harness.sink.disputes).toMatchObject([{ madeBy: 'payment-order-1001', paymentReference: 'order-1001' }]);
  },
);

test('the flow of a transaction hears of it at once, though the service does not say whose payment it is', async () => {
  harness.setDetails(() => Promise.reject(new Error('away')));
  const data = { ...chargeBody().data, is_chargedback: true };
  expect((await harness.postSigned({ ...chargeBody(), data }, KEY)).status).toBe(503);
  expect(harness.sink.sent).toHaveLength(1);
});
