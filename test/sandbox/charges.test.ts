import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAILING_CARD, GOOD_CARD, startTestSandbox, until, type TestSandbox } from './support/sandbox.js';

const FAILED =
  '4242424242424242 4000056655665556 5555555555554444 5200828282828210 378282246310005 6011111111111117 ' +
  '30569309025904 3530111333300000';
const PENDING_SUCCEED =
  '4000000000000077 5105105105105100 371449635398431 6011000990139424 38520000023237 3566002020360505';
const PENDING_FAILED = '4000000400000008 5454545454545454';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ settings: { pendingMs: 20 } });
});
afterAll(() => sandbox.close());

describe('mock card triggers', () => {
  test.each(FAILED.split(' '))('a charge of %s is made and fails', async (card) => {
    const { charge, paymentId } = await sandbox.charged(card);
    expect(charge.status).toBe(201);
    expect(charge.body.result).toEqual({
      status: 'Failed',
      category: 'provider_error',
      description: "Something went wrong on the provider's side.",
    });
    expect(charge.body['provider_data']).toMatchObject({ response_code: '102', description: 'DECLINED.' });
    expect(charge.body['provider_data']).not.toHaveProperty('authorization_code');
    expect((await sandbox.api.get(`/payments/${paymentId}`)).body.status).toBe('Initialized');
  });

  test.each([
    ...PENDING_SUCCEED.split(' ').map((card) => [card, 'Succeed', 'Captured']),
    ...PENDING_FAILED.split(' ').map((card) => [card, 'Failed', 'Initialized']),
  ])('a charge of %s pends and ends as %s, its payment %s', async (card = '', status, paymentStatus) => {
    const { charge, paymentId } = await sandbox.charged(card);
    expect(charge.body.result).toEqual({ status: 'Pending' });
    const settled = await until(async () => {
      const read = await sandbox.api.get(`/payments/${paymentId}/charges/${charge.body.id}`);
      return read.body.result.status === 'Pending' ? undefined : read;
    });
    expect(settled.body.result.status).toBe(status);
    expect(settled.body['provider_data']).toMatchObject({
      transaction_id: (charge.body['provider_data'] as { transaction_id: string }).transaction_id,
    });
    expect((await sandbox.api.get(`/payments/${paymentId}`)).body.status).toBe(paymentStatus);
  });

  test('a card that fails the Luhn check is tokenised, and its charge fails for the payment method', async () => {
    const { charge } = await sandbox.charged('4111111111111112');
    expect(charge.body.result).toMatchObject({ status: 'Failed', category: 'payment_method_error' });
  });

  test.each([
    ['succeed', 'Succeed'],
    ['failed', 'Failed'],
    ['pending_succeed', 'Pending'],
    ['pending_failed', 'Pending'],
  ])('an alternative method asked to be %s answers %s', async (wanted, status) => {
    const { body } = await sandbox.api.createPayment();
    const charge = await sandbox.api.post(`/payments/${body.id}/charges`, {
      payment_method: {
        type: 'untokenized',
        source_type: 'ewallet',
        vendor: 'wallet',
        additional_details: { untokenized_result_status: wanted },
      },
    });
    expect(charge.body.result.status).toBe(status);
  });
});

