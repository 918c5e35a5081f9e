import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { chargeInputSchema, resolvePendingInputSchema } from '../../src/contract/charge.js';
import {
  outcomeRequestSchema,
  retryNowSchema,
  settleManuallySchema,
  transactionEventSchema,
} from '../../src/contract/messages.js';
import { faults, MINIMAL, NO_AMOUNTS, NO_CURRENCIES, NO_REFERENCES, type Schema, TOKEN } from './examples.js';
import { LEAST_EVENT } from '../support/least-event.js';

const chargeFaults = (change: object): string[] => faults(chargeInputSchema, { ...MINIMAL, ...change });

describe('the input of a charge', () => {
  test('needs no more than reference, amount, currency and payment method, and fills in the business unit', () => {
    expect(chargeInputSchema.parse(MINIMAL)).toEqual({ ...MINIMAL, businessUnit: 'default' });
    for (const field of Object.keys(MINIMAL)) {
      expect(chargeFaults({ [field]: undefined })).toEqual([expect.stringMatching(`^${field}: `)]);
    }
  });

  test.each(NO_AMOUNTS)('refuses %s as an amount, and as the price of a line item', (_name, value) => {
    expect(chargeFaults({ amount: value })).toEqual([expect.stringMatching(/^amount: .*is not an amount/)]);
    const lineItems = [{ unitPrice: value }];
    // A free item and a discount have prices that are no amounts.
    const isPrice = value === undefined || Number.isSafeInteger(value);
    const expected = isPrice ? [] : [expect.stringMatching(/^order\.lineItems\.0\.unitPrice: /)];
    expect(chargeFaults({ order: { lineItems } })).toEqual(expected);
  });

  test('takes every whole number of minor units that can be held exactly, and nothing else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.maxSafeInteger(), fc.integer()), (amount) => {
        expect(chargeFaults({ amount })).toHaveLength(Number.isSafeInteger(amount) && amount >= 1 ? 0 : 1);
      }),
    );
    expect(chargeFaults({ amount: 1 })).toEqual([]);
    expect(chargeFaults({ amount: Number.MAX_SAFE_INTEGER })).toEqual([]);
  });

  test.each(NO_CURRENCIES)('refuses %p as a currency', (currency) => {
    expect(chargeFaults({ currency })).toEqual([expect.stringMatching(/^currency: /)]);
  });

  test.each(NO_REFERENCES)('refuses %p as a reference', (reference) => {
    expect(chargeFaults({ reference })).toEqual([expect.stringMatching(/^reference: /)]);
  });

  test('takes every reference of 1 to 50 of the allowed characters', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_-]{1,50}$/), (reference) => {
        expect(chargeFaults({ reference })).toEqual([]);
      }),
    );
  });

  test.each(['', ' default', 'a/b', 'x'.repeat(65), 7])('refuses %p as the name of a business unit', (businessUnit) => {
    expect(chargeFaults({ businessUnit })).toEqual([expect.stringMatching(/^businessUnit: /)]);
  });

  test.each([
    ['without a token', { type: 'tokenized' }, 'paymentMethod.token: '],
    ['with a token that is no UUID', { type: 'tokenized', token: 'tok_1' }, 'paymentMethod.token: is not a UUID'],
    ['of another type', { type: 'untokenized', token: TOKEN }, 'paymentMethod.type: '],
    ['without a type', { token: TOKEN }, 'paymentMethod.type: '],
    ['with a card number', { type: 'tokenized', token: TOKEN, cardNumber: 'x' }, 'paymentMethod.cardNumber: unknown'],
    ['that is missing', undefined, 'paymentMethod: '],
    ['that is a list', [], 'paymentMethod: '],
  ])('refuses a payment method %s', (_name, paymentMethod, fault) => {
    expect(chargeFaults({ paymentMethod }).filter((line) => line.startsWith(fault))).toHaveLength(1);
  });

  test.each(['123', '1234', '', 'a'.repeat(15), 'not base64: at all!', 'a'.repeat(4097)])(
    'refuses %p as an encrypted CVV, a plain one above all',
    (encryptedCvv) => {
      const lines = chargeFaults({ paymentMethod: { type: 'tokenized', token: TOKEN, encryptedCvv } });
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) expect(line).toMatch(/^paymentMethod\.encryptedCvv: /);
      if (encryptedCvv !== '') expect(lines.join()).not.toContain(encryptedCvv);
    },
  );

  test.each(['203.0.113', '::g', 'localhost', '203.0.113.7/24', ''])('refuses %p as the address of a buyer', (ip) => {
    expect(chargeFaults({ clientIpAddress: ip })).toEqual([expect.stringMatching(/^clientIpAddress: /)]);
  });

  test('lists every fault at once, each with its path, unknown fields on every level included', () => {
    const lines = faults(chargeInputSchema, {
      reference: 'order 1',
      amount: 10.95,
      currency: 'usd',
      paymentMethod: { type: 'tokenized', encryptedCvv: '123', cvv: '123' },
      businessUnit: '',
      order: { lineItems: [{ quantity: 0 }, { sku: 'tea' }], notes: 'x' },
      cardOnFile: { entryMode: 'sometimes' },
      amout: 1095,
      Currency: 'USD',
    });
    const paths = new Set(lines.map((line) => line.slice(0, line.indexOf(':'))));
    expect([...paths].toSorted()).toEqual([
      'Currency',
      'amount',
      'amout',
      'businessUnit',
      'cardOnFile.entryMode',
      'currency',
      'order.lineItems.0.quantity',
      'order.lineItems.1.sku',
      'order.notes',
      'paymentMethod.cvv',
      'paymentMethod.encryptedCvv',
      'paymentMethod.token',
      'reference',
    ]);
  });

  test.each([null, undefined, 'order-1001', 1095, [MINIMAL], true])('refuses %p in its place', (value) => {
    expect(faults(chargeInputSchema, value)).toEqual([expect.stringMatching(/^input: /)]);
  });

  test('what passed once passes again and is not changed', () => {
    const full = {
      ...MINIMAL,
      order: { id: '1', lineItems: [{ id: '1', name: 'Tea', quantity: 2, unitPrice: 1095 }] },
      clientIpAddress: '2001:db8::7',
    };
    const once = chargeInputSchema.parse(full);
    expect(chargeInputSchema.parse(once)).toEqual(once);
  });
});

