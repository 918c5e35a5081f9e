import { describe, expect, test } from 'vitest';
import { consentIdOf, paymentMethodRecord, transactionRecord } from '../../activities/records.js';
import { storedPaymentMethodSchema } from '../../src/provider/resources/customers.js';
import { transactionSchema } from '../../src/provider/resources/transactions.js';
import { holdsCardData } from '../../src/contract/card-data.js';

const CARD = '4111111111111111';

/** As the service would answer it, with this of the provider. */
const answered = (provider_data: object) =>
  transactionSchema.parse({ id: 't-1', created: '1795246792775', result: { status: 'Succeed' }, provider_data });
const detailsOf = (provider_data: object) => transactionRecord(answered(provider_data), undefined).details;

describe('what a provider says of a transaction', () => {
  test('comes whole: words, codes, ids, documents, whatever it adds, and when', () => {
    expect(
      detailsOf({
        description: 'Captured.',
        authorization_code: '12345',
        transaction_id: 'p-1',
        external_id: 'e-1',
        raw_response: '{"secret":1}',
        documents: [
          { href: 'https://p.example/1', descriptor: 'voucher', content_type: 'pdf' },
          { content: 'BARCODE' },
        ],
        additional_information: { bank: 'X', attempts: 2, nested: { a: [1] } },
      }),
    ).toEqual({
      createdAt: '2026-11-21T07:39:52.775Z',
      description: 'Captured.',
      authorizationCode: '12345',
      providerTransactionId: 'p-1',
      externalId: 'e-1',
      documents: [{ href: 'https://p.example/1', descriptor: 'voucher', contentType: 'pdf' }, { content: 'BARCODE' }],
      additionalInformation: { bank: 'X', attempts: '2', nested: '{"a":[1]}' },
    });
  });

  test('names the card as a receipt does, and never more of it', () => {
    const paidWith = (payment_method: object) =>
      transactionRecord(
        transactionSchema.parse({ id: 't-1', result: { status: 'Succeed' }, payment_method }),
        undefined,
      ).details;
    const shown = { vendor: 'VISA', last_4_digits: '1111', expiration_date: '10/2030' };
    expect(paidWith({ ...shown, token: 't', bin_number: '41111111', holder_name: 'Ada' })).toEqual({
      card: { vendor: 'VISA', last4Digits: '1111', expirationDate: '10/2030' },
    });
    const odd = { vendor: CARD, last_4_digits: '11111111', expiration_date: `10/2030 ${CARD}` };
    expect(paidWith(odd)).toBeUndefined();
    expect(paidWith({ ...shown, vendor: 'x'.repeat(51), expiration_date: '13/2030' })).toEqual({
      card: { last4Digits: '1111' },
    });
  });

  test('of a stored card says who issued it, when it expires and when it was stored', () => {
    const stored = { token: 't-1', created: '1795246792775', expiration_date: '10/2030', last_4_digits: '1111' };
    const issued = { issuer: 'A Bank', level: 'classic', pass_luhn_validation: false };
    expect(paymentMethodRecord({ data: storedPaymentMethodSchema.parse({ ...stored, ...issued }) })).toEqual({
      token: 't-1',
      last4Digits: '1111',
      expirationDate: '10/2030',
      createdAt: '2026-11-21T07:39:52.775Z',
      issuer: 'A Bank',
      level: 'classic',
      passesLuhn: false,
    });
    const odd = { ...stored, created: 'yesterday', expiration_date: '2030-10' };
    expect(paymentMethodRecord({ data: storedPaymentMethodSchema.parse(odd) })).toEqual({
      token: 't-1',
      last4Digits: '1111',
    });
  });

  test('leaves out free text with card data, and names it', () => {
    const details = detailsOf({
      description: `card ${CARD}`,
      external_id: 'e-1',
      documents: [{ href: `https://p.example/?card=${CARD}`, descriptor: 'voucher' }],
      additional_information: { note: CARD, cvv: '123', bank: 'X' },
    });
    expect(details).toEqual({
      createdAt: expect.any(String),
      externalId: 'e-1',
      documents: [{ descriptor: 'voucher' }],
      additionalInformation: { bank: 'X' },
      omitted: ['description', 'documents.0.href', 'additionalInformation.note', 'additionalInformation.cvv'],
    });
    expect(holdsCardData(JSON.stringify(details))).toBe(false);
  });

  test('leaves out what stands under a name that holds card data, which is told by its place', () => {
    const details = detailsOf({
      additional_information: { bank: 'X', [CARD]: 'ok', [`of ${CARD}`]: 'ok', 'cvv=123': 'ok' },
    });
    expect(details).toEqual({
      createdAt: expect.any(String),
      additionalInformation: { bank: 'X' },
      omitted: ['additionalInformation.1', 'additionalInformation.2', 'additionalInformation.3'],
    });
    expect(holdsCardData(JSON.stringify(details))).toBe(false);
  });

  test('cuts a name of a megabyte, also of what is left out', () => {
    const name = 'n'.repeat(1_000_000);
    const details = detailsOf({
      additional_information: { [name]: 'kept', [`${name}2`]: CARD, [`${name}3.cvv`]: '123' },
    });
    expect(details?.additionalInformation).toEqual({ ['n'.repeat(100)]: 'kept' });
    expect(details?.omitted).toHaveLength(2);
    expect(JSON.stringify(details).length).toBeLessThan(1_000);
    const many = Array.from({ length: 50 }, (_, index) => [
      `${'n'.repeat(99)}${String.fromCharCode(200 + index)}`,
      'x'.repeat(300),
    ]);
    expect(JSON.stringify(detailsOf({ additional_information: Object.fromEntries(many) })).length).toBeLessThan(20_000);
  });

  test('is cut to 1 KB a text and 16 KB in all, and never in the middle of a link or document', () => {
    const long = 'x'.repeat(5_000);
    const details = detailsOf({
      description: long,
      documents: [{ href: `https://p.example/${long}`, content: long, descriptor: 'voucher' }],
      additional_information: Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, long])),
    });
    expect(details?.description).toHaveLength(1_024);
    expect(details?.documents).toEqual([{ descriptor: 'voucher' }]);
    expect(details?.omitted).toEqual(expect.arrayContaining(['documents.0.href', 'documents.0.content']));
    expect(JSON.stringify(details).length).toBeLessThan(18_000);
  });
});

