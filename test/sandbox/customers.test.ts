import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { GOOD_CARD, startTestSandbox, type TestSandbox } from './support/sandbox.js';

const HOUR_MS = 3_600_000;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const create = (content: object = {}, key: string = randomUUID()) =>
  sandbox.api.post('/customers', { customer_reference: randomUUID(), ...content }, { 'idempotency-key': key });
const byReference = (reference: string) =>
  sandbox.api.get(`/customers?customer_reference=${encodeURIComponent(reference)}`);
const tokenize = async (card = GOOD_CARD) => (await sandbox.control.tokenize(card)).token;
const store = (customerId: string, token: string, headers: Record<string, string> = {}) =>
  sandbox.api.call('POST', `/customers/${customerId}/payment-methods/${token}`, undefined, headers);

describe('customers', () => {
  test('each change of the stored cards moves `modified` on, also within one millisecond', async () => {
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    try {
      const { id, modified } = (await create()).body;
      const token = await tokenize();
      const modifiedNow = async () => Number((await sandbox.api.get(`/customers/${id}`)).body.modified);
      await store(id, token);
      expect(await modifiedNow()).toBe(Number(modified) + 1);
      await sandbox.api.call('DELETE', `/customers/${id}/payment-methods/${token}`);
      expect(await modifiedNow()).toBe(Number(modified) + 2);
    } finally {
      now.mockRestore();
    }
  });

  test('a customer is made, read by id and by reference, replaced and deleted', async () => {
    const reference = `ref ${randomUUID()}`;
    const made = await create({ customer_reference: reference, email: 'ada@example.com', first_name: 'Ada' });
    expect(made.status).toBe(201);
    expect(Object.keys(made.body)).toEqual([
      ...['id', 'created', 'modified', 'customer_reference', 'first_name', 'email'],
    ]);
    const path = `/customers/${made.body.id}`;
    expect((await sandbox.api.get(path)).body).toEqual(made.body);
    expect(JSON.parse((await byReference(reference)).text)).toEqual([made.body]);

    await sandbox.control.advanceClock(1_000);
    const updated = await sandbox.api.call('PUT', path, { customer_reference: 'another', last_name: 'Lovelace' });
    expect([updated.status, updated.body['customer_reference']]).toEqual([200, reference]);
    expect(updated.body).toMatchObject({ id: made.body.id, created: made.body.created, last_name: 'Lovelace' });
    expect(updated.body).not.toHaveProperty('email');
    expect(updated.body.modified).not.toBe(made.body.modified);

    expect([(await sandbox.api.call('DELETE', path)).status, (await sandbox.api.call('DELETE', path)).status]).toEqual([
      204, 404,
    ]);
    const gone = await sandbox.api.get(path);
    expect([gone.status, gone.body.more_info]).toEqual([404, 'Customer not found.']);
    const list = await byReference(reference);
    expect([list.status, list.text]).toEqual([200, '[]']);
    const never = await byReference('never used');
    expect([never.status, never.body]).toEqual([
      404,
      { category: 'api_request_error', description: 'The resource was not found.' },
    ]);
    expect((await create({ customer_reference: reference })).status).toBe(201);
  });

  test('the same key makes the same customer whatever the body, another key of the same reference conflicts', async () => {
    const reference = randomUUID();
    const first = await create({ customer_reference: reference }, 'customer-key');
    expect((await create({ first_name: 'Other' }, 'customer-key')).text).toBe(first.text);
    const second = await create({ customer_reference: reference });
    expect([second.status, second.body]).toEqual([
      409,
      {
        category: 'api_request_error',
        description: 'There was conflict with the resource current state.',
        more_info: `customer_reference already used by customer ${first.body.id}`,
      },
    ]);
    expect(
      (await sandbox.api.post('/customers', { customer_reference: reference }, { 'x-svc-env': 'live' })).status,
    ).toBe(201);
  });

  test.each([
    [{ customer_reference: undefined }, 'customer_reference'],
    [{ customer_reference: '' }, 'customer_reference'],
    [{ email: 'nobody' }, 'email'],
    [{ additional_details: { a: 1 } }, 'additional_details.a'],
    [{ shipping_address: { country: 'Italy' } }, 'shipping_address.country'],
  ])('refuses %j and names the field', async (content, field) => {
    const answer = await create(content);
    expect([answer.status, answer.body.more_info]).toEqual([400, expect.stringContaining(`${field}:`)]);
  });

  test('a payment shows its customer as a link, and as a whole once expanded', async () => {
    const { body: customer } = await create({ first_name: 'Ada' });
    const path = `/payments/${(await sandbox.api.createPayment({ customer_id: customer.id })).body.id}`;
    const href = `${sandbox.url}/customers/${customer.id}`;
    expect((await sandbox.api.get(path)).body['customer']).toEqual({ href });
    expect((await sandbox.api.get(`${path}?expand=customer`)).body['customer']).toEqual({ ...customer, href });
  });
});

