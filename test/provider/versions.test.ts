import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { alpha2Of, alpha3Of } from '../../src/provider/countries.js';
import { API_VERSIONS, type ApiVersion } from '../../src/provider/index.js';
import { paymentRequestSchema } from '../../src/provider/resources/payments.js';
import { riskAnalysisRequestSchema } from '../../src/provider/resources/risk-analyses.js';
import { chargeRequestSchema } from '../../src/provider/resources/transactions.js';
import { VersionFault, decodeBody, encodeBody, toWireNames } from '../../src/provider/wire.js';
import { TOKEN } from './support/fake-service.js';

function wirePayment(request: unknown, version: ApiVersion): string {
  return encodeBody(toWireNames(paymentRequestSchema(version).parse(request)) as Record<string, unknown>, version);
}
function wireCharge(request: unknown, version: ApiVersion, currency?: string): string {
  const checked = chargeRequestSchema(version).parse(request);
  return encodeBody(toWireNames(checked) as Record<string, unknown>, version, currency);
}

const PAYMENT = {
  amount: 1095,
  currency: 'USD',
  additionalDetails: { lineItems: '7.5', amount: '3' },
  order: { id: 'o-1', taxAmount: 95, taxPercentage: 9.5, lineItems: [{ name: 'Tea', quantity: 2, unitPrice: 500 }] },
};

