import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOSTILE_PROFILES } from '../../sandbox/business-units.js';
import type { Profile } from '../../sandbox/records.js';
import {
  GOOD_CARD,
  PENDING_THEN_SUCCEED,
  startTestSandbox,
  unitWith,
  Api,
  type TestSandbox,
} from './support/sandbox.js';

const DAY_MS = 86_400_000;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

async function held(profile: Partial<Profile>, amount = 9_000): Promise<{ api: Api; path: string; auth: () => Made }> {
  const { api, tokenize } = await unitWith(sandbox, profile);
  const path = `/payments/${(await api.createPayment({ amount })).body.id}`;
  const auth = async (extra: object = {}) =>
    api.post(`${path}/authorizations`, { payment_method: { type: 'tokenized', token: await tokenize() }, ...extra });
  expect((await auth()).body.result.status).toBe('Succeed');
  return { api, path, auth };
}
type Made = ReturnType<Api['post']>;

describe('strict sums', () => {
  test('the provider declines to capture more than was authorized, what pends counted', async () => {
    const { api, path } = await held({ sums: 'strict' });
    const capture = (amount: number) => api.post(`${path}/captures`, { amount });
    expect((await capture(5_000)).body.result.status).toBe('Succeed');
    expect((await capture(4_001)).body.result).toMatchObject({ status: 'Failed', category: 'provider_request_error' });
    expect((await capture(4_000)).body.result.status).toBe('Succeed');
  });

  test('the provider declines to refund more than was captured, in all and of one capture', async () => {
    const { api, path } = await held({ sums: 'strict' });
    const first = (await api.post(`${path}/captures`, { amount: 4_500 })).body.id;
    const second = (await api.post(`${path}/captures`, { amount: 4_400 })).body.id;
    const refund = async (amount: number, capture_id: string) =>
      (await api.post(`${path}/refunds`, { amount, capture_id })).body.result.status;
    expect(await refund(4_501, first)).toBe('Failed');
    expect(await refund(4_500, first)).toBe('Succeed');
    expect(await refund(4_000, first)).toBe('Failed');
    expect(await refund(4_400, second)).toBe('Succeed');
  });

  test('what was captured since counts for a capture that the provider is asked for again', async () => {
    const { api, path } = await held({ sums: 'strict' });
    const fault = { action: 'result', status: 'Failed', category: 'provider_network_error', times: 1 } as const;
    await sandbox.control.addFault({ ...fault, path: `${path}/captures` });
    const capture = async (key: string) =>
      (await api.post(`${path}/captures`, { amount: 5_000 }, { 'idempotency-key': key })).body.result;
    expect(await capture('K1')).toMatchObject({ category: 'provider_network_error' });
    expect(await capture('K2')).toEqual({ status: 'Succeed' });
    expect(await capture('K1')).toMatchObject({ status: 'Failed', category: 'provider_request_error' });
  });
});

describe('holds that end in silence', () => {
  test('the payment stays authorized, and a capture fails', async () => {
    const { api, path } = await held({ expired_hold: 'fails_capture' });
    await sandbox.control.advanceClock(8 * DAY_MS);
    expect((await api.get(path)).body.status).toBe('Authorized');
    expect((await api.post(`${path}/captures`, {})).body.result.status).toBe('Failed');
    expect((await api.post(`${path}/voids`, {})).body.result.status).toBe('Succeed');
  });
});

describe('another authorization of a voided payment', () => {
  test.each([
    ['refused', 409],
    ['allowed', 201],
  ] as const)('is %s where the unit is set so', async (reauthorization, status) => {
    const { api, path, auth } = await held({ reauthorization });
    await api.post(`${path}/voids`, {});
    expect((await auth()).status).toBe(status);
  });
});

describe('card-on-file consents', () => {
  async function storedCard(profile: Partial<Profile>) {
    const { api, tokenize } = await unitWith(sandbox, profile);
    const token = await tokenize(GOOD_CARD);
    const customer = await api.post('/customers', { customer_reference: randomUUID() });
    const pay = async (card_entry_mode: string, cof_consent_transaction_id?: string) => {
      const payment = await api.createPayment();
      return api.charge(payment.body.id, token, {
        cof_transaction_indicators: { card_entry_mode, cof_consent_transaction_id },
      });
    };
    const first = await pay('consent_transaction');
    await api.post(`/customers/${customer.body.id}/payment-methods/${token}`, {});
    const named = profile.consent_id_field ?? 'network_transaction_id';
    const { [named]: consent = '' } = first.body['provider_data'] as Record<string, string>;
    expect(consent).toMatch(/^\d{15}$/);
    return { pay, consent, first };
  }

  test('a first transaction answers with a consent id, and a later one has none', async () => {
    const { pay, consent } = await storedCard({});
    const later = await pay('cof_merchant_initiated_transaction', consent);
    expect(later.body.result.status).toBe('Succeed');
    expect(later.body['provider_data']).not.toHaveProperty('network_transaction_id');
    expect((await pay('cof_merchant_initiated_transaction', 'invented')).body.result.status).toBe('Succeed');
  });

  test('its name can differ by provider', async () => {
    const { first } = await storedCard({ consent_id_field: 'scheme_reference' });
    expect(first.body['provider_data']).not.toHaveProperty('network_transaction_id');
  });

  test('a strict unit declines a later transaction that does not name the consent of its card', async () => {
    const { pay, consent } = await storedCard({ consent_ids: 'strict' });
    const mode = 'recurring_subsequent_transaction';
    expect((await pay(mode, consent)).body.result.status).toBe('Succeed');
    for (const wrong of [undefined, 'invented', `${consent.slice(0, 14)}x`, consent.slice(0, 8)]) {
      expect((await pay(mode, wrong)).body.result).toMatchObject({
        status: 'Failed',
        category: 'provider_request_error',
      });
    }
  });
});

