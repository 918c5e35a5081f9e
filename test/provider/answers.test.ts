import { afterEach, describe, expect, test } from 'vitest';
import type { ApiVersion } from '../../src/provider/index.js';
import {
  type Answer,
  CHARGE,
  CHARGE_BODY,
  CHARGE_ID,
  clientOf,
  failureOf,
  fakeService,
  type FakeService,
  json,
  PAYMENT_BODY,
  PAYMENT_ID,
} from './support/fake-service.js';

const open: FakeService[] = [];
async function clientFor(answer: Answer, apiVersion: ApiVersion = '1.3.0') {
  const service = await fakeService(answer);
  open.push(service);
  return clientOf(service.url, { apiVersion });
}
afterEach(() => Promise.all(open.splice(0).map((service) => service.close())));

const FULL_CHARGE = {
  id: CHARGE_ID,
  created: '1600000000000',
  reconciliation_id: 'order-1',
  provider_specific_data: {},
  payment_method: { type: 'tokenized', last_4_digits: '1111', credit_card_cvv: '737', card_number: '4111' },
  result: {
    status: 'Failed',
    category: 'payment_method_declined',
    sub_category: 'insufficient_funds',
    description: 'No.',
  },
  provider_data: {
    provider_name: 'MockProcessor',
    response_code: '102',
    description: 'DECLINED.',
    raw_response: '{"OID":"x"}',
    authorization_code: 'A1',
    external_id: 'e-1',
    network_transaction_id: 'n-1',
    transaction_cost: {},
    documents: [{ content: 'JVBERi0=' }, { href: 'https://bank.example/voucher.pdf', descriptor: 'voucher' }],
  },
  amount: 1095,
  currency: 'USD',
  redirection: { id: 'r', url: 'https://bank.example/3ds' },
  additional_details: { holdfast_key: 'k', odd: 5 },
  decision_engine_execution: { id: 1 },
};

describe('an answer that fits', () => {
  test('a full transaction is read in camelCase, with status, request id and nothing unknown', async () => {
    const client = await clientFor(json(201, FULL_CHARGE));
    expect(await client.createCharge(PAYMENT_ID, CHARGE)).toEqual({
      httpStatus: 201,
      requestId: 'req-1',
      data: {
        id: CHARGE_ID,
        status: 'Failed',
        category: 'payment_method_declined',
        subCategory: 'insufficient_funds',
        description: 'No.',
        amount: 1095,
        currency: 'USD',
        reconciliationId: 'order-1',
        additionalDetails: { holdfast_key: 'k' },
        providerName: 'MockProcessor',
        responseCode: '102',
        providerDescription: 'DECLINED.',
        authorizationCode: 'A1',
        externalId: 'e-1',
        networkTransactionId: 'n-1',
        paymentMethod: { type: 'tokenized', last4Digits: '1111' },
        documents: [{ content: 'JVBERi0=' }, { href: 'https://bank.example/voucher.pdf', descriptor: 'voucher' }],
        redirection: { id: 'r', url: 'https://bank.example/3ds' },
        created: '1600000000000',
      },
    });
  });

  test('a transaction of id and status alone is enough, without a request id too', async () => {
    const client = await clientFor((response) =>
      response.writeHead(200).end('{"id":"x","result":{"status":"Pending"}}'),
    );
    expect(await client.createCharge(PAYMENT_ID, CHARGE)).toEqual({
      httpStatus: 200,
      data: { id: 'x', status: 'Pending' },
    });
  });

  test('nulls, empty strings and odd types in fields for people count as absent', async () => {
    const odd = {
      id: 'x',
      result: { status: 'Succeed', category: null, sub_category: '', description: 7 },
      currency: '',
      amount: null,
      reconciliation_id: null,
      provider_data: 'none',
      redirection: { url: '' },
      additional_details: ['x'],
      created: 1600000000000,
    };
    const client = await clientFor(json(201, odd));
    const { data } = await client.createCharge(PAYMENT_ID, CHARGE);
    expect(data).toEqual({ id: 'x', status: 'Succeed', created: '1600000000000' });
  });

  test('a full payment is read, related transactions whole or as links', async () => {
    const body = {
      ...PAYMENT_BODY,
      created: '1',
      modified: '2',
      is_chargedback: false,
      customer: { href: `https://x.example/customers/${CHARGE_ID}` },
      statement_soft_descriptor: 'SHOP',
      additional_details: { holdfast_workflow_id: 'payment-1' },
      possible_next_actions: [{ action: 'Charge', href: 'https://x.example/charges' }, { action: 'Void' }],
      related_resources: {
        charges: [FULL_CHARGE, { id: 'l', href: 'https://x.example/1' }],
        refunds: [],
        captures: [{ id: 'y' }],
        voids: 'odd',
        redirections: [{ id: 'z' }],
      },
    };
    const client = await clientFor(json(200, body));
    const { data } = await client.getPayment(PAYMENT_ID, { expand: ['all'] });
    expect(data).toEqual({
      id: PAYMENT_ID,
      amount: 1095,
      currency: 'USD',
      status: 'Initialized',
      created: '1',
      modified: '2',
      isChargedback: false,
      customerId: CHARGE_ID,
      statementSoftDescriptor: 'SHOP',
      additionalDetails: { holdfast_workflow_id: 'payment-1' },
      possibleNextActions: [{ action: 'Charge', href: 'https://x.example/charges' }, { action: 'Void' }],
      relatedResources: {
        charges: [expect.objectContaining({ id: CHARGE_ID, status: 'Failed' }), { href: 'https://x.example/1' }],
        refunds: [],
      },
    });
  });

  test('at 1.0.0 an amount of a transaction is read in the currency that the caller names', async () => {
    const client = await clientFor(json(200, `[{"id":"x","result":{"status":"Succeed"},"amount":10.95}]`), '1.0.0');
    expect((await client.listCharges(PAYMENT_ID)).data).toEqual([{ id: 'x', status: 'Succeed' }]);
    expect((await client.listCharges(PAYMENT_ID, { currency: 'KWD' })).data).toEqual([
      { id: 'x', status: 'Succeed', amount: 10950 },
    ]);
  });

  test('interim answers before the real one are passed over', async () => {
    const client = await clientFor((response, request) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      json(201, CHARGE_BODY)(response, request);
    });
    expect((await client.createCharge(PAYMENT_ID, CHARGE)).httpStatus).toBe(201);
  });
});