describe('requests on the wire of each API version', () => {
  test.each([
    [
      '1.0.0',
      '{"amount":10.95,"currency":"USD","additional_details":{"lineItems":"7.5","amount":"3"},"order":{"id":"o-1",' +
        '"tax_amount":0.95,"tax_percentage":9.5,"line_items":[{"name":"Tea","quantity":2,"unit_price":5.00}]}}',
    ],
    ...(['1.1.0', '1.2.0', '1.3.0'] as const).map((version): [ApiVersion, string] => [
      version,
      '{"amount":1095,"currency":"USD","additional_details":{"lineItems":"7.5","amount":"3"},"order":{"id":"o-1",' +
        '"tax_amount":95,"tax_percentage":9.5,"line_items":[{"name":"Tea","quantity":2,"unit_price":500}]}}',
    ]),
  ] as [ApiVersion, string][])('a payment at %s', (version, wire) => {
    expect(wirePayment(PAYMENT, version)).toBe(wire);
  });

  test.each([
    [1095, 'JPY', '{"amount":1095,"currency":"JPY"}'],
    [1095, 'KWD', '{"amount":1.095,"currency":"KWD"}'],
    [9007199254740991, 'USD', '{"amount":90071992547409.91,"currency":"USD"}'],
  ])('%d minor units of %s are exact at 1.0.0, where a float would not be', (amount, currency, wire) => {
    expect(wirePayment({ amount, currency }, '1.0.0')).toBe(wire);
  });

  const charge = {
    paymentMethod: { type: 'tokenized', token: TOKEN, creditCardCvv: '123' },
    reconciliationId: 'order-1',
    additionalDetails: { holdfast_key: 'k' },
  };
  test.each([
    [
      '1.0.0',
      `{"payment_method_token":"${TOKEN}","credit_card_cvv":"123","reconciliation_id":"order-1",` +
        '"additional_details":{"holdfast_key":"k"}}',
    ],
    ...(['1.1.0', '1.2.0', '1.3.0'] as const).map((version): [ApiVersion, string] => [
      version,
      `{"payment_method":{"type":"tokenized","token":"${TOKEN}","credit_card_cvv":"123"},` +
        '"reconciliation_id":"order-1","additional_details":{"holdfast_key":"k"}}',
    ]),
  ] as [ApiVersion, string][])('a charge with token and CVV at %s', (version, wire) => {
    expect(wireCharge(charge, version)).toBe(wire);
  });

  test('a charge without CVV at 1.0.0 has no CVV field', () => {
    const request = { paymentMethod: { type: 'tokenized', token: TOKEN } };
    expect(wireCharge(request, '1.0.0')).toBe(`{"payment_method_token":"${TOKEN}"}`);
  });

  test('every field of a charge has its wire name at 1.3.0', () => {
    const request = {
      paymentMethod: {
        type: 'untokenized',
        sourceType: 'credit_card',
        vendor: 'VISA',
        holderName: 'A B',
        cardNumber: '4111111111111111',
        expirationDate: '10/2030',
        cardIdentity: { idType: 'x' },
        creditCardCvv: '123',
        additionalDetails: { someKey: 'v' },
      },
      reconciliationId: 'order-1',
      cofTransactionIndicators: { cardEntryMode: 'consent_transaction', cofConsentTransactionId: 'c-1' },
      threeDSecureAttributes: {
        external: { threeDSecureVersion: '2.1', threeDSecureAuthenticationStatus: 'Y', dsXid: 'd', eciFlag: '05' },
        internal: { deviceChannel: '02', addressMatch: true, browserHeader: { javaEnabled: false, timeZone: '-60' } },
        scaExemptions: { exemptionAction: true, traScore: '1' },
      },
      installments: { numberOfInstallments: 3, firstPaymentAmount: 400, remainingPaymentsAmount: 300 },
      merchantSiteUrl: 'https://shop.example/return?order=1',
      channelType: 'web_order',
      providerSpecificData: { some_provider: { additionalDetails: { deepKey: 1.5 } } },
    };
    expect(JSON.parse(wireCharge(request, '1.3.0'))).toEqual({
      payment_method: {
        type: 'untokenized',
        source_type: 'credit_card',
        vendor: 'VISA',
        holder_name: 'A B',
        card_number: '4111111111111111',
        expiration_date: '10/2030',
        card_identity: { idType: 'x' },
        credit_card_cvv: '123',
        additional_details: { someKey: 'v' },
      },
      reconciliation_id: 'order-1',
      cof_transaction_indicators: { card_entry_mode: 'consent_transaction', cof_consent_transaction_id: 'c-1' },
      three_d_secure_attributes: {
        external: {
          three_d_secure_version: '2.1',
          three_d_secure_authentication_status: 'Y',
          ds_xid: 'd',
          eci_flag: '05',
        },
        internal: {
          device_channel: '02',
          address_match: true,
          browser_header: { java_enabled: false, time_zone: '-60' },
        },
        sca_exemptions: { exemption_action: true, tra_score: '1' },
      },
      installments: { number_of_installments: 3, first_payment_amount: 400, remaining_payments_amount: 300 },
      merchant_site_url: 'https://shop.example/return?order=1',
      channel_type: 'web_order',
      provider_specific_data: { some_provider: { additionalDetails: { deepKey: 1.5 } } },
    });
  });

  test('every field of a payment has its wire name', () => {
    const address = { country: 'USA', city: 'X', line1: '1', line2: '2', zipCode: '3', firstName: 'A', lastName: 'B' };
    const wire = JSON.parse(
      wirePayment(
        {
          ...PAYMENT,
          customerId: TOKEN,
          statementSoftDescriptor: 'SHOP',
          billingAddress: address,
          shippingAddress: address,
          addendums: { airline_passenger_itinerary: { passenger_name: 'A', legs: [{ fare: 1.5 }] } },
        },
        '1.0.0',
      ),
    ) as Record<string, unknown>;
    const wireAddress = {
      country: 'US',
      city: 'X',
      line1: '1',
      line2: '2',
      zip_code: '3',
      first_name: 'A',
      last_name: 'B',
    };
    expect(wire).toMatchObject({
      customer_id: TOKEN,
      statement_soft_descriptor: 'SHOP',
      billing_address: wireAddress,
      shipping_address: wireAddress,
      addendums: { airline_passenger_itinerary: { passenger_name: 'A', legs: [{ fare: 1.5 }] } },
    });
  });

  test('three_d_secure_attributes are flat up to 1.2.0', () => {
    const request = { ...charge, threeDSecureAttributes: { encoding: 'b', xid: 'x', cavv: 'c', eciFlag: '05' } };
    for (const version of ['1.0.0', '1.1.0', '1.2.0'] as const) {
      expect(JSON.parse(wireCharge(request, version))).toMatchObject({
        three_d_secure_attributes: { encoding: 'b', xid: 'x', cavv: 'c', eci_flag: '05' },
      });
    }
  });

  test('countries of a risk analysis have two letters at 1.0.0, there and back', () => {
    const request = { merchant: { merchantCountryCode: 'BRA' }, acquirer: { acquirerCountryCode: 'USA' } };
    const wire = (version: ApiVersion): string => {
      const checked = riskAnalysisRequestSchema(version).parse(request);
      return encodeBody(toWireNames(checked) as Record<string, unknown>, version);
    };
    const long = { merchant: { merchant_country_code: 'BRA' }, acquirer: { acquirer_country_code: 'USA' } };
    const short = { merchant: { merchant_country_code: 'BR' }, acquirer: { acquirer_country_code: 'US' } };
    expect([JSON.parse(wire('1.0.0')), JSON.parse(wire('1.3.0'))]).toEqual([short, long]);
    expect(decodeBody(JSON.stringify(short), '1.0.0')).toEqual(long);
  });

  test('sums of instalments are decimals at 1.0.0 in the currency that the caller names', () => {
    const request = { ...charge, installments: { numberOfInstallments: 2, firstPaymentAmount: 550 } };
    expect(wireCharge(request, '1.0.0', 'USD')).toContain('"first_payment_amount":5.50');
    expect(wireCharge(request, '1.1.0')).toContain('"first_payment_amount":550');
    expect(() => wireCharge(request, '1.0.0')).toThrow(VersionFault);
  });
});

