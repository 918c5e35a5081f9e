import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAILING_CARD, startTestSandbox, unitWith, type Api, type TestSandbox } from './support/sandbox.js';

/** A unit whose service does what the interface says, where that differs from what was observed. */
let sandbox: TestSandbox;
let api: Api;
let tokenize: (card?: string) => Promise<string>;
beforeAll(async () => {
  sandbox = await startTestSandbox();
  ({ api, tokenize } = await unitWith(sandbox, { reading: 'interface' }));
});
afterAll(() => sandbox.close());

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const newCustomer = () => api.post('/customers', { customer_reference: randomUUID() });
const pay = async (token: string, extra: object = {}) =>
  api.charge((await api.createPayment({ amount: 6_000 })).body.id, token, extra);
const consents = { cof_transaction_indicators: { card_entry_mode: 'consent_transaction' } };

test('a customer id is a string, and its payment methods are a list even when there are none', async () => {
  const { body } = await newCustomer();
  expect(body.id).not.toMatch(UUID);
  expect(body['payment_methods']).toEqual([]);
  expect((await api.get(`/customers/${body.id}`)).body).toEqual(body);
});

test('every transaction has amount and currency', async () => {
  const path = `/payments/${(await api.createPayment({ amount: 6_000 })).body.id}`;
  const method = { payment_method: { type: 'tokenized', token: await tokenize() } };
  for (const [kind, body] of [
    ['authorizations', method],
    ['captures', {}],
    ['refunds', {}],
  ] as const) {
    expect((await api.post(`${path}/${kind}`, body)).body).toMatchObject({ amount: 6_000, currency: 'USD' });
  }
});

test('a token is used once, however its charge ended', async () => {
  const token = await tokenize(FAILING_CARD);
  expect((await pay(token)).body.result.status).toBe('Failed');
  expect([(await pay(token)).status, (await api.get(`/tokens/${token}`)).body['state']]).toEqual([400, 'used']);
});

test('a charge that is asked again is not refused for the token that it used', async () => {
  const id = (await api.createPayment()).body.id;
  const token = await tokenize();
  const extra = { reconciliation_id: 'asked-again' };
  const fault = { action: 'result', status: 'Failed', category: 'provider_network_error', times: 1 } as const;
  await sandbox.control.addFault({ ...fault, reconciliation_id: 'asked-again' });
  expect((await api.charge(id, token, extra, 'again')).body.result.status).toBe('Failed');
  expect((await api.charge(id, token, extra, 'again')).body.result.status).toBe('Succeed');
});

test('a card whose first card-on-file transaction was declined is neither stored nor used again', async () => {
  const customer = await newCustomer();
  const token = await tokenize(FAILING_CARD);
  expect((await pay(token, consents)).body.result.status).toBe('Failed');
  const stored = await api.call('POST', `/customers/${customer.body.id}/payment-methods/${token}`);
  expect([stored.status, stored.body.more_info]).toEqual([400, expect.stringContaining('was declined')]);
  expect((await pay(token)).status).toBe(400);
  const good = await tokenize();
  expect((await pay(good, consents)).body.result.status).toBe('Succeed');
  expect((await api.call('POST', `/customers/${customer.body.id}/payment-methods/${good}`)).status).toBe(201);
});

test('risk is analysed at every version, also of a card that was used', async () => {
  const token = await tokenize();
  const path = `/payments/${(await api.createPayment({ amount: 6_000 })).body.id}`;
  await api.post(`${path}/authorizations`, { payment_method: { type: 'tokenized', token } });
  const body = { transaction_type: 'charge', payment_method: { type: 'tokenized', token } };
  expect((await api.post(`${path}/risk-analyses`, body, { 'api-version': '1.2.0' })).status).toBe(201);
});

test('a token shows its fingerprint', async () => {
  expect((await api.get(`/tokens/${await tokenize()}`)).body['fingerprint']).toMatch(UUID);
});
