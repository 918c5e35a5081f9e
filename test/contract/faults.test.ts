import { describe, expect, test } from 'vitest';
import { listCardsInputSchema } from '../../src/contract/cards.js';
import { chargeInputSchema } from '../../src/contract/charge.js';
import {
  durationSchema,
  amountSchema,
  attemptReferenceSchema,
  businessUnitSchema,
  currencySchema,
  ipAddressSchema,
  referenceSchema,
  show,
  uuidSchema,
} from '../../src/contract/fields.js';
import {
  calendarDateSchema,
  intervalSchema,
  localTimeSchema,
  subscriptionReferenceSchema,
  timeZoneSchema,
} from '../../src/contract/subscription.js';
import { changePlanSchema } from '../../src/contract/subscription-commands.js';
import { faults, MINIMAL, type Schema, TOKEN } from './examples.js';

describe('a fault says which value is wrong and what to give instead:', () => {
  test.each<[string, Schema, unknown, string]>([
    ['reference', referenceSchema, 'a b', '"a b" is not a reference: use 1-50 characters of A-Z a-z 0-9 _ -'],
    [
      'reference of another flow',
      referenceSchema,
      `actions-${TOKEN}`,
      'must not start with "actions-" and a UUID: the flow would take the id of another one',
    ],
    [
      'reference of an attempt',
      attemptReferenceSchema,
      'club-7.1',
      '"club-7.1" is not the reference of an attempt to bill a subscription',
    ],
    [
      'reference of an attempt that no key has room for',
      attemptReferenceSchema,
      `${'a'.repeat(40)}.99999.1000`,
      'is longer than 50 characters',
    ],
    [
      'reference of a subscription',
      subscriptionReferenceSchema,
      'club.7',
      '"club.7" is not the reference of a subscription: use 1-40 of A-Z a-z 0-9 _ -',
    ],
    ['amount', amountSchema, '1095', '"1095" is not an amount: use a whole number of minor units'],
    ['missing amount', amountSchema, undefined, 'a missing value is not an amount: use a whole number of minor units'],
    ['currency', currencySchema, 'usd', '"usd" is not an ISO 4217 currency code, such as USD'],
    ['UUID', uuidSchema, 'tok_1', 'is not a UUID'],
    ['address of a buyer', ipAddressSchema, '203.0.113', 'is neither an IPv4 nor an IPv6 address'],
    ['business unit', businessUnitSchema, 'a/b', '"a/b" is not the name of a business unit'],
    ['duration', durationSchema, 'soon', '"soon" is not a duration, such as "8 seconds" or "6 days"'],
    ['duration in ms', durationSchema, -1, '-1 is not a duration, such as "8 seconds" or "6 days"'],
    ['day', calendarDateSchema, '31.01.2027', '"31.01.2027" is not a day of the calendar, such as 2027-01-31'],
    [
      'day too early',
      calendarDateSchema,
      '1969-12-31',
      '"1969-12-31" is out of range: use a day from 1970-01-01 to 2199-12-31',
    ],
    [
      'day too late',
      calendarDateSchema,
      '2200-01-01',
      '"2200-01-01" is out of range: use a day from 1970-01-01 to 2199-12-31',
    ],
    ['time zone', timeZoneSchema, 'Rome', '"Rome" is not an IANA time zone, such as Europe/Rome'],
    ['time of day', localTimeSchema, '24:00', '"24:00" is not a time of day, such as 10:00'],
  ])('%s', (_name, schema, value, fault) => {
    expect(faults(schema, value)).toEqual([`input: ${fault}`]);
  });

  test.each<[string, Schema, object, string[]]>([
    [
      'an amount beyond what can be held',
      chargeInputSchema,
      { ...MINIMAL, amount: 0 },
      ['amount: 0 is not an amount: use a whole number of minor units from 1 to 9007199254740991'],
    ],
    [
      'a plain CVV',
      chargeInputSchema,
      { ...MINIMAL, paymentMethod: { type: 'tokenized', token: TOKEN, encryptedCvv: '123' } },
      [
        'paymentMethod.encryptedCvv: is not an encrypted_cvv: it is too short (a plain CVV is never accepted)',
        'paymentMethod.encryptedCvv: is not an encrypted_cvv: expected base64',
      ],
    ],
    [
      'a country',
      chargeInputSchema,
      { ...MINIMAL, billingAddress: { country: 'US' } },
      ['billingAddress.country: is not an ISO 3166-1 alpha-3 country code, such as USA'],
    ],
    [
      'where a buyer comes back to',
      chargeInputSchema,
      { ...MINIMAL, merchantSiteUrl: 'shop.example' },
      ['merchantSiteUrl: is not an http or https address'],
    ],
    ['an interval', intervalSchema, { every: 521, unit: 'week' }, ['every: is longer than ten years']],
    [
      'an empty change',
      changePlanSchema,
      {},
      ['input: changes nothing: give an amount, amounts, an interval or a billAt'],
    ],
    [
      'the id of a command',
      listCardsInputSchema,
      { commandId: 'a b', customerId: TOKEN },
      ['commandId: is not 1-100 characters of A-Z a-z 0-9 _ . -'],
    ],
    [
      'a price',
      chargeInputSchema,
      { ...MINIMAL, order: { lineItems: [{ unitPrice: 0 }, { unitPrice: -100 }, { unitPrice: 0.5 }] } },
      ['order.lineItems.2.unitPrice: 0.5 is not a price: use a whole number of minor units, 0 for a free item'],
    ],
    [
      'a price that is text',
      chargeInputSchema,
      { ...MINIMAL, order: { lineItems: [{ unitPrice: '10.95' }] } },
      ['order.lineItems.0.unitPrice: "10.95" is not a price: use a whole number of minor units'],
    ],
    ...['', 'a b', 'ä', 'x'.repeat(129)].map((customerId): [string, typeof chargeInputSchema, object, string[]] => [
      `the customer id ${JSON.stringify(customerId.slice(0, 5))}`,
      chargeInputSchema,
      { ...MINIMAL, customerId },
      ['customerId: is not a customer id: use 1-128 visible ASCII characters'],
    ]),
    ['an unknown field', chargeInputSchema, { ...MINIMAL, amout: 1 }, ['amout: unknown field']],
    [
      'an unknown field further down',
      chargeInputSchema,
      { ...MINIMAL, order: { notes: 'x' } },
      ['order.notes: unknown field'],
    ],
  ])('%s', (_name, schema, value, expected) => {
    expect(faults(schema, value)).toEqual(expected);
  });
});