describe('stored cards', () => {
  test('a token is stored, listed, read, used again and again, and deleted', async () => {
    const { body: customer } = await create();
    const token = await tokenize();
    const made = await store(customer.id, token);
    const href = `${sandbox.url}/customers/${customer.id}`;
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      href: `${href}/payment-methods/${token}`,
      customer: href,
      state: 'assigned',
      type: 'tokenized',
      token_type: 'credit_card',
      fingerprint: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const path = `/customers/${customer.id}/payment-methods`;
    expect((await sandbox.api.get(`${path}/${token}`)).body).toEqual(made.body);
    expect(JSON.parse((await sandbox.api.get(path)).text)).toEqual([made.body]);
    expect((await sandbox.api.get(`/customers/${customer.id}`)).body['payment_methods']).toEqual([made.body]);

    await sandbox.control.advanceClock(48 * HOUR_MS);
    for (let turn = 0; turn < 2; turn++) {
      const payment = await sandbox.api.createPayment();
      const charge = await sandbox.api.charge(payment.body.id, token);
      expect(charge.body.result.status).toBe('Succeed');
      expect(charge.body['payment_method']).not.toHaveProperty('href');
    }
    expect((await sandbox.api.get(`${path}/${token}`)).body['state']).toBe('assigned');

    expect((await sandbox.api.call('DELETE', `${path}/${token}`)).status).toBe(204);
    expect((await sandbox.api.get(`${path}/${token}`)).status).toBe(404);
    const payment = await sandbox.api.createPayment();
    const refused = await sandbox.api.charge(payment.body.id, token);
    expect([refused.status, refused.body.more_info]).toEqual([400, 'Token does not exist.']);
  });

  test('another token of the same card is a method of its own with the same fingerprint', async () => {
    const { body: customer } = await create();
    const one = await store(customer.id, await tokenize());
    const two = await store(customer.id, await tokenize());
    const other = await store(customer.id, await tokenize('5555555555554444'));
    expect(two.body['fingerprint']).toBe(one.body['fingerprint']);
    expect(other.body['fingerprint']).not.toBe(one.body['fingerprint']);
    expect(JSON.parse((await sandbox.api.get(`/customers/${customer.id}/payment-methods`)).text)).toHaveLength(3);
  });

  test('a token used once can still be stored; storing it again answers the same, with another customer a conflict', async () => {
    const { token } = await sandbox.charged();
    const { body: customer } = await create();
    const first = await store(customer.id, token, { 'idempotency-key': 'a' });
    expect((await store(customer.id, token, { 'idempotency-key': 'b' })).text).toBe(first.text);
    expect((await store((await create()).body.id, token)).status).toBe(409);
  });

  test('a customer has room for 100 cards', async () => {
    const { body: customer } = await create();
    for (let count = 0; count < 100; count++) expect((await store(customer.id, await tokenize())).status).toBe(201);
    const refused = await store(customer.id, await tokenize());
    expect([refused.status, refused.body.more_info]).toEqual([400, expect.stringContaining('100 payment methods')]);
  });

  test('unknown tokens, customers and methods are 404s, and a token dies with its customer', async () => {
    const { body: customer } = await create();
    const unknown = await store(customer.id, randomUUID());
    expect([unknown.status, unknown.body.more_info]).toEqual([404, 'Not Found, Payment method token was not found']);
    const expired = await tokenize();
    await sandbox.control.advanceClock(24 * HOUR_MS);
    expect((await store(customer.id, expired)).status).toBe(404);
    for (const path of [`/customers/${customer.id}/payment-methods/${expired}`, `/customers/${randomUUID()}`]) {
      const answer = await sandbox.api.get(path);
      expect([answer.status, answer.body.more_info]).toEqual([404, undefined]);
    }
    const token = await tokenize();
    await store(customer.id, token);
    await sandbox.api.call('DELETE', `/customers/${customer.id}`);
    expect((await sandbox.api.get(`/tokens/${token}`)).status).toBe(404);
  });

  test.each(['1.0.0', '1.1.0'])('version %s stores no cards', async (version) => {
    const { body: customer } = await create();
    const answer = await store(customer.id, await tokenize(), { 'api-version': version });
    expect([answer.status, answer.body.more_info]).toEqual([400, 'API version is not supported']);
  });
});

test('customers, their cards and their references survive a restart', async () => {
  const reference = randomUUID();
  const { body: customer } = await create({ customer_reference: reference });
  const stored = await store(customer.id, await tokenize());
  await sandbox.restart();
  expect(JSON.parse((await byReference(reference)).text)).toMatchObject([{ payment_methods: [stored.body] }]);
});
