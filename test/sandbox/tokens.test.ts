import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GOOD_CARD, startTestSandbox, type TestSandbox, type Wire } from './support/sandbox.js';

const HOUR_MS = 3_600_000;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

function tokenize(card: object, headers: Record<string, string | undefined> = {}): Promise<Wire> {
  const body = { token_type: 'credit_card', holder_name: 'Ada', card_number: GOOD_CARD, ...card };
  const browser = { 'private-key': undefined, 'app-id': undefined, 'public-key': 'sandbox-public-key' };
  return sandbox.api.post('/tokens', body, { ...browser, ...headers });
}

describe('tokens', () => {
  test('are made from a page of any origin, refusals included, and nothing else is', async () => {
    const origin = 'https://shop.example';
    const asked = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'public-key' };
    const preflight = await sandbox.api.call('OPTIONS', '/tokens', undefined, asked);
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('public-key');
    for (const card of [{}, { card_number: 'none' }]) {
      expect((await tokenize(card, { origin })).headers.get('access-control-allow-origin')).toBe('*');
    }
    for (const path of ['/payments', '/sandbox/reset']) {
      const { status, headers } = await sandbox.api.call('OPTIONS', path, undefined, asked);
      expect([status >= 400, headers.get('access-control-allow-origin')]).toEqual([true, null]);
    }
  });

  test('a token has the observed keys in the observed order', async () => {
    const address = { country: 'USA', state: 'NY', city: 'New York', line1: 'Main St 1' };
    const made = await tokenize({ expiration_date: '1/27', credit_card_cvv: '123', billing_address: address });
    expect(made.status).toBe(201);
    expect(Object.keys(made.body)).toEqual([
      ...['token', 'created', 'pass_luhn_validation', 'token_type', 'type', 'state', 'bin_number', 'vendor'],
      ...['card_type', 'issuer', 'level', 'country_code', 'billing_address', 'holder_name', 'expiration_date'],
      ...['last_4_digits', 'encrypted_cvv'],
    ]);
    expect(made.body).toMatchObject({
      state: 'created',
      type: 'tokenized',
      token_type: 'credit_card',
      expiration_date: '01/2027',
      bin_number: '411111',
      vendor: 'VISA',
      country_code: 'USA',
    });
    const read = await sandbox.api.get(`/tokens/${made.body.token}`);
    const { encrypted_cvv: _only, ...rest } = made.body;
    expect([read.status, read.body]).toEqual([200, rest]);
  });

  test.each([
    ['01/2027', '01/2027'],
    ['1-27', '01/2027'],
    ['12.30', '12/2030'],
    ['07 2031', '07/2031'],
    ['13/2027', undefined],
    ['1/1/27', undefined],
    ['never', undefined],
  ])('the expiration date %s becomes %s', async (given, expected) => {
    const made = await tokenize({ expiration_date: given });
    expect(made.body['expiration_date']).toBe(expected);
    expect(made.status).toBe(expected === undefined ? 400 : 201);
    if (expected === undefined) expect(made.body.more_info).toBe('expiration_date does not have a valid format');
  });

  test('the same key and card make the same token, another card or key a new one', async () => {
    const key = { 'idempotency-key': 'token-key' };
    const first = await tokenize({}, key);
    expect((await tokenize({}, key)).body.token).toBe(first.body.token);
    expect((await tokenize({ card_number: '4242424242424242' }, key)).body.token).not.toBe(first.body.token);
    expect((await tokenize({}, { 'idempotency-key': 'token-key-2' })).body.token).not.toBe(first.body.token);
  });

  test.each([
    ['a wrong public key', { 'public-key': 'wrong' }, 401],
    ['no public key', { 'public-key': undefined }, 400],
    ['the app id of another unit', { 'app-id': 'nobody' }, 401],
    ['its own app id', { 'app-id': 'holdfast-sandbox' }, 201],
  ])('tokenising with %s answers %s %i', async (_what, headers, status) => {
    expect((await tokenize({}, headers)).status).toBe(status);
  });

  test('a token pays once: it is used after a successful charge, not after a failed one', async () => {
    const { token } = await sandbox.charged(GOOD_CARD);
    expect((await sandbox.api.get(`/tokens/${token}`)).body['state']).toBe('used');
    const next = await sandbox.api.createPayment();
    const refused = await sandbox.api.charge(next.body.id, token);
    expect([refused.status, refused.body.category]).toEqual([400, 'api_request_error']);
    expect(refused.body.more_info).toMatch(/already used in a successful payment/);
    const failed = await sandbox.charged('4242424242424242');
    expect((await sandbox.api.get(`/tokens/${failed.token}`)).body['state']).toBe('created');
  });

  test('an unknown token is refused in a charge and not found by GET', async () => {
    const payment = await sandbox.api.createPayment();
    const charge = await sandbox.api.charge(payment.body.id, randomUUID());
    expect([charge.status, charge.body.more_info]).toEqual([400, 'Token does not exist.']);
    const read = await sandbox.api.get(`/tokens/${randomUUID()}`);
    expect([read.status, read.body.more_info]).toEqual([404, 'Not Found, Payment method token was not found']);
  });

  test('a token of version 1.1.0 shows no state there and is valid to later versions', async () => {
    const made = await tokenize({}, { 'api-version': '1.1.0' });
    expect(made.body).not.toHaveProperty('state');
    expect((await sandbox.api.get(`/tokens/${made.body.token}`)).body['state']).toBe('valid');
  });

  test('an encrypted CVV is taken for its own token only', async () => {
    const mine = await sandbox.control.tokenize({ cardNumber: GOOD_CARD, cvv: '123' });
    const other = await sandbox.control.tokenize({ cardNumber: GOOD_CARD, cvv: '123' });
    const payment = await sandbox.api.createPayment();
    const chargeWith = (cvv: string | undefined) =>
      sandbox.api.post(`/payments/${payment.body.id}/charges`, {
        payment_method: { type: 'tokenized', token: mine.token, credit_card_cvv: cvv },
      });
    expect((await chargeWith(other.encryptedCvv)).status).toBe(400);
    expect((await chargeWith(mine.encryptedCvv)).status).toBe(201);
  });

  test('an encrypted CVV lives 3 h and an unsaved token 24 h of the sandbox clock', async () => {
    const { token, encryptedCvv } = await sandbox.control.tokenize({ cardNumber: GOOD_CARD, cvv: '123' });
    const payment = await sandbox.api.createPayment();
    await sandbox.control.advanceClock(3 * HOUR_MS);
    const late = await sandbox.api.post(`/payments/${payment.body.id}/charges`, {
      payment_method: { type: 'tokenized', token, credit_card_cvv: encryptedCvv },
    });
    expect([late.status, late.body.more_info]).toEqual([400, 'encrypted_cvv is not of this token or has expired']);
    expect((await sandbox.api.get(`/tokens/${token}`)).status).toBe(200);
    await sandbox.control.advanceClock(21 * HOUR_MS);
    expect((await sandbox.api.get(`/tokens/${token}`)).status).toBe(404);
    expect((await sandbox.api.charge(payment.body.id, token)).body.more_info).toBe('Token does not exist.');
  });

  test('neither card numbers nor CVVs reach the disk', async () => {
    await sandbox.charged('5200828282828210');
    await sandbox.control.tokenize({ cardNumber: '371449635398431', cvv: '8642' });
    const folder = join(sandbox.stateDir, 'sandbox');
    const disk = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name)))).toString('latin1');
    expect(disk).toContain('8210');
    for (const secret of ['5200828282828210', '371449635398431', '"8642"']) expect(disk).not.toContain(secret);
  });
});