describe('the consent id', () => {
  const data = answered({
    provider_name: 'Other',
    network_transaction_id: 'standard',
    scheme_reference: 'named',
    additional_information: { trace: 'inside' },
  });

  test.each([
    ['under its usual name', {}, 'standard'],
    ['under the name that the unit gives for the provider', { Other: 'scheme_reference' }, 'named'],
    [
      'under that even where there is one for every other',
      { '*': 'network_transaction_id', Other: 'scheme_reference' },
      'named',
    ],
    ['under the name for every other provider', { '*': 'scheme_reference', Mock: 'x' }, 'named'],
    ['inside of additional_information', { Other: 'additional_information.trace' }, 'inside'],
    ['nowhere else than named', { Other: 'absent' }, undefined],
    ['never in the raw response', { Other: 'raw_response' }, undefined],
  ])('is looked for %s', (_where, fields, id) => {
    expect(consentIdOf(data, fields)).toBe(id);
  });
});

test('a status that no interface names is kept for people, unless it is long or holds card data', () => {
  const said = (status: string) =>
    transactionRecord(transactionSchema.parse({ id: 't-1', result: { status } }), undefined);
  expect(said('Settling')).toEqual({ transactionId: 't-1', status: 'Pending', unknownStatus: 'Settling' });
  for (const word of ['x'.repeat(51), CARD, 'cvv=123']) {
    expect(said(word)).toEqual({ transactionId: 't-1', status: 'Pending' });
  }
});