describe('answers of each API version', () => {
  test('decimals of 1.0.0 become minor units, in payments, orders, related transactions and lists', () => {
    const text =
      '{"amount": 90071992547409.91, "currency": "USD", "order": {"line_items": [{"unit_price": 1.095E1}]},' +
      '"related_resources": {"charges": [{"amount": 0.5}]}, "additional_details": {"amount": 1.23456}, "quantity": 7}';
    expect(decodeBody(text, '1.0.0')).toEqual({
      amount: 9007199254740991,
      currency: 'USD',
      order: { line_items: [{ unit_price: 1095 }] },
      related_resources: { charges: [{ amount: 50 }] },
      additional_details: { amount: 1.23456 },
      quantity: 7,
    });
    expect(decodeBody('[{"amount": 5, "currency": "JPY"}, {"amount": 5.1}]', '1.0.0', 'KWD')).toEqual([
      { amount: 5, currency: 'JPY' },
      { amount: 5100 },
    ]);
  });

  test('an amount of 1.0.0 in an unknown currency is left out, never guessed', () => {
    expect(decodeBody('{"id": "x", "amount": 10.95, "currency": ""}', '1.0.0')).toEqual({
      id: 'x',
      amount: undefined,
      currency: '',
    });
  });

  test('an amount of 1.0.0 that is no whole number of minor units is left to the schema, with the reason', () => {
    const text = '{"amount": 10.955, "currency": "USD", "order": {"line_items": [{}, {"unit_price": 1e-9}]}}';
    const unreadable = (reason: string): unknown =>
      expect.objectContaining({ reason: expect.stringContaining(reason) });
    expect(decodeBody(text, '1.0.0')).toEqual({
      amount: unreadable('10.955 holds a fraction'),
      currency: 'USD',
      order: { line_items: [{}, { unit_price: unreadable('1e-9 holds a fraction') }] },
    });
  });

  test('a decimal in quotes stays a text, so that the schema refuses it', () => {
    expect(decodeBody('{"amount": "10.95", "currency": "USD"}', '1.0.0')).toMatchObject({ amount: '10.95' });
  });

  test('countries of 1.0.0 become alpha-3, and one that is in no list stays as it is', () => {
    const text = '{"billing_address": {"country": "BR"}, "country_code": "ZZ", "originating_purchase_country": "DEU"}';
    expect(decodeBody(text, '1.0.0')).toEqual({
      billing_address: { country: 'BRA' },
      country_code: 'ZZ',
      originating_purchase_country: 'DEU',
    });
  });

  test('the type of a token of 1.0.0 becomes its token_type, and no other type does', () => {
    const text =
      '{"payment_method": {"type": "credit_card", "token": "t"}, "provider_configuration": {"type": "cc_processor"},' +
      '"list": [{"type": "tokenized", "token": "t"}, {"type": "billing_agreement", "token_type": "x", "token": "t"}]}';
    expect(decodeBody(text, '1.0.0')).toEqual({
      payment_method: { type: 'tokenized', token_type: 'credit_card', token: 't' },
      provider_configuration: { type: 'cc_processor' },
      list: [
        { type: 'tokenized', token: 't' },
        { type: 'billing_agreement', token_type: 'x', token: 't' },
      ],
    });
  });

  test('each country has one code of 2 and one of 3 letters, there and back', () => {
    expect(['US', 'DE', 'BR', 'GB', 'XK'].map(alpha3Of)).toEqual(['USA', 'DEU', 'BRA', 'GBR', undefined]);
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('');
    const codes = letters
      .flatMap((one) => letters.map((two) => one + two))
      .filter((code) => alpha3Of(code) !== undefined);
    expect(codes).toHaveLength(249);
    for (const code of codes) expect(alpha2Of(alpha3Of(code) ?? '')).toBe(code);
  });

  test('since 1.1.0 integers are taken as they are', () => {
    expect(decodeBody('{"amount": 1095, "currency": "USD"}', '1.1.0')).toEqual({ amount: 1095, currency: 'USD' });
  });

  test('any amount comes back unchanged through every version', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        fc.constantFrom('USD', 'JPY', 'KWD', 'CLF'),
        fc.constantFrom(...API_VERSIONS),
        (amount, currency, version) => {
          expect(decodeBody(wirePayment({ amount, currency }, version), version)).toEqual({ amount, currency });
        },
      ),
      { numRuns: 2000 },
    );
  });
});
