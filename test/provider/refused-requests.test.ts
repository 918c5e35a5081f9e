import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ChargeRequest,
  OPERATIONS,
  type PaymentRequest,
  ProviderClient,
  type ProviderClientOptions,
  type RiskAnalysisRequest,
  type TokenRequest,
} from '../../src/provider/index.js';
import {
  CHARGE,
  CHARGE_BODY,
  clientOf,
  failureOf,
  fakeService,
  type FakeService,
  json,
  PAYMENT,
  PAYMENT_ID,
  PRIVATE_KEY,
} from './support/fake-service.js';
import { lines, refusals } from './support/refusals.js';

let service: FakeService;
let refusalOf: ReturnType<typeof refusals>;
beforeAll(async () => {
  service = await fakeService(json(201, CHARGE_BODY));
  refusalOf = refusals(service);
});
afterAll(() => service.close());

describe('what the service could not accept is refused before sending', () => {
  test.each([
    [0, /^amount: 0 is not an amount/],
    [-5, /^amount: -5 is not an amount/],
    [10.95, /^amount: 10.95 is not an amount/],
    [Number.MAX_SAFE_INTEGER + 1, /^amount: 9007199254740992 is not an amount/],
    [Number.NaN, /^amount: .*is not an amount/],
    ['1095', /^amount: .*is not an amount/],
    [undefined, /^amount: .*is not an amount/],
  ])('the amount %p, at every version', async (amount, fault) => {
    for (const apiVersion of ['1.0.0', '1.3.0'] as const) {
      const client = clientOf(service.url, { apiVersion });
      expect(await refusalOf(client.createPayment({ amount, currency: 'USD' } as PaymentRequest))).toEqual(
        lines([fault]),
      );
    }
  });

  test('all faults of one call at once: path, key, address, limit and every field', async () => {
    const client = clientOf(service.url);
    const request = {
      paymentMethod: { type: 'tokenized', token: 'no-token', creditCardCvv: '12' },
      reconciliationId: '',
      merchantSiteUrl: 'javascript:alert(1)',
      surprise: 1,
    } as unknown as ChargeRequest;
    const options = { idempotencyKey: 'a\r\nb', clientIpAddress: 'localhost', timeoutMs: 0 };
    expect(await refusalOf(client.createCharge('../customers', request, options))).toEqual(
      lines([
        'paymentId: is not a UUID',
        /^timeoutMs: 0 is not a whole number/,
        /^idempotencyKey: .* visible ASCII/,
        /^clientIpAddress: is neither/,
        'paymentMethod.token: is not a UUID',
        /^paymentMethod.creditCardCvv: is neither a CVV/,
        /^reconciliationId: /,
        /^merchantSiteUrl: is not an http/,
        'surprise: unknown field',
      ]),
    );
  });

  test.each(['../voids', `${PAYMENT_ID}/voids`, `${PAYMENT_ID}?x=1`, '%2e%2e', '', 'undefined', `${PAYMENT_ID} `])(
    'the id %j in a path',
    async (id) => {
      const client = clientOf(service.url);
      expect(await refusalOf(client.getPayment(id))).toEqual(lines(['paymentId: is not a UUID']));
      expect(await refusalOf(client.updatePayment(id, PAYMENT))).toEqual(lines(['paymentId: is not a UUID']));
      expect(await refusalOf(client.listCharges(id))).toEqual(lines(['paymentId: is not a UUID']));
      expect(await refusalOf(client.getCharge(PAYMENT_ID, id))).toEqual(lines(['chargeId: is not a UUID']));
    },
  );

  test.each(['', ' ', 'a b', 'a\nb', 'a\u0000b', 'ключ', '\u007f', 'a'.repeat(79)])(
    'the idempotency key %j',
    async (idempotencyKey) => {
      const call = clientOf(service.url).createCharge(PAYMENT_ID, CHARGE, { idempotencyKey });
      expect(await refusalOf(call)).toEqual(lines([/^idempotencyKey: /]));
    },
  );

  test('a key of 78 characters is sent', async () => {
    const idempotencyKey = 'k'.repeat(78);
    await clientOf(service.url).createCharge(PAYMENT_ID, CHARGE, { idempotencyKey });
    expect(service.requests.at(-1)?.headers['idempotency-key']).toBe(idempotencyKey);
  });

  test('a scoped IPv6 address with characters that no header can carry', async () => {
    const call = clientOf(service.url).createCharge(PAYMENT_ID, CHARGE, { clientIpAddress: 'fe80::1%a b' });
    expect(await refusalOf(call)).toEqual(lines([/^clientIpAddress: /]));
  });

  test('an unknown currency, a country code of the wrong length, an unknown resource to expand', async () => {
    const client = clientOf(service.url);
    expect(await refusalOf(client.createPayment({ amount: 1, currency: 'usd' }))).toEqual(
      lines([/^currency: "usd" is not an ISO 4217/]),
    );
    expect(await refusalOf(client.createPayment({ ...PAYMENT, billingAddress: { country: 'US' } }))).toEqual(
      lines(['billingAddress.country: is not a country code of 3 capital letters']),
    );
    expect(await refusalOf(client.getPayment(PAYMENT_ID, { expand: ['x&y=1' as 'all'] }))).toEqual(
      lines([/^expand: takes only all, /]),
    );
    expect(await refusalOf(client.listCharges(PAYMENT_ID, { currency: 'XXX' }))).toEqual(
      lines([/^currency: is not an ISO 4217/]),
    );
  });

  test('a risk analysis with any other detail than the four, under another name, or with half a birthday', async () => {
    const request = {
      merchant: { mcc: '54' },
      providerSpecificData: {
        payu: {},
        payu_risk: { additionalDetails: { payerBirthday: '1990-02-28', productDescExtra4: 'x' } },
      },
    } as RiskAnalysisRequest;
    expect(await refusalOf(clientOf(service.url).createRiskAnalysis(PAYMENT_ID, request))).toEqual(
      lines([
        'merchant.mcc: is not a merchant category code of 4 digits',
        'providerSpecificData.payu: is not the identifier of a risk provider, which ends in _risk',
        'providerSpecificData.payu_risk.additionalDetails.payerBirthday: is not a date in the form yyyy/mm/dd',
        'providerSpecificData.payu_risk.additionalDetails.productDescExtra4: unknown field',
      ]),
    );
  });

  test('a token without a public key, and card data that no card has, of which nothing is shown', async () => {
    const request = { tokenType: 'credit_card', holderName: 'A', cardNumber: '4111 1111', creditCardCvv: '98765' };
    const error = await failureOf(clientOf(service.url).createToken(request as TokenRequest));
    expect(error.faults).toEqual(
      lines([
        'unit.publicKey: is missing, and createToken is sent with it',
        'cardNumber: is not a card number of 8 or 12 to 19 digits',
        'creditCardCvv: is not a CVV of 3 or 4 digits',
      ]),
    );
    expect(JSON.stringify([error, error.message, error.stack])).not.toMatch(/4111|98765/);
    expect(await refusalOf(clientOf(service.url).createToken({ tokenType: 'x' } as unknown as TokenRequest))).toEqual(
      lines([/^unit.publicKey: /, 'tokenType: is neither "credit_card" nor "card_cvv_code"']),
    );
  });

  test.each(['', 'x'.repeat(256), '\ud800'])('the customer reference %j in a query', async (reference) => {
    expect(await refusalOf(clientOf(service.url).findCustomer(reference))).toEqual(
      lines(['customerReference: is not a text of 1 to 255 characters']),
    );
  });

  test('a customer reference can not add to the query or leave it', async () => {
    await failureOf(clientOf(service.url).findCustomer('a&b=1#c/../?é'));
    expect(service.requests.at(-1)?.url).toBe('/customers?customer_reference=a%26b%3D1%23c%2F..%2F%3F%C3%A9');
  });

  test('a void or a capture with fields it does not have', async () => {
    const client = clientOf(service.url);
    const request = { amount: 5, reconciliationId: 'x' };
    expect(await refusalOf(client.createVoid(PAYMENT_ID, request as object))).toEqual(
      lines(['amount: unknown field', 'reconciliationId: unknown field']),
    );
    expect(await refusalOf(client.createCapture(PAYMENT_ID, { captureId: PAYMENT_ID } as object))).toEqual(
      lines(['captureId: unknown field']),
    );
  });

  test('no refusal shows a card number, a CVV or a key', async () => {
    const request = {
      paymentMethod: {
        type: 'untokenized',
        sourceType: 'x',
        cardNumber: '4111-1111-1111-1111',
        creditCardCvv: '98765',
      },
    } as unknown as ChargeRequest;
    const error = await failureOf(clientOf(service.url).createCharge(PAYMENT_ID, request));
    expect(error.faults).toHaveLength(3);
    expect(JSON.stringify([error, error.message, error.stack])).not.toMatch(/4111|98765/);
  });
});

