import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fullOr } from '../support/counts.js';
import { Api, GOOD_CARD, startTestSandbox, type TestSandbox } from './support/sandbox.js';

let sandbox: TestSandbox;
let old: Api;
beforeAll(async () => {
  sandbox = await startTestSandbox();
  old = new Api(sandbox.url, { 'api-version': '1.0.0' });
});
afterAll(() => sandbox.close());

/** The number as it stands in a body, digit for digit. */
const digitsOf = (text: string, field: string) => new RegExp(`"${field}":(-?[0-9.]+)`).exec(text)?.[1];

describe('amounts at 1.0.0', () => {
  test.each([
    ['10.95', 'USD', 1_095],
    ['20', 'USD', 2_000],
    ['20.50', 'USD', 2_050],
    ['1.095e1', 'USD', 1_095],
    ['0.01', 'EUR', 1],
    ['1095', 'JPY', 1_095],
    ['1.095', 'KWD', 1_095],
    ['0.0001', 'CLF', 1],
    ['90071992547409.91', 'USD', Number.MAX_SAFE_INTEGER],
    ['1.0000000000000000000000', 'USD', 100],
  ])('%s %s is %i minor units', async (decimal, currency, minor) => {
    const made = await old.post('/payments', `{"amount":${decimal},"currency":"${currency}"}`);
    expect(made.status).toBe(201);
    expect((await sandbox.api.get(`/payments/${made.body.id}`)).body.amount).toBe(minor);
  });

  test.each([
    ['10.955', 'USD', 'a fraction of the smallest unit of USD'],
    ['10.5', 'JPY', 'a fraction of the smallest unit of JPY'],
    ['1e-3', 'USD', 'a fraction'],
    ['90071992547409.92', 'USD', 'is too large'],
    ['1e400', 'USD', 'is too large'],
    ['0', 'USD', 'must be more than 0'],
    ['0.00', 'USD', 'must be more than 0'],
    ['-1', 'USD', 'must be more than 0'],
    ['"10.95"', 'USD', 'must be a decimal number'],
    ['1e99999', 'USD', 'is no decimal number'],
  ])('%s %s is refused: %s', async (decimal, currency, reason) => {
    const answer = await old.post('/payments', `{"amount":${decimal},"currency":"${currency}"}`);
    expect([answer.status, answer.body.more_info]).toEqual([400, expect.stringContaining(`amount: `)]);
    expect(answer.body.more_info).toContain(reason);
  });

  test('any amount comes back unchanged at every version, digit for digit', async () => {
    const currency = fc.constantFrom('USD', 'JPY', 'KWD', 'CLF', 'EUR');
    const minor = fc.oneof(
      fc.integer({ min: 1, max: 10_000 }),
      fc.maxSafeNat().map((amount) => amount || 1),
    );
    await fc.assert(
      fc.asyncProperty(minor, currency, async (amount, code) => {
        const unit_price = amount;
        const made = await sandbox.api.createPayment({
          amount,
          currency: code,
          order: { line_items: [{ unit_price }] },
        });
        const text = (await old.get(`/payments/${made.body.id}`)).text;
        const decimal = digitsOf(text, 'amount') ?? '';
        expect(digitsOf(text, 'unit_price')).toBe(decimal);
        const body = `{"amount":${decimal},"currency":"${code}","order":{"line_items":[{"unit_price":${decimal}}]}}`;
        const back = await old.post('/payments', body);
        expect(digitsOf(back.text, 'amount')).toBe(decimal);
        for (const version of ['1.1.0', '1.2.0', '1.3.0']) {
          const read = await sandbox.api.get(`/payments/${back.body.id}`, { 'api-version': version });
          expect(read.body).toMatchObject({ amount, order: { line_items: [{ unit_price }] } });
        }
      }),
      { numRuns: fullOr(1_000, 60) },
    );
  });

  test('captures and refunds take and show decimals, prices of any sign, and other numbers stay as they are', async () => {
    const body =
      '{"amount":60.00,"currency":"USD","order":{"tax_amount":1.25,"line_items":[{"unit_price":-0.5,"quantity":2.5}]},' +
      '"addendums":{"amount":1.5},"additional_details":{"note":"@number: 5.5"}}';
    const made = await old.post('/payments', body);
    expect(made.status).toBe(201);
    const path = `/payments/${made.body.id}`;
    expect((await sandbox.api.get(path)).body).toMatchObject({
      amount: 6_000,
      order: { tax_amount: 1.25, line_items: [{ unit_price: -50, quantity: 2.5 }] },
      addendums: { amount: 1.5 },
      additional_details: { note: '@number: 5.5' },
    });
    const { token } = await sandbox.control.tokenize(GOOD_CARD);
    await old.post(`${path}/authorizations`, { payment_method_token: token });
    const capture = await old.post(`${path}/captures`, '{"amount":45.5}', { 'idempotency-key': 'decimal' });
    expect(digitsOf(capture.text, 'amount')).toBe('45.5');
    expect((await old.post(`${path}/captures`, '{"amount":1}', { 'idempotency-key': 'decimal' })).text).toBe(
      capture.text,
    );
    const refused = await old.post(`${path}/refunds`, '{"amount":40.123}');
    expect([refused.status, refused.body.more_info]).toEqual([400, expect.stringContaining('amount:')]);
    const refund = await old.post(`${path}/refunds`, '{"amount":45.5}');
    expect((await sandbox.api.get(`${path}/refunds/${refund.body.id}`)).body.amount).toBe(4_550);
  });
});