describe('a value in a message', () => {
  test.each<[unknown, string]>([
    ['tea', '"tea"'],
    ['say "tea"\n', String.raw`"say \"tea\"\n"`],
    ['a'.repeat(60), `"${'a'.repeat(60)}"`],
    ['a'.repeat(61), `"${'a'.repeat(60)}..."`],
    [1095, '1095'],
    [-0.5, '-0.5'],
    [Number.NaN, 'NaN'],
    [undefined, 'a missing value'],
    [null, 'a value of type object'],
    [true, 'a value of type boolean'],
    [{ amount: 1 }, 'a value of type object'],
    [12n, 'a value of type bigint'],
    ['4111 1111-1111 1111', '"**** ****-**** 1111"'],
    ['order-5-1795337123456-14', '"order-5-1795337123456-14"'],
    [`${'a'.repeat(50)} 4111 1111 1111 1111`, `"${'a'.repeat(50)} **** ****..."`],
    [4111111111111111, '************1111'],
    [9007199254740992, '9007199254740992'],
  ])('is short, on one line and without a card number (%#)', (value, text) => {
    expect(show(value)).toBe(text);
  });
});

describe('an input with very many faults', () => {
  const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`x${index}`, 1]));
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `x${index}: unknown field`);

  test.each([
    [49, lines(49)],
    [50, lines(50)],
    [51, [...lines(50), 'and more like these']],
    [5_000, [...lines(50), 'and more like these']],
  ])('is told the first fifty of %i, so that a history is not filled with them', (count, expected) => {
    expect(faults(chargeInputSchema, { ...MINIMAL, ...fields(count) })).toEqual(expected);
  });

  test('counts those of all its parts together', () => {
    const lineItems = Array.from({ length: 60 }, () => ({ quantity: 0 }));
    const found = faults(chargeInputSchema, { ...MINIMAL, order: { lineItems }, ...fields(3) });
    expect(found).toHaveLength(51);
    expect(found[0]).toMatch(/^order\.lineItems\.0\.quantity: /);
    expect(found[50]).toBe('and more like these');
  });
});

describe('at their bounds', () => {
  test.each<[string, Schema, unknown]>([
    ['the first day', calendarDateSchema, '1970-01-01'],
    ['the last day', calendarDateSchema, '2199-12-31'],
    ['ten years of days', intervalSchema, { every: 3_650, unit: 'day' }],
    ['ten years of weeks', intervalSchema, { every: 520, unit: 'week' }],
    ['ten years of months', intervalSchema, { every: 120, unit: 'month' }],
    ['ten years', intervalSchema, { every: 10, unit: 'year' }],
    ['a change of the amount alone', changePlanSchema, { amount: 1 }],
    ['a change of the interval alone', changePlanSchema, { interval: { every: 1, unit: 'day' } }],
    ['a change of the hour alone', changePlanSchema, { billAt: '08:30' }],
    ['an attempt', attemptReferenceSchema, `${'a'.repeat(40)}.99999.999`],
    ['the last of many attempts', attemptReferenceSchema, 'club-7.12.999999'],
  ])('%s is taken', (_name, schema, value) => {
    expect(faults(schema, value)).toEqual([]);
  });

  test.each([
    { every: 3_651, unit: 'day' },
    { every: 121, unit: 'month' },
    { every: 11, unit: 'year' },
  ])('%j is longer than ten years', (interval) => {
    expect(faults(intervalSchema, interval)).toEqual(['every: is longer than ten years']);
  });
});