describe('the settings of a client', () => {
  const good: ProviderClientOptions = {
    baseUrl: 'https://api.example.com/v1/',
    environment: 'live',
    unit: { appId: 'app', privateKey: PRIVATE_KEY, apiVersion: '1.3.0' },
  };

  test('every fault is listed at once, and no key is shown', () => {
    const bad = {
      baseUrl: 'ftp://user:hunter2@example.com/?q=1',
      environment: 'prod',
      unit: { appId: '', privateKey: 'secret value\n', apiVersion: '2.0.0' },
      connectTimeoutMs: -1,
      timeoutMs: 1.5,
      maxBodyBytes: 2 ** 40,
    } as unknown as ProviderClientOptions;
    let message = '';
    try {
      new ProviderClient(bad);
    } catch (error) {
      message = String(error);
    }
    for (const name of [
      'baseUrl: is neither http',
      'baseUrl: must hold no user',
      'baseUrl: must hold no query',
      'environment:',
      'unit.appId:',
      'unit.privateKey:',
      'unit.apiVersion:',
      'connectTimeoutMs:',
      'timeoutMs:',
      'maxBodyBytes:',
    ]) {
      expect(message).toContain(name);
    }
    expect(message).not.toMatch(/secret value|hunter2/);
  });

  test('a live private key never travels in the clear, except to this machine', async () => {
    expect(() => new ProviderClient({ ...good, baseUrl: 'http://api.example.com' })).toThrow(/must be https/);
    for (const baseUrl of [
      'http://127.0.0.1:4010',
      'http://localhost:1',
      'http://[::1]:1',
      'https://api.example.com',
    ]) {
      await new ProviderClient({ ...good, baseUrl }).close();
    }
    expect(() => new ProviderClient({ ...good, baseUrl: 'http://127.0.0.1.example.com' })).toThrow(/must be https/);
  });
});

test('the table of operations marks exactly the POSTs as keyed, and what may be repeated without a key', () => {
  for (const [name, row] of Object.entries(OPERATIONS)) {
    expect(row.keyed).toBe(row.method === 'POST');
    expect(row.idempotent).toBe(row.method !== 'POST' || name === 'storePaymentMethod');
    expect(row.path).toMatch(/^\/(payments|customers|tokens|supported-payment-methods)/);
  }
});
