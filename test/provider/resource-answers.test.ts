import { afterEach, expect, test } from 'vitest';
import {
  type Answer,
  CHARGE_BODY,
  CHARGE_ID,
  clientOf,
  failureOf,
  fakeService,
  type FakeService,
  json,
  PAYMENT_ID,
} from './support/fake-service.js';
import type { ApiVersion } from '../../src/provider/index.js';

const open: FakeService[] = [];
async function clientFor(answer: Answer, apiVersion: ApiVersion = '1.3.0') {
  const service = await fakeService(answer);
  open.push(service);
  return clientOf(service.url, { apiVersion });
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((service) => service.close()));
});

const RISK = { id: CHARGE_ID, result: { status: 'Succeed' } };
const withDecision = (decision: unknown) => ({
  ...RISK,
  provider_data: { risk_analyses_result: { decision, score: 12 } },
});

test('a risk decision that is not known is never read as none', async () => {
  const client = await clientFor((response, request) =>
    json(201, withDecision((JSON.parse(request.body) as { transaction_type: string }).transaction_type))(
      response,
      request,
    ),
  );
  for (const decision of ['approve', 'review', 'decline']) {
    const { data } = await client.createRiskAnalysis(PAYMENT_ID, { transactionType: decision });
    expect(data).toEqual({ id: CHARGE_ID, status: 'Succeed', decision, score: 12 });
  }
  for (const decision of ['Approve', 'approved', 'none']) {
    const error = await failureOf(client.createRiskAnalysis(PAYMENT_ID, { transactionType: decision }));
    expect(error).toMatchObject({
      kind: 'unexpected',
      faults: [expect.stringMatching(/^provider_data.risk_analyses_result.decision: /)],
    });
  }
  for (const answer of [RISK, { ...RISK, provider_data: null }]) {
    const none = await clientFor(json(201, answer));
    expect((await none.createRiskAnalysis(PAYMENT_ID)).data).toEqual({ id: CHARGE_ID, status: 'Succeed' });
  }
});

test.each([
  ['of a fraction of a cent', '{"amount":0.3625,"currency":"USD"}'],
  ['in a currency of no list', '{"amount":1,"currency":"XBT"}'],
])('a sum %s at 1.0.0 that nothing is decided by leaves the outcome known', async (_name, sum) => {
  const charge = `{"id":"${CHARGE_ID}","result":{"status":"Succeed"},"amount":10.95,"fees":[${sum}]}`;
  const charges = await clientFor(json(200, charge), '1.0.0');
  const options = { currency: 'USD' };
  const request = { paymentMethod: { type: 'tokenized', token: CHARGE_ID } } as const;
  const known = { id: CHARGE_ID, status: 'Succeed', amount: 1095 };
  expect((await charges.createCharge(PAYMENT_ID, request, options)).data).toEqual(known);
  expect((await charges.getCharge(PAYMENT_ID, CHARGE_ID, options)).data).toEqual(known);
  const limits = sum.replace('amount', 'max');
  const methods = await clientFor(json(200, `[{"supported_payment_methods":[{"amounts":[${limits}]}]}]`), '1.0.0');
  const { currency } = JSON.parse(sum) as { currency: string };
  expect((await methods.listSupportedPaymentMethods()).data).toEqual([
    { paymentMethods: [{ amounts: [{ currency }] }] },
  ]);
});

const CUSTOMER = { id: PAYMENT_ID, customer_reference: 'ann' };
test('a customer is found, or is none any more; another one or several are no answer', async () => {
  const found = await clientFor(json(200, [CUSTOMER]));
  expect((await found.findCustomer('ann')).data).toEqual({
    id: PAYMENT_ID,
    customerReference: 'ann',
    paymentMethods: [],
  });
  expect((await failureOf(found.findCustomer('Ann'))).faults).toEqual([
    'customerReference: is not the one that was asked for',
  ]);
  expect((await (await clientFor(json(200, []))).findCustomer('ann')).data).toBeUndefined();
  const several = await clientFor(json(200, [CUSTOMER, CUSTOMER]));
  expect((await failureOf(several.findCustomer('ann'))).faults).toEqual(['body: holds more than one customer']);
});