describe('a void after a partial capture', () => {
  test('is offered where the provider takes one, releases the rest once, and what was captured stays', async () => {
    const { api, path } = await held({ partial_capture_void: 'allowed' }, 12_000);
    await api.post(`${path}/captures`, { amount: 6_000 });
    const actions = async () =>
      ((await api.get(path)).body.possible_next_actions as { action: string }[]).map(({ action }) => action);
    expect(await actions()).toEqual(['Refund', 'Void']);
    expect((await api.post(`${path}/voids`, {})).body.result.status).toBe('Succeed');
    expect((await api.get(path)).body.status).toBe('Captured');
    expect(await actions()).toEqual(['Refund']);
    expect((await api.post(`${path}/voids`, {})).status).toBe(409);
  });

  test('cancels the capture as well where the provider takes a void for one of both', async () => {
    const { api, path } = await held({ partial_capture_void: 'cancels' }, 12_000);
    await api.post(`${path}/captures`, { amount: 6_000 });
    expect((await api.post(`${path}/voids`, {})).body.result.status).toBe('Succeed');
    expect((await api.get(path)).body.status).toBe('Voided');
    expect((await api.post(`${path}/refunds`, {})).status).toBe(409);
  });

  test('is a conflict elsewhere, and where nothing is left', async () => {
    const other = await held({});
    await other.api.post(`${other.path}/captures`, { amount: 5_000 });
    expect((await other.api.post(`${other.path}/voids`, {})).status).toBe(409);
    const whole = await held({ partial_capture_void: 'allowed' });
    await whole.api.post(`${whole.path}/captures`, { amount: 9_000 });
    expect((await whole.api.post(`${whole.path}/voids`, {})).status).toBe(409);
  });
});

test('a void that pends until what it was to end has succeeded fails, and the payment stays captured', async () => {
  const { api, tokenize } = await unitWith(sandbox, { pending_void: 'allowed' });
  const { id } = (await api.createPayment({ amount: 2_500 })).body;
  const charge = await api.charge(id, await tokenize(PENDING_THEN_SUCCEED));
  expect((await api.post(`/payments/${id}/voids`, {})).body.result.status).toBe('Pending');
  await sandbox.control.complete(charge.body.id, { status: 'Succeed' });
  await sandbox.control.advanceClock(60_000);
  expect(await sandbox.control.ledgerOf({ paymentId: id })).toMatchObject([
    { kind: 'charge', status: 'Succeed' },
    { kind: 'void', status: 'Failed' },
  ]);
  expect((await api.get(`/payments/${id}`)).body.status).toBe('Captured');
});

test('a void that pends still releases the rest where what pended has failed, whatever was taken before', async () => {
  const { api, path } = await held({ pending_void: 'allowed' });
  expect((await api.post(`${path}/captures`, { amount: 4_500 })).body.result.status).toBe('Succeed');
  await sandbox.control.addFault({ action: 'result', status: 'Pending', path: `${path}/captures`, times: 1 });
  const capture = (await api.post(`${path}/captures`, { amount: 500 })).body;
  await sandbox.control.addFault({ action: 'result', status: 'Pending', path: `${path}/voids`, times: 1 });
  const released = (await api.post(`${path}/voids`, {})).body;
  await sandbox.control.complete(capture.id, { status: 'Failed' });
  await sandbox.control.complete(released.id, { status: 'Succeed' });
  expect((await api.get(`${path}/voids/${released.id}`)).body.result.status).toBe('Succeed');
});