describe('a 2xx that does not fit is unexpected, names each fault and keeps the request id', () => {
  const charge = (fields: object): string => JSON.stringify({ ...CHARGE_BODY, ...fields });
  test.each([
    ['no id', charge({ id: undefined }), 'id: '],
    ['an empty id', charge({ id: '' }), 'id: '],
    ['a numeric id', charge({ id: 5 }), 'id: '],
    ['no result', charge({ result: undefined }), 'result: '],
    ['a status that is no text', charge({ result: { status: 1 } }), 'result.status: '],
    ['a category that is no text', charge({ result: { status: 'Failed', category: 5 } }), 'result.category: '],
    ['a fraction as amount', charge({ amount: 10.95 }), 'amount: '],
    ['an amount in quotes', charge({ amount: '1095' }), 'amount: '],
    ['a negative amount', charge({ amount: -1 }), 'amount: '],
    ['an amount that is no safe integer', charge({ amount: 2 ** 53 }), 'amount: '],
    ['a currency that is no text', charge({ currency: 840 }), 'currency: '],
    ['a reconciliation id that is no text', charge({ reconciliation_id: 5 }), 'reconciliation_id: '],
    ['a list', `[${charge({})}]`, 'body: '],
    ['null', 'null', 'body: '],
    ['an HTML page', '<html>502</html>', 'body: is not JSON'],
    ['half a JSON body', charge({}).slice(0, 40), 'body: is not JSON'],
    ['nothing', '', 'body: is not JSON'],
  ])('%s', async (_name, body, fault) => {
    const client = await clientFor(json(201, body));
    const error = await failureOf(client.createCharge(PAYMENT_ID, CHARGE));
    expect(error).toMatchObject({ kind: 'unexpected', mayHaveLeft: true, httpStatus: 201, requestId: 'req-1' });
    expect(error.faults).toHaveLength(1);
    expect(error.faults?.[0]).toContain(fault);
    expect(error.message).toContain(fault);
  });

  test.each(['Success', 'succeed', 'Settling', ''])(
    'but "%s" as the status of a transaction is never final, and blinds no list',
    async (status) => {
      const list = JSON.stringify([{ id: 'x', result: { status } }, CHARGE_BODY]);
      const { data } = await (await clientFor(json(200, list))).listCharges(PAYMENT_ID);
      expect(data).toEqual([
        { id: 'x', status: 'Pending', ...(status !== '' && { unknownStatus: status }) },
        { id: CHARGE_ID, status: 'Succeed', amount: 1095 },
      ]);
    },
  );

  test('all faults of one body at once', async () => {
    const client = await clientFor(json(200, { id: PAYMENT_ID, amount: 1.5, currency: '', status: 1 }));
    const error = await failureOf(client.getPayment(PAYMENT_ID));
    expect(error.faults?.map((fault) => fault.split(':')[0])).toEqual(['amount', 'currency', 'status']);
    expect(error.excerpt).toBe('{id: string, amount: number, currency: string, status: number}');
  });

  test('but a payment without a status is one: the interface names none', async () => {
    const client = await clientFor(json(200, { id: PAYMENT_ID, amount: 150, currency: 'USD' }));
    expect((await client.getPayment(PAYMENT_ID)).data).toEqual({ id: PAYMENT_ID, amount: 150, currency: 'USD' });
  });

  test('one bad entry makes the whole list unexpected: a shorter list would hide a transaction', async () => {
    const client = await clientFor(json(200, [CHARGE_BODY, { id: 'x' }]));
    const error = await failureOf(client.listCharges(PAYMENT_ID));
    expect(error).toMatchObject({ kind: 'unexpected', faults: [expect.stringMatching(/^1\.result: /)] });
  });

  test('an answer about another resource than was asked for', async () => {
    const other = await clientFor(json(200, PAYMENT_BODY));
    expect((await other.getPayment(PAYMENT_ID.toUpperCase())).data.id).toBe(PAYMENT_ID);
    const error = await failureOf(other.getPayment(CHARGE_ID));
    expect(error).toMatchObject({ kind: 'unexpected', faults: ['id: is not the one that was asked for'] });
    const charge = await clientFor(json(200, CHARGE_BODY));
    expect((await failureOf(charge.getCharge(PAYMENT_ID, PAYMENT_ID))).kind).toBe('unexpected');
  });

  test('an amount of 1.0.0 with a fraction of a minor unit, or in an unknown currency', async () => {
    const fraction = await clientFor(json(200, `{"id":"p","status":"s","amount":10.955,"currency":"USD"}`), '1.0.0');
    expect((await failureOf(fraction.createPayment({ amount: 1, currency: 'USD' }))).faults).toEqual([
      'amount: 10.955 holds a fraction of the minor unit of USD',
    ]);
    const unknown = await clientFor(json(200, `{"id":"p","status":"s","amount":10,"currency":"XXX"}`), '1.0.0');
    expect((await failureOf(unknown.createPayment({ amount: 1, currency: 'USD' }))).kind).toBe('unexpected');
  });

  test('a body nested a hundred thousand levels deep', async () => {
    for (const version of ['1.0.0', '1.3.0'] as const) {
      const client = await clientFor(json(200, '['.repeat(100_000) + ']'.repeat(100_000)), version);
      expect((await failureOf(client.listCharges(PAYMENT_ID))).kind).toBe('unexpected');
    }
  });
});