test('a stored card or a token under another token than was asked for is no answer', async () => {
  const client = await clientFor(json(200, { token: CHARGE_ID }));
  for (const call of [
    client.storePaymentMethod(PAYMENT_ID, PAYMENT_ID),
    client.getPaymentMethod(PAYMENT_ID, PAYMENT_ID),
    client.getToken(PAYMENT_ID),
  ]) {
    expect((await failureOf(call)).faults).toEqual(['token: is not the one that was asked for']);
  }
  expect((await client.getToken(CHARGE_ID)).data).toEqual({ token: CHARGE_ID });
});

test('a stored card without a token makes the whole list, and the whole customer, unexpected', async () => {
  const list = await clientFor(json(200, [{ token: CHARGE_ID }, { fingerprint: 'f' }]));
  expect((await failureOf(list.listPaymentMethods(PAYMENT_ID))).faults?.[0]).toMatch(/^1\.token: /);
  const customer = await clientFor(json(200, { ...CUSTOMER, payment_methods: [{}] }));
  expect((await failureOf(customer.getCustomer(PAYMENT_ID))).faults?.[0]).toMatch(/^payment_methods\.0\.token: /);
});

test('a deletion is done at a 2xx without a body', async () => {
  for (const status of [200, 204]) {
    const client = await clientFor(json(status, ''));
    expect(await client.deletePaymentMethod(PAYMENT_ID, CHARGE_ID)).toEqual({
      data: undefined,
      httpStatus: status,
      requestId: 'req-1',
    });
  }
});

test('a deletion is not done at a 2xx with a body, which may be the page of a proxy or an error', async () => {
  const error = '{"category":"api_request_error","description":"Not now."}';
  for (const body of ['{}', 'null', '<html>', '{"id":', error]) {
    const client = await clientFor(json(200, body));
    expect(await failureOf(client.deletePaymentMethod(PAYMENT_ID, CHARGE_ID))).toMatchObject({
      kind: 'unexpected',
      httpStatus: 200,
      faults: [expect.stringMatching(/^body: /)],
    });
  }
});

test('a card number that stands where the last digits should is not handed on', async () => {
  const card = {
    token: CHARGE_ID,
    last_4_digits: '4111111111111111',
    bin_number: '4111-1111-1111-1111',
    holder_name: 'Ann 4111 1111 1111 1111',
    expiration_date: 5,
    card_number: '4111111111111111',
    encrypted_cvv: '',
  };
  const client = await clientFor(json(200, card));
  expect((await client.getToken(CHARGE_ID)).data).toEqual({ token: CHARGE_ID });
  const charge = await clientFor(json(200, { ...CHARGE_BODY, payment_method: card }));
  expect((await charge.getCharge(PAYMENT_ID, CHARGE_ID)).data.paymentMethod).toEqual({ token: CHARGE_ID });
});

test('a field is read under its name on the wire alone, and no key of a free-form map is renamed', async () => {
  const charge = {
    ...CHARGE_BODY,
    captureId: 'not-a-wire-name',
    additional_details: { snake_key: 'a', camelKey: 'b' },
    provider_data: {
      provider_name: 'P',
      providerName: 'own-spelling',
      own_reference: 'r',
      additional_information: { snake_key: { inner_key: 1 }, camelKey: 2 },
    },
    payment_method: { last4_digits: '2222', tokenType: 'x' },
  };
  const charges = await clientFor(json(200, charge));
  expect((await charges.getCharge(PAYMENT_ID, CHARGE_ID)).data).toStrictEqual({
    id: CHARGE_ID,
    status: 'Succeed',
    amount: 1095,
    additionalDetails: { snake_key: 'a', camelKey: 'b' },
    paymentMethod: {},
    providerName: 'P',
    providerFields: { providerName: 'own-spelling', own_reference: 'r' },
    additionalInformation: { snake_key: { inner_key: 1 }, camelKey: 2 },
  });
  const addendums = { airline_itinerary: { passenger_name: 'A', camelKey: [{ fare_class: 'Y' }] } };
  const payments = await clientFor(json(200, { id: PAYMENT_ID, amount: 1, currency: 'USD', addendums }));
  expect((await payments.getPayment(PAYMENT_ID)).data).toStrictEqual({
    id: PAYMENT_ID,
    amount: 1,
    currency: 'USD',
    addendums,
  });
});
