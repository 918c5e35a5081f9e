import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { riskAnalysisRequestSchema } from '../../src/provider/resources/risk-analyses.js';
import {
  CHARGE,
  CHARGE_BODY,
  clientOf,
  fakeService,
  type FakeService,
  json,
  PAYMENT,
  PAYMENT_ID,
} from './support/fake-service.js';
import { lines, refusals } from './support/refusals.js';

let service: FakeService;
let refusalOf: ReturnType<typeof refusals>;
beforeAll(async () => {
  service = await fakeService(json(201, CHARGE_BODY));
  refusalOf = refusals(service);
});
afterAll(() => service.close());

describe('what the API can not accept at the chosen version is refused before sending', () => {
  test('what the chosen version does not know', async () => {
    const flat = { ...CHARGE, threeDSecureAttributes: { cavv: 'c', eciFlag: '05' } };
    const nested = { ...CHARGE, threeDSecureAttributes: { external: { cavv: 'c' } } };
    expect(await refusalOf(clientOf(service.url).createCharge(PAYMENT_ID, flat))).toEqual(
      lines(['threeDSecureAttributes.cavv: unknown field', 'threeDSecureAttributes.eciFlag: unknown field']),
    );
    expect(await refusalOf(clientOf(service.url, { apiVersion: '1.2.0' }).createCharge(PAYMENT_ID, nested))).toEqual(
      lines(['threeDSecureAttributes.external: unknown field']),
    );
    const oldest = clientOf(service.url, { apiVersion: '1.0.0' });
    const card = { paymentMethod: { type: 'untokenized', sourceType: 'credit_card' } } as const;
    expect(await refusalOf(oldest.createCharge(PAYMENT_ID, card))).toEqual(
      lines(['paymentMethod.type: is not "tokenized", the only type that API version 1.0.0 takes']),
    );
    expect(
      await refusalOf(oldest.createCharge(PAYMENT_ID, { ...CHARGE, installments: { firstPaymentAmount: 5 } })),
    ).toEqual(lines(['installments.firstPaymentAmount: needs the currency option at API version 1.0.0']));
  });

  test.each(['1.0.0', '1.1.0'] as const)(
    'a card to be stored at %s, together with every other fault',
    async (apiVersion) => {
      const client = clientOf(service.url, { apiVersion });
      expect(await refusalOf(client.storePaymentMethod('a/b', '../..', { idempotencyKey: 'a b' }))).toEqual(
        lines([
          `unit.apiVersion: ${apiVersion} has no storePaymentMethod, which came with API version 1.2.0`,
          'customerId: is not a customer id: it holds one of / \\ ? # %',
          'token: is not a UUID',
          /^idempotencyKey: /,
        ]),
      );
    },
  );

  test.each(['1.0.0', '1.1.0', '1.2.0', '1.3.0'] as const)(
    'a fraction of a minor unit at %s, in every sum of a payment, a capture and a refund',
    async (apiVersion) => {
      const client = clientOf(service.url, { apiVersion });
      const lineItems = [{ unitPrice: 1 }, { unitPrice: 0.5 }];
      const payment = { ...PAYMENT, amount: 10.95, order: { taxAmount: 0.1, subTotal: 1.5, lineItems } };
      expect(await refusalOf(client.createPayment(payment))).toEqual(
        lines([
          /^amount: 10.95 is not an amount/,
          /^order.taxAmount: is not a sum/,
          /^order.subTotal: is not a sum/,
          /^order.lineItems.1.unitPrice: 0.5 is not a price/,
        ]),
      );
      const capture = { amount: 0.5, level23: { dutyAmount: 0.5, lineItems: [{ discountAmount: 0.5 }] } };
      expect(await refusalOf(client.createCapture(PAYMENT_ID, capture, { currency: 'USD' }))).toEqual(
        lines([/^amount: 0.5 is/, /^level23.dutyAmount: /, /^level23.lineItems.0.discountAmount: /]),
      );
      expect(await refusalOf(client.createRefund(PAYMENT_ID, { amount: 1.5 }, { currency: 'USD' }))).toEqual(
        lines([/^amount: 1.5 is/]),
      );
    },
  );

  test('a sum at 1.0.0 whose currency nobody names', async () => {
    const oldest = clientOf(service.url, { apiVersion: '1.0.0' });
    const capture = { amount: 5, level23: { lineItems: [{ unitPrice: 5 }] } };
    expect(await refusalOf(oldest.createCapture(PAYMENT_ID, capture))).toEqual(
      lines([
        'amount: needs the currency option at API version 1.0.0',
        'level23.lineItems.0.unitPrice: needs the currency option at API version 1.0.0',
      ]),
    );
  });

  test('a country of 2 letters since 1.1.0, and one that is none at 1.0.0', async () => {
    const customer = (country: string) => ({ customerReference: 'c', shippingAddress: { country } });
    const oldest = clientOf(service.url, { apiVersion: '1.0.0' });
    expect(await refusalOf(oldest.createCustomer(customer('USAX')))).toEqual(
      lines(['shippingAddress.country: is not a country code of 2 or 3 capital letters']),
    );
    expect(await refusalOf(oldest.createCustomer(customer('QQQ')))).toEqual(
      lines(['shippingAddress.country: is no country of ISO 3166-1, so it has no code of 2 letters']),
    );
    for (const apiVersion of ['1.1.0', '1.2.0', '1.3.0'] as const) {
      expect(await refusalOf(clientOf(service.url, { apiVersion }).createCustomer(customer('US')))).toEqual(
        lines(['shippingAddress.country: is not a country code of 3 capital letters']),
      );
    }
  });
});

test('both spellings of a card without a token are taken for a risk analysis', () => {
  for (const sourceType of ['credit_card', 'credit card'] as const) {
    const request = { transactionType: 'charge', paymentMethod: { type: 'untokenized', sourceType } } as const;
    expect(riskAnalysisRequestSchema('1.3.0').parse(request)).toEqual(request);
  }
});