describe('an answer outside 2xx', () => {
  const body = {
    category: 'api_request_error',
    description: 'There was conflict with payment resource current state.',
    more_info: 'Please check the current state of the payment.',
  };

  test.each([400, 401, 403, 404, 405, 409, 422, 429, 500, 502, 503, 504, 302])(
    'status %d keeps status, category, description, more_info and request id',
    async (status) => {
      const client = await clientFor(json(status, body, { 'x-svc-request-id': 'req-77' }));
      const error = await failureOf(client.createCharge(PAYMENT_ID, CHARGE));
      expect(error).toMatchObject({
        kind: 'http',
        operation: 'createCharge',
        mayHaveLeft: true,
        httpStatus: status,
        requestId: 'req-77',
        category: body.category,
        description: body.description,
        moreInfo: body.more_info,
      });
      for (const part of [String(status), body.category, body.description, body.more_info, 'req-77']) {
        expect(error.message).toContain(part);
      }
    },
  );

  test.each(['', '<html>Bad gateway</html>', '[]', 'null', '"x"', '{"category": 5, "description": null}', '{"categ'])(
    'the body %j is no hindrance',
    async (text) => {
      const client = await clientFor(json(502, text));
      const error = await failureOf(client.getPayment(PAYMENT_ID));
      expect(error).toMatchObject({ kind: 'http', httpStatus: 502, requestId: 'req-1', mayHaveLeft: true });
      expect(error.category).toBeUndefined();
      expect(error.description).toBeUndefined();
    },
  );

  // Dates are shown in retry-after.test.ts.
  test('Retry-After is given in ms', async () => {
    const seconds = await clientFor(json(429, {}, { 'retry-after': '3' }));
    expect((await failureOf(seconds.getPayment(PAYMENT_ID))).retryAfterMs).toBe(3000);
    expect((await failureOf((await clientFor(json(503, {}))).getPayment(PAYMENT_ID))).retryAfterMs).toBeUndefined();
  });
});
