import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, authorized, GOOD_CARD, startTestSandbox, unitWith, type TestSandbox } from './support/sandbox.js';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const FIRST = { amount: 100, currency: 'USD' };
const SECOND = { amount: 250, currency: 'EUR' };

describe('POST /payments under a used key', () => {
  const at = (version: string, api: Api) => (content: object, key: string) =>
    api.post('/payments', content, { 'idempotency-key': key, 'api-version': version });

  test('at 1.3.0 gives the first answer again to the letter, whatever the body', async () => {
    const post = at('1.3.0', sandbox.api);
    const [first, again, other] = [await post(FIRST, 'used'), await post(FIRST, 'used'), await post(SECOND, 'used')];
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect([other.status, other.text]).toEqual([201, first.text]);
    expect((await sandbox.api.get(`/payments/${first.body.id}`)).body.amount).toBe(100);
    expect((await post(FIRST, 'unused')).body.id).not.toBe(first.body.id);
  });

  test.each(['1.1.0', '1.2.0'])('at %s it updates: same id, the content of the latest request', async (version) => {
    const post = at(version, sandbox.api);
    const first = await post(FIRST, version);
    const second = await post(SECOND, version);
    expect([second.status, second.body]).toMatchObject([201, { id: first.body.id, ...SECOND }]);
    expect((await sandbox.api.get(`/payments/${first.body.id}`)).body.amount).toBe(250);
  });

  test.each([
    ['updates', '1.1.0', SECOND],
    ['updates', '1.2.0', SECOND],
    ['updates', '1.3.0', SECOND],
    ['first_answer', '1.1.0', FIRST],
    ['first_answer', '1.2.0', FIRST],
    ['first_answer', '1.3.0', FIRST],
  ] as const)('a unit may have it that it %s at %s', async (repeated_payment, version, content) => {
    const { api } = await unitWith(sandbox, { repeated_payment });
    const post = at(version, api);
    const first = await post(FIRST, 'k');
    expect((await post(SECOND, 'k')).body).toMatchObject({ id: first.body.id, ...content });
  });

  test('once a transaction was made, it no longer changes what the money moved for', async () => {
    const { api, tokenize } = await unitWith(sandbox, { repeated_payment: 'updates' });
    const payment = await api.createPayment({ amount: 100 }, 'k');
    await api.charge(payment.body.id, await tokenize());
    const again = await api.createPayment({ amount: 999 }, 'k');
    expect([again.status, again.body]).toMatchObject([201, { id: payment.body.id, amount: 100, status: 'Captured' }]);
  });
});

describe('as a real client has seen it', () => {
  test('merchant_site_url takes any text, and whoever pends there comes back to nowhere', async () => {
    const { charge } = await sandbox.charged('4000000000000077', { merchant_site_url: 'abc' });
    expect([charge.status, charge.body['redirection']]).toMatchObject([201, { merchant_site_url: 'abc' }]);
    const opened = await fetch((charge.body['redirection'] as { url: string }).url, { redirect: 'manual' });
    expect([opened.status, await opened.json()]).toEqual([200, { done: true, merchant_site_url: 'abc' }]);
    expect((await sandbox.charged(GOOD_CARD, { merchant_site_url: 'abc' })).charge.status).toBe(201);
  });

  test('what an internal 3-D Secure was given is not shown again, what an external one said is', async () => {
    const internal = { device_channel: '02' };
    const external = { cavv: 'c', eci_flag: '05' };
    const only = await authorized(sandbox, {}, { three_d_secure_attributes: { internal } });
    expect(only.authorization.status).toBe(201);
    expect(only.authorization.body).not.toHaveProperty('three_d_secure_attributes');
    const both = await authorized(sandbox, {}, { three_d_secure_attributes: { internal, external } });
    expect(both.authorization.body['three_d_secure_attributes']).toEqual({ external });
  });

  test('a payment without transactions has no related resources, its expanded customer neither', async () => {
    const customer = await sandbox.api.post('/customers', { customer_reference: randomUUID() });
    const { body } = await sandbox.api.createPayment({ customer_id: customer.body.id });
    const path = `/payments/${body.id}`;
    expect((await sandbox.api.get(path)).body).toEqual(body);
    const href = `${sandbox.url}/customers/${customer.body.id}`;
    expect((await sandbox.api.get(`${path}?expand=customer`)).body).toEqual({
      ...body,
      customer: { ...customer.body, href },
    });
    expect((await sandbox.api.get(`${path}?expand=all`)).body['related_resources']).toEqual({});
  });

  test('a customer id is any text: one that is no UUID is unknown, not wrong', async () => {
    for (const path of ['/customers/nobody', '/customers/nobody/payment-methods']) {
      expect([(await sandbox.api.get(path)).status, path]).toEqual([404, path]);
    }
    const { status, body } = await sandbox.api.createPayment({ customer_id: 'cus/1' });
    expect([status, body['customer']]).toEqual([201, { href: `${sandbox.url}/customers/cus%2F1` }]);
  });

  test('a resource that is replaced at once was modified later all the same', async () => {
    const customer = await sandbox.api.post('/customers', { customer_reference: randomUUID() });
    const payment = await sandbox.api.createPayment();
    for (const [path, content, { modified }] of [
      [`/customers/${customer.body.id}`, {}, customer.body],
      [`/payments/${payment.body.id}`, FIRST, payment.body],
    ] as const) {
      let last = Number(modified);
      for (let i = 0; i < 20; i++) {
        const replaced = Number((await sandbox.api.call('PUT', path, content)).body.modified);
        expect(replaced).toBeGreaterThan(last);
        last = replaced;
      }
    }
  });

  test('a content type is taken where there is no content', async () => {
    const json = { 'content-type': 'application/json' };
    const customer = await sandbox.api.post('/customers', { customer_reference: randomUUID() });
    const { token } = await sandbox.control.tokenize(GOOD_CARD);
    const path = `/customers/${customer.body.id}/payment-methods/${token}`;
    expect((await sandbox.api.call('POST', path, undefined, json)).status).toBe(201);
    expect((await sandbox.api.call('DELETE', path, undefined, json)).status).toBe(204);
    expect((await sandbox.api.call('DELETE', `/customers/${customer.body.id}`, undefined, json)).status).toBe(204);
  });
});
