import { afterEach, beforeEach, expect, test } from 'vitest';
import { chargeBody, KEY, startHandler, type Harness } from './support.js';

let harness: Harness;
beforeEach(async () => {
  harness = await startHandler();
});
afterEach(() => harness.close());

const UPDATE = 'payment.payment.update';
const OURS = { holdfast_workflow_id: 'payment-order-1001' };

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

test('while the service does not say whose payment it is, or Temporal does not take it, it is sent again', async () => {
  harness.setDetails(() => Promise.reject(new Error('away')));
  expect(await send({ is_chargedback: true })).toBe(503);
  harness.setDetails(() => Promise.resolve(OURS));
  harness.sink.disputed = () => Promise.reject(new Error('Temporal is away'));
  expect(await send({ is_chargedback: true })).toBe(503);
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
