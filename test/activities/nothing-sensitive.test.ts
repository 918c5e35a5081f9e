import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { holdsCardData } from '../../src/contract/card-data.js';
import { CHARGE_ID, type FakeService, fakeService, json, PAYMENT_ID, TOKEN } from '../provider/support/fake-service.js';
import { Harness, paymentCall, RUN_ID, Service } from './support.js';

/** Random, so that any digits may stand in one. */
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

const CARD = '4111111111111111';
const GROUPED = '4111 1111 1111 1111';
const ENCRYPTED_CVV = 'dGhpcyBpcyBhbiBlbmNyeXB0ZWQgQ1ZW';

let stub: FakeService;
let harness: Harness;
afterEach(async () => {
  await harness.close();
  await stub.close();
});

async function answering(...answer: Parameters<typeof json>): Promise<void> {
  stub = await fakeService(json(...answer));
  harness = new Harness({ baseUrl: stub.url });
}

const CALL = {
  businessUnit: 'default',
  key: 'payment-order-1001:createCharge:1',
  postUntil: Date.now() + 3_600_000,
  mayHaveLeft: false,
  originalRunId: RUN_ID,
  paymentId: PAYMENT_ID,
  currency: 'USD',
  reconciliationId: 'order-1001',
  charge: { paymentMethod: { type: 'tokenized' as const, token: TOKEN, encryptedCvv: ENCRYPTED_CVV } },
  additionalDetails: {},
};

/** A charge as a careless service answers it, with card data wherever it may stand. */
function careless(description: string) {
  return {
    id: CHARGE_ID,
    amount: 1095,
    result: { status: 'Failed', category: 'payment_method_declined', description },
    provider_data: {
      provider_name: 'MockProcessor',
      response_code: '102',
      description: `card ${CARD}`,
      raw_response: JSON.stringify({ PAN: CARD, CVV: '123' }),
    },
    provider_specific_data: { pan: CARD },
    payment_method: { type: 'tokenized', token: TOKEN, card_number: CARD, credit_card_cvv: '123' },
    additional_details: { note: CARD },
  };
}

describe('what an activity hands to its workflow', () => {
  test.each([`declined: ${CARD}`, `declined: ${GROUPED}, expired`, `declined: 4111-1111-1111-1111`])(
    'holds no card number, though the service says %p',
    async (description) => {
      await answering(201, careless(description));
      const record = await harness.run('createCharge', CALL);
      expect(record).toMatchObject({ status: 'Failed', category: 'payment_method_declined', responseCode: '102' });
      expect(record).toMatchObject({ omitted: ['description'] });
      expect(record).not.toHaveProperty('description');
      expect(holdsCardData(JSON.stringify(record) ?? '')).toBe(false);
      expect(JSON.stringify(record)).not.toMatch(/4111|raw_response|rawResponse|PAN|CVV|"123"/);
    },
  );

  test('holds the fields that flows rely on, and no others', async () => {
    await answering(201, careless('declined'));
    const record = await harness.run('createCharge', CALL);
    expect(Object.keys(record).toSorted()).toEqual([
      'amount',
      'category',
      'description',
      'details',
      'provider',
      'requestId',
      'responseCode',
      'status',
      'transactionId',
    ]);
  });

  test('holds no card number in lists and single reads either', async () => {
    await answering(200, [careless(`declined: ${CARD}`)]);
    const records = await harness.run('listCharges', CALL);
    expect(records).toHaveLength(1);
    expect(holdsCardData(JSON.stringify(records) ?? '')).toBe(false);
    expect(JSON.stringify(records).replaceAll(UUID, '')).not.toContain('4111');
  });

  test('holds nothing of a payment but id, sum, status and request id', async () => {
    await answering(201, {
      id: PAYMENT_ID,
      amount: 1095,
      currency: 'USD',
      status: 'Initialized',
      statement_soft_descriptor: CARD,
      additional_details: { card: CARD },
      payment_method: { card_number: CARD },
    });
    expect(await harness.run('createPayment', paymentCall())).toEqual({
      paymentId: PAYMENT_ID,
      amount: 1095,
      currency: 'USD',
      status: 'Initialized',
      requestId: 'req-1',
    });
  });

  test.each([400, 401, 404, 409, 429, 500, 503])(
    'fails with %i without repeating card data, CVV or key',
    async (status) => {
      await answering(status, {
        category: 'api_request_error',
        description: `card ${CARD} was refused`,
        more_info: `card ${GROUPED}, cvv ${ENCRYPTED_CVV}, key sandbox-private-key`,
      });
      const failed = await harness.fail('createCharge', CALL);
      const text = JSON.stringify(failed);
      expect(text).not.toMatch(/4111|sandbox-private-key/);
      expect(text).not.toContain(ENCRYPTED_CVV);
      expect(failed.details).toMatchObject({ httpStatus: status, category: 'api_request_error', requestId: 'req-1' });
    },
  );

  test('fails on an answer that fits no schema without repeating any of it', async () => {
    await answering(201, { id: CARD, pan: CARD, result: { status: [CARD] } });
    const failed = await harness.fail('createCharge', CALL);
    expect(failed.type).toBe('UnexpectedResponse');
    expect(JSON.stringify(failed).replaceAll(UUID, '')).not.toContain('4111');
  });
});

describe('the real answer of a charge', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start();
  });
  afterAll(() => service.close());

  test('carries a raw response of the provider, which stops at the activity', async () => {
    await answering(200, {});
    const real = new Harness({ baseUrl: service.sandbox.url });
    const charge = await service.readyCharge();
    const record = await real.run('createCharge', charge.call);
    const wire = await service.sandbox.api.get(`/payments/${charge.paymentId}/charges/${record.transactionId}`);
    expect(wire.text).toContain('raw_response');
    expect(wire.text).toContain('RETURN_CODE');
    expect(JSON.stringify(record)).not.toMatch(/raw_?response|RETURN_CODE|bin_number|holder_name|last_4_digits/i);
    await real.close();
  });
});
