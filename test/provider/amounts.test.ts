import { afterAll, beforeAll, expect, test } from 'vitest';
import fc from 'fast-check';
import { API_VERSIONS, type ApiVersion, type ProviderClient } from '../../src/provider/index.js';
import { CHARGE_ID, clientOf, fakeService, type FakeService, json, PAYMENT_ID, TOKEN } from './support/fake-service.js';

let service: FakeService;
let clients: Map<ApiVersion, ProviderClient>;

/** Answers with the very digits that were sent: `JSON.parse` here would round what it is to check. */
beforeAll(async () => {
  service = await fakeService((response, request) => {
    const fields = request.body.replace(/^\{|\}$/g, '');
    const rest = `"id":"${CHARGE_ID}","status":"Initialized","result":{"status":"Succeed"}`;
    json(201, `{${fields},${rest}}`)(response, request);
  });
  clients = new Map(API_VERSIONS.map((apiVersion) => [apiVersion, clientOf(service.url, { apiVersion })]));
});
afterAll(async () => {
  await Promise.all([...clients.values()].map((client) => client.close()));
  await service.close();
});

const amounts = fc.oneof(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), fc.integer({ min: 1, max: 99_999 }));
/** 0, 2, 3 and 4 decimals. */
const currencies = fc.constantFrom('JPY', 'USD', 'KWD', 'UYW');
const versions = fc.constantFrom(...API_VERSIONS);

test('any amount in any currency comes back unchanged over the wire of every version, in every call with a sum', async () => {
  await fc.assert(
    fc.asyncProperty(amounts, amounts, currencies, versions, async (amount, unitPrice, currency, version) => {
      const client = clients.get(version)!;
      const order = { taxAmount: unitPrice, lineItems: [{ unitPrice }] };
      const payment = await client.createPayment({ amount, currency, order });
      expect(payment.data).toMatchObject({ amount, currency, order });
      const capture = await client.createCapture(PAYMENT_ID, { amount }, { currency });
      const refund = await client.createRefund(PAYMENT_ID, { amount }, { currency });
      expect([capture.data.amount, refund.data.amount]).toEqual([amount, amount]);
    }),
    { numRuns: process.env['HOLDFAST_FULL'] === '1' ? 2000 : 150 },
  );
});

test('the sums that a version sends are the ones its documentation asks for', async () => {
  for (const [currency, text] of [
    ['JPY', '1095'],
    ['USD', '10.95'],
    ['KWD', '1.095'],
  ] as const) {
    for (const version of API_VERSIONS) {
      const sum = version === '1.0.0' ? text : '1095';
      const request = {
        paymentMethod: { type: 'tokenized', token: TOKEN },
        installments: { firstPaymentAmount: 1095 },
      };
      await clients.get(version)!.createCredit(PAYMENT_ID, request as never, { currency });
      expect(service.requests.at(-1)!.body).toContain(`{"first_payment_amount":${sum}}`);
      await clients.get(version)!.createRefund(PAYMENT_ID, { amount: 1095 }, { currency });
      expect(service.requests.at(-1)!.body).toBe(`{"amount":${sum}}`);
    }
  }
});