describe('charges', () => {
  test('a successful charge captures the payment and echoes what the merchant sent', async () => {
    const { token } = await sandbox.control.tokenize({ cardNumber: GOOD_CARD, cvv: '123' });
    const payment = await sandbox.api.createPayment({ amount: 4097, currency: 'USD' });
    const charge = await sandbox.api.post(
      `/payments/${payment.body.id}/charges`,
      {
        payment_method: { type: 'tokenized', token, credit_card_cvv: '123' },
        reconciliation_id: 'order-7',
        additional_details: { holdfast_key: 'k' },
        cof_transaction_indicators: { card_entry_mode: 'consent_transaction' },
        some_future_field: true,
      },
      { 'x-client-ip-address': '203.0.113.7', 'idempotency-key': randomUUID() },
    );
    expect(charge.status).toBe(201);
    expect(charge.body).toMatchObject({
      reconciliation_id: 'order-7',
      additional_details: { holdfast_key: 'k' },
      amount: 4097,
      currency: 'USD',
      ip_address: '203.0.113.7',
      provider_specific_data: {},
      payment_method: { type: 'tokenized', token, token_type: 'credit_card', last_4_digits: '1111', vendor: 'VISA' },
    });
    expect(charge.body.result).toEqual({ status: 'Succeed' });
    const data = charge.body['provider_data'] as Record<string, string>;
    const raw = JSON.parse(data['raw_response'] ?? '') as Record<string, string>;
    expect(data).toMatchObject({ provider_name: 'MockProcessor', response_code: '0', description: 'Captured.' });
    expect(raw).toMatchObject({ OID: data['external_id'], TRANSID: data['transaction_id'], AMOUNT: '40.97' });
    expect(data['authorization_code']).toBe(data['external_id']?.slice(0, 5));
    expect(charge.text).not.toContain(GOOD_CARD);

    const read = await sandbox.api.get(`/payments/${payment.body.id}/charges/${charge.body.id}`);
    const { provider_specific_data: _only, ...shared } = charge.body;
    expect(read.body).toEqual(shared);
    const list = await sandbox.api.get(`/payments/${payment.body.id}/charges`);
    expect(JSON.parse(list.text)).toEqual([read.body]);
    expect((await sandbox.api.get(`/payments/${payment.body.id}`)).body.status).toBe('Captured');
  });

  test('a second charge of a captured payment under another key is a conflict', async () => {
    const { paymentId } = await sandbox.charged();
    const { token } = await sandbox.control.tokenize(GOOD_CARD);
    const second = await sandbox.api.charge(paymentId, token);
    expect(second.status).toBe(409);
    expect(second.body).toEqual({
      category: 'api_request_error',
      description: 'There was conflict with payment resource current state.',
      more_info: 'Please check the current state of the payment.',
    });
  });

  test('after a failed charge another one is allowed', async () => {
    const { paymentId } = await sandbox.charged(FAILING_CARD);
    const { token } = await sandbox.control.tokenize(GOOD_CARD);
    expect((await sandbox.api.charge(paymentId, token)).body.result.status).toBe('Succeed');
    const list = JSON.parse((await sandbox.api.get(`/payments/${paymentId}/charges`)).text) as { result: object }[];
    expect(list.map((charge) => charge.result)).toMatchObject([{ status: 'Failed' }, { status: 'Succeed' }]);
  });

  test('an unknown charge is a 404 in the words of the service', async () => {
    const { paymentId } = await sandbox.charged();
    const other = await sandbox.charged();
    for (const id of [randomUUID(), other.charge.body.id]) {
      const answer = await sandbox.api.get(`/payments/${paymentId}/charges/${id}`);
      expect([answer.status, answer.body.description, answer.body.more_info]).toEqual([
        404,
        'The resource was not found.',
        'charges resource does not exits',
      ]);
    }
    const list = await sandbox.api.get(`/payments/${randomUUID()}/charges`);
    expect([list.status, list.body.more_info]).toEqual([404, 'Payment resource does not exists']);
  });

  test.each([
    ['no payment method', {}],
    ['an unknown type of payment method', { payment_method: { type: 'cash' } }],
    ['no token', { payment_method: { type: 'tokenized' } }],
    ['a CVV of letters', { payment_method: { type: 'tokenized', token: 't', credit_card_cvv: 'abc' } }],
    ['a reconciliation id above 255', { reconciliation_id: 'x'.repeat(256) }],
    ['flat 3-D Secure fields at 1.3.0', { three_d_secure_attributes: { cavv: 'x', eci_flag: '05' } }],
  ])('refuses a charge with %s', async (_what, extra) => {
    const { body } = await sandbox.api.createPayment();
    const { token } = await sandbox.control.tokenize(GOOD_CARD);
    const method = 'reconciliation_id' in extra || 'three_d_secure_attributes' in extra;
    const request = { ...(method && { payment_method: { type: 'tokenized', token } }), ...extra };
    const answer = await sandbox.api.post(`/payments/${body.id}/charges`, request);
    expect([answer.status, answer.body.category]).toEqual([400, 'api_request_error']);
    expect(await sandbox.control.ledger()).not.toContainEqual(expect.objectContaining({ payment_id: body.id }));
  });

  test('flat 3-D Secure fields are taken at 1.2.0', async () => {
    const { body } = await sandbox.api.createPayment();
    const { token } = await sandbox.control.tokenize(GOOD_CARD);
    const request = { payment_method: { type: 'tokenized', token }, three_d_secure_attributes: { cavv: 'x' } };
    const answer = await sandbox.api.post(`/payments/${body.id}/charges`, request, { 'api-version': '1.2.0' });
    expect(answer.status).toBe(201);
  });

  test('full card details are for units that declared SAQ D', async () => {
    const method = { type: 'untokenized', source_type: 'credit_card', holder_name: 'Ada', card_number: GOOD_CARD };
    const { body } = await sandbox.api.createPayment();
    expect((await sandbox.api.post(`/payments/${body.id}/charges`, { payment_method: method })).status).toBe(400);
    const unit = await sandbox.control.putBusinessUnit({ app_id: 'saq-d', saq_d: true });
    const credentials = { 'app-id': unit.app_id, 'private-key': unit.private_key };
    const payment = await sandbox.api.post('/payments', { amount: 1, currency: 'USD' }, credentials);
    const path = `/payments/${payment.body.id}/charges`;
    const charge = await sandbox.api.post(path, { payment_method: method }, credentials);
    expect([charge.status, charge.body.result.status]).toEqual([201, 'Succeed']);
    expect(charge.text).not.toContain(GOOD_CARD);
  });
});