describe('the other inputs', () => {
  const event = LEAST_EVENT;
  const resolvePending = { paymentId: TOKEN, transactionId: TOKEN, kind: 'charge', amount: 1, currency: 'USD' };
  const settle = { status: 'succeeded', who: 'ada', why: 'seen in the portal' };

  test.each<[string, Schema, object]>([
    ['resolvePending', resolvePendingInputSchema, resolvePending],
    ['outcome', outcomeRequestSchema, { type: 'charge', fingerprint: 'ab' }],
    ['settleManually', settleManuallySchema, settle],
    ['retryNow', retryNowSchema, {}],
  ])('of %s is taken at its least, and refused with an unknown field', (_name, schema, least) => {
    expect(faults(schema, least)).toEqual([]);
    expect(faults(schema, { ...least, extra: 1 })).toEqual(['extra: unknown field']);
  });

  test.each(['status', 'who', 'why'])('settleManually says who decides what, and why: it needs %s', (field) => {
    expect(faults(settleManuallySchema, { ...settle, [field]: undefined })).toEqual([
      expect.stringMatching(`^${field}: `),
    ]);
    expect(faults(settleManuallySchema, { ...settle, [field]: '  ' })).toHaveLength(1);
  });

  test.each(['pending', 'unknown', 'Succeed', 'refunded'])('settleManually refuses %p as an end', (status) => {
    expect(faults(settleManuallySchema, { ...settle, status })).toHaveLength(1);
  });

  test.each(NO_AMOUNTS.filter(([, value]) => value !== undefined))(
    'an event whose amount is %s is refused rather than believed',
    (_name, amount) => {
      expect(faults(transactionEventSchema, { ...event, amount })).toEqual([expect.stringMatching(/^amount: /)]);
    },
  );

  test('resolvePending lists every fault at once', () => {
    const lines = faults(resolvePendingInputSchema, { ...resolvePending, paymentId: 'p', kind: 'gift', amount: 0 });
    expect(lines.map((line) => line.slice(0, line.indexOf(':'))).toSorted()).toEqual(['amount', 'kind', 'paymentId']);
  });
});

const LARGEST_AMOUNT = `to ${Number.MAX_SAFE_INTEGER}`;
/** Any twelve digits or more, however they are grouped: it could be a card number. */
const LONG_DIGITS = /\d(?:[ -]?\d){11,}/;

describe('a fault never repeats a card number', () => {
  const CARD = '4111111111111111';
  test.each<[string, Schema, unknown]>([
    ['in a reference', chargeInputSchema, { ...MINIMAL, reference: `card ${CARD}` }],
    ['in groups in a reference', chargeInputSchema, { ...MINIMAL, reference: '4111 1111 1111 1111' }],
    ['in a currency', chargeInputSchema, { ...MINIMAL, currency: CARD }],
    ['in the name of a business unit', chargeInputSchema, { ...MINIMAL, businessUnit: `${CARD}!` }],
    ['as an amount in text', chargeInputSchema, { ...MINIMAL, amount: CARD }],
    ['as a negative amount', chargeInputSchema, { ...MINIMAL, amount: -Number(CARD) }],
    ['as the name of an unknown field', chargeInputSchema, { ...MINIMAL, [CARD]: 1 }],
    ['as a token', chargeInputSchema, { ...MINIMAL, paymentMethod: { type: 'tokenized', token: CARD } }],
    ['as the type of a payment method', chargeInputSchema, { ...MINIMAL, paymentMethod: { type: CARD, token: TOKEN } }],
    ['as a duration', outcomeRequestSchema, { type: 'charge', fingerprint: 'ab', waitFor: CARD }],
    ['as an operator decision', settleManuallySchema, { status: CARD, who: 'ada', why: 'x' }],
  ])('%s', (_name, schema, value) => {
    const lines = faults(schema, value);
    expect(lines).not.toEqual([]);
    const echoes = lines.map((line) => line.replace(LARGEST_AMOUNT, '')).filter((line) => LONG_DIGITS.test(line));
    expect(echoes).toEqual([]);
  });
});
