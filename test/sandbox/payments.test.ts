import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAILING_CARD, startTestSandbox, type TestSandbox } from './support/sandbox.js';

const ONE_CENT = { amount: 1, currency: 'USD' };
let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

describe('payments', () => {
  test('a new payment has the observed keys in the observed order, and GET answers the same', async () => {
    const made = await sandbox.api.createPayment({
      billing_address: { country: 'USA', email: 'ada@example.com' },
      order: { id: 'o-1', line_items: [{ id: '1', name: 'Tea', quantity: 1, unit_price: 1095 }] },
      statement_soft_descriptor: 'SHOP',
      additional_details: { colour: 'green' },
      shipping_address: { country: 'ITA' },
    });
    expect(made.status).toBe(201);
    expect(Object.keys(made.body)).toEqual([
      ...['id', 'currency', 'created', 'modified', 'is_chargedback', 'status', 'billing_address'],
      ...['possible_next_actions', 'order', 'amount', 'shipping_address'],
      ...['statement_soft_descriptor', 'additional_details'],
    ]);
    expect(made.body).toMatchObject({
      amount: 1095,
      currency: 'USD',
      status: 'Initialized',
      additional_details: { colour: 'green' },
      created: expect.stringMatching(/^\d{13}$/),
    });
    expect(made.body.status).toBe('Initialized');
    const read = await sandbox.api.get(`/payments/${made.body.id}`);
    expect(read.status).toBe(200);
    expect(read.body).toEqual(made.body);
  });

  test('an initialized payment names its six next actions with absolute links', async () => {
    const { body } = await sandbox.api.createPayment();
    const base = `${sandbox.url}/payments/${body.id}`;
    expect(body['possible_next_actions']).toEqual([
      { action: 'Credit', href: `${base}/credits` },
      { action: 'Charge', href: `${base}/charges` },
      { action: 'Authorization', href: `${base}/authorizations` },
      { action: 'Update Payment', href: base },
      { action: 'Authentication', href: `${base}/authentications` },
      { action: 'Risk analysis', href: `${base}/risk-analyses` },
    ]);
  });

  test('PUT replaces the content and keeps id and creation, until a transaction was made', async () => {
    const made = await sandbox.api.createPayment({ statement_soft_descriptor: 'OLD' });
    const path = `/payments/${made.body.id}`;
    const updated = await sandbox.api.call('PUT', path, { amount: 500, currency: 'EUR' });
    expect(updated.status).toBe(200);
    expect(updated.body).toMatchObject({ id: made.body.id, created: made.body.created, amount: 500, currency: 'EUR' });
    expect(updated.body).not.toHaveProperty('statement_soft_descriptor');
    expect((await sandbox.api.get(path)).body).toEqual(updated.body);

    const { token } = await sandbox.control.tokenize(FAILING_CARD);
    await sandbox.api.charge(made.body.id, token);
    const refused = await sandbox.api.call('PUT', path, { amount: 1, currency: 'EUR' });
    expect(refused.status).toBe(409);
    expect(refused.body).toEqual({
      category: 'api_request_error',
      description: 'There was conflict with payment resource current state.',
      more_info: 'Please check the current state of the payment.',
    });
  });

  test('related resources are links until they are expanded', async () => {
    const { paymentId, charge } = await sandbox.charged();
    const href = `${sandbox.url}/payments/${paymentId}/charges/${charge.body.id}`;
    expect((await sandbox.api.get(`/payments/${paymentId}`)).body['related_resources']).toEqual({
      charges: [{ href }],
    });
    const whole = (await sandbox.api.get(`/payments/${paymentId}/charges/${charge.body.id}`)).body;
    for (const query of ['expand=charges', 'expand=all', 'expand=voids&expand=charges']) {
      const expanded = await sandbox.api.get(`/payments/${paymentId}?${query}`);
      expect(expanded.body['related_resources']).toEqual({ charges: [whole] });
    }
    expect((await sandbox.api.get(`/payments/${paymentId}?expand=everything`)).status).toBe(400);
  });

  test.each([
    ['no amount', { currency: 'USD' }, 'amount'],
    ['amount of zero', { amount: 0, currency: 'USD' }, 'amount'],
    ['negative amount', { amount: -1, currency: 'USD' }, 'amount'],
    ['fraction of a minor unit', { amount: 10.5, currency: 'USD' }, 'amount'],
    ['amount above what is exact', { amount: 2 ** 53, currency: 'USD' }, 'amount'],
    ['amount as text', { amount: '1095', currency: 'USD' }, 'amount'],
    ['unknown currency', { amount: 1, currency: 'XYZ' }, 'currency'],
    ['long descriptor', { ...ONE_CENT, statement_soft_descriptor: 'x'.repeat(256) }, 'statement_soft_descriptor'],
    ['details that are no text', { amount: 1, currency: 'USD', additional_details: { a: 1 } }, 'additional_details'],
    ['no object', [], 'body'],
  ])('refuses a payment with %s and names the field', async (_what, body, field) => {
    const answer = await sandbox.api.post('/payments', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      category: 'api_request_error',
      description: 'One or more request parameters are invalid.',
      more_info: expect.stringContaining(field),
    });
  });

  test('a payment of another environment or business unit is not found', async () => {
    const { body } = await sandbox.api.createPayment();
    const live = await sandbox.api.get(`/payments/${body.id}`, { 'x-svc-env': 'live' });
    expect([live.status, live.body.more_info]).toEqual([404, 'Payment resource does not exists']);
    await sandbox.control.putBusinessUnit({ app_id: 'other', private_key: 'other-key' });
    const foreign = await sandbox.api.get(`/payments/${body.id}`, { 'app-id': 'other', 'private-key': 'other-key' });
    expect(foreign.status).toBe(404);
    expect(foreign.body.more_info).toBe('App_id that is related to the payment was not found');
  });

  test('an unknown payment is a 404 and an id that is no UUID a 400', async () => {
    const unknown = await sandbox.api.get(`/payments/${randomUUID()}`);
    expect(unknown.status).toBe(404);
    expect(unknown.body).toEqual({
      category: 'api_request_error',
      description: 'The resource was not found.',
      more_info: 'Payment resource does not exists',
    });
    expect((await sandbox.api.get('/payments/42')).status).toBe(400);
  });
});