test('a void whose provider was not reached is no success once what it was to end has succeeded', async () => {
  const { api, tokenize } = await unitWith(sandbox, { pending_void: 'allowed' });
  const { id } = (await api.createPayment({ amount: 9_000 })).body;
  const charge = await api.charge(id, await tokenize(PENDING_THEN_SUCCEED));
  const failing = { action: 'result', status: 'Failed', category: 'provider_network_error' } as const;
  await sandbox.control.addFault({ ...failing, path: `/payments/${id}/voids`, times: 1 });
  const unreached = (await api.post(`/payments/${id}/voids`, {})).body;
  expect(unreached.result.category).toBe(failing.category);
  await sandbox.control.complete(charge.body.id, { status: 'Succeed' });
  await sandbox.control.complete(unreached.id, { status: 'Succeed' });
  expect((await api.get(`/payments/${id}/voids/${unreached.id}`)).body.result.status).toBe('Failed');
});

describe('a service that offers nothing but what the interface names', () => {
  test('refuses every other read: no list, no transaction but a charge, no token', async () => {
    const { api, path } = await held({ offers: 'interface' });
    const status = async (asked: string) => (await api.get(asked)).status;
    for (const plural of ['authorizations', 'charges', 'captures', 'voids', 'refunds', 'credits', 'risk-analyses'])
      expect([plural, await status(`${path}/${plural}`)]).toEqual([plural, 404]);
    const capture = (await api.post(`${path}/captures`, {})).body.id;
    expect(await status(`${path}/captures/${capture}`)).toBe(405);
    expect(await status(`/tokens/${randomUUID()}`)).toBe(501);
    expect(await status(path)).toBe(200);
  });

  test('serves a charge by its id; neither that nor the payment echoes details or says more than is named', async () => {
    const { api, tokenize } = await unitWith(sandbox, { offers: 'interface' });
    const details = { additional_details: { holdfast_key: 'k' } };
    const payment = (await api.createPayment({ amount: 9_000, ...details })).body;
    expect(Object.keys(payment).toSorted()).toEqual(['amount', 'currency', 'id']);
    expect((await api.get(`/payments/${payment.id}?expand=all`)).body).toEqual(payment);
    const method = { payment_method: { type: 'tokenized', token: await tokenize() } };
    const made = (await api.post(`/payments/${payment.id}/charges`, { ...method, ...details })).body;
    const read = await api.get(`/payments/${payment.id}/charges/${made.id}`);
    expect(read.body).toMatchObject({ id: made.id, result: { status: 'Succeed' } });
    expect(read.body.additional_details).toBeUndefined();
  });
});

test.each([
  [{}, { a: 'b' }],
  [{ echo_additional_details: false }, undefined],
  [{ offers: 'interface' }, undefined],
] as const)('with %j a charge that is read shows of its token the details %j', async (profile, wanted) => {
  const { app_id, private_key, public_key } = await sandbox.control.putBusinessUnit({ app_id: randomUUID(), profile });
  const api = new Api(sandbox.url, { 'app-id': app_id, 'private-key': private_key });
  const card = {
    token_type: 'credit_card',
    holder_name: 'Ada',
    card_number: GOOD_CARD,
    additional_details: { a: 'b' },
  };
  const { token } = (await api.post('/tokens', card, { 'public-key': public_key })).body;
  const { id } = (await api.createPayment()).body;
  const charge = await api.charge(id, token);
  const read = await api.get(`/payments/${id}/charges/${charge.body.id}`);
  const method = read.body['payment_method'] as { token: string; additional_details?: object };
  expect([method.token, method.additional_details]).toEqual([token, wanted]);
});

test.each([
  ['refused', 409, 1],
  ['allowed', 201, 2],
] as const)(
  'a second charge of a payment under another key is %s where the unit is set so',
  async (mode, status, charges) => {
    const { api, tokenize } = await unitWith(sandbox, { second_charge: mode });
    const path = `/payments/${(await api.createPayment({ amount: 9_000 })).body.id}`;
    const method = { payment_method: { type: 'tokenized', token: await tokenize() } };
    const charge = async (key: string) => await api.post(`${path}/charges`, method, { 'idempotency-key': key });
    expect((await charge('first')).body.result.status).toBe('Succeed');
    expect((await charge('first')).status).toBe(201);
    expect((await charge('second')).status).toBe(status);
    expect((await api.get(`${path}/charges`)).body).toHaveLength(charges);
  },
);

test('a service without amounts in its bodies captures and refunds the whole, whatever is named', async () => {
  const { api, path } = await held({ sums: 'ignored' });
  expect((await api.post(`${path}/captures`, { amount: 5_000 })).body.amount).toBe(9_000);
  expect((await api.post(`${path}/refunds`, { amount: 5_000 })).body.amount).toBe(9_000);
});

test('each hostile profile answers exactly one open question otherwise than the default, and all are covered', async () => {
  const { profile } = await sandbox.control.putBusinessUnit({ app_id: 'plain' });
  const options = Object.values(HOSTILE_PROFILES).flatMap((one) => Object.entries(one));
  expect(options.map(([name]) => name).toSorted()).toEqual(Object.keys(profile).toSorted());
  for (const [name, value] of options) expect(profile[name as keyof Profile]).not.toEqual(value);
});