describe('cards at 1.0.0', () => {
  test('token and CVV stand at the root, and type is what token_type is later', async () => {
    const card = { type: 'credit_card', holder_name: 'Ada', card_number: GOOD_CARD, credit_card_cvv: '123' };
    const address = { country: 'US', city: 'New York' };
    const browser = { 'private-key': undefined, 'app-id': undefined, 'public-key': 'sandbox-public-key' };
    const token = await old.post('/tokens', { ...card, billing_address: address }, browser);
    expect(token.body).toMatchObject({ type: 'credit_card', country_code: 'US', billing_address: address });
    for (const field of ['token_type', 'state']) expect(token.body).not.toHaveProperty(field);

    const payment = await old.post('/payments', '{"amount":10.95,"currency":"USD"}');
    const charge = await old.post(`/payments/${payment.body.id}/charges`, {
      payment_method_token: token.body.token,
      credit_card_cvv: token.body['encrypted_cvv'],
    });
    expect(charge.body.result).toEqual({ status: 'Succeed' });
    expect(charge.body['payment_method']).toMatchObject({ type: 'credit_card', country_code: 'US' });
    expect(charge.body['payment_method']).not.toHaveProperty('token_type');
    const later = await sandbox.api.get(`/payments/${payment.body.id}/charges/${charge.body.id}`);
    expect(later.body['payment_method']).toMatchObject({
      type: 'tokenized',
      token_type: 'credit_card',
      country_code: 'USA',
      billing_address: { country: 'USA' },
    });
  });

  test.each([
    ['1.0.0', { payment_method: { type: 'tokenized', token: 'x' } }, 'payment_method'],
    ['1.0.0', {}, 'payment_method_token'],
    ['1.1.0', { payment_method_token: 'x' }, 'payment_method'],
  ])('%s refuses %j and names the field', async (version, body, field) => {
    const payment = await sandbox.api.createPayment();
    const answer = await sandbox.api.post(`/payments/${payment.body.id}/charges`, body, { 'api-version': version });
    expect([answer.status, answer.body.more_info]).toEqual([400, expect.stringContaining(`${field}`)]);
  });

  test('country codes have the length of the version', async () => {
    const statusOf = async (version: string, country: string) => {
      const content = { amount: 100, currency: 'JPY', billing_address: { country } };
      return (await sandbox.api.post('/payments', content, { 'api-version': version })).status;
    };
    expect([await statusOf('1.0.0', 'IT'), await statusOf('1.1.0', 'ITA')]).toEqual([201, 201]);
    expect([await statusOf('1.1.0', 'IT'), await statusOf('1.3.0', 'XYZ')]).toEqual([400, 400]);
  });
});

describe('what else differs', () => {
  test('without a version header the service is at 1.0.0', async () => {
    const made = await sandbox.api.post('/payments', '{"amount":10.95,"currency":"USD"}', { 'api-version': undefined });
    expect([made.status, digitsOf(made.text, 'amount')]).toEqual([201, '10.95']);
  });

  test.each([
    ['authorizations', '1.0.0', 504],
    ['charges', '1.0.0', 504],
    ['captures', '1.0.0', 504],
    ['refunds', '1.0.0', 504],
    ['voids', '1.0.0', 504],
    ['credits', '1.0.0', 503],
    ['charges', '1.1.0', 503],
    ['voids', '1.3.0', 503],
  ])('of %s, version %s answers for a provider that is away with %i', async (kind, version, status) => {
    const path = `/payments/${randomUUID()}/${kind}`;
    await sandbox.control.addFault({ action: 'status', status: 503, path, times: 1 });
    const answer = await sandbox.api.post(path, {}, { 'api-version': version });
    expect([answer.status, answer.body.category]).toEqual([status, 'provider_network_error']);
  });

  test.each([
    ['1.0.0', undefined, '127.0.0.1'],
    ['1.0.0', '203.0.113.7', '203.0.113.7'],
    ['1.1.0', undefined, undefined],
  ])('at %s the address %s becomes %s', async (version, sent, shown) => {
    const { token } = await sandbox.control.tokenize(GOOD_CARD);
    const payment = await sandbox.api.createPayment();
    const body = { payment_method_token: token, payment_method: { type: 'tokenized', token } };
    const { payment_method: method, ...root } = body;
    const charge = await sandbox.api.post(
      `/payments/${payment.body.id}/charges`,
      version === '1.0.0' ? root : { payment_method: method },
      { 'api-version': version, 'x-client-ip-address': sent },
    );
    expect([charge.status, charge.body['ip_address']]).toEqual([201, shown]);
  });

  test.each([
    ['1.1.0', undefined],
    ['1.2.0', 'created'],
    ['1.3.0', 'created'],
  ])('a token made at %s shows the state %s', async (apiVersion, state) => {
    const { token } = await sandbox.control.tokenize({ cardNumber: GOOD_CARD, apiVersion });
    const read = await sandbox.api.get(`/tokens/${token}`, { 'api-version': apiVersion });
    expect(read.body['state']).toBe(state);
  });
});
