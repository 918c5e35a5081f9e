import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { holdsCardData, namesCardData, starCardData } from '../../src/contract/card-data.js';
import { CARD_DIGITS, isCardNumber } from '../../src/contract/card-schemes.js';
import { chargeInputSchema } from '../../src/contract/charge.js';
import { refundCommandSchema } from '../../src/contract/messages.js';
import { REFERENCE_PATTERN } from '../../src/contract/fields.js';
import { PUBLISHED_SCHEMAS } from '../../tools/published-schemas.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { HONEST_NUMBERS } from '../support/honest-numbers.js';
import { PUBLISHED_TEST_NUMBERS } from '../support/published-test-numbers.js';
import { seededRandom } from '../support/seeded.js';
import { fullOr } from '../support/counts.js';
import { faults, MINIMAL, TOKEN } from './examples.js';

/** What a person writes. Every other text of the contract has a form or a meaning of its own. */
const FREE_TEXT: ReadonlySet<string> = new Set(
  'name city state line1 line2 title firstName lastName reason who why'
    .split(' ')
    .concat([1, 2, 3].map((count) => `productDescExtra${count}`)),
);
const FOUND = 'looks like it holds a card number';

type Json = Readonly<Record<string, unknown>>;

/** The path of each text that a published schema takes, with `0` and `x_risk` for what is repeated. */
function textsOf(schema: Json, root: Json, path: readonly string[] = []): string[][] {
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (schema[key] ?? []) as Json[]);
  const named = Object.entries((schema['properties'] ?? {}) as Record<string, Json>);
  const { $ref, items, additionalProperties: others } = schema as Record<string, Json | undefined>;
  return [
    ...(schema['type'] === 'string' ? [[...path]] : []),
    ...parts.flatMap((part) => textsOf(part, root, path)),
    ...named.flatMap(([name, part]) => textsOf(part, root, [...path, name])),
    ...(items === undefined ? [] : textsOf(items, root, [...path, '0'])),
    ...(typeof others === 'object' ? textsOf(others, root, [...path, 'x_risk']) : []),
    ...(typeof $ref === 'string'
      ? textsOf((root['$defs'] as Record<string, Json>)[($ref as string).slice('#/$defs/'.length)] ?? {}, root, path)
      : []),
  ];
}

/** An input that holds nothing but one value. */
function holding([name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  return name === '0' ? [holding(rest, value)] : { [name]: holding(rest, value) };
}

describe('where a value stands decides whether it is searched', () => {
  const folder = resolve(import.meta.dirname, '../../docs/schemas');
  const all = readdirSync(folder).flatMap((file) => {
    const schema = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Json;
    const paths = new Set(textsOf(schema, schema).map((path) => path.join('.')));
    return [...paths].map((path) => [file.replace('.json', ''), path] as const);
  });

  test('and every published schema is looked at', () => {
    expect(new Set(all.map(([name]) => name)).size).toBe(Object.keys(PUBLISHED_SCHEMAS).length);
    expect(all.length).toBeGreaterThan(200);
  });

  test.each(all)('%s: %s', (name, path) => {
    const names = path.split('.');
    const found = faults(PUBLISHED_SCHEMAS[name]?.schema as never, holding(names, '4111 1111 1111 1111'));
    const expected = FREE_TEXT.has(names.at(-1) ?? '') || names[0] === 'metadata' ? [path] : [];
    expect(found.filter((fault) => fault.includes(FOUND)).map((fault) => fault.split(':')[0])).toEqual(expected);
  });
});

describe('the fields that have a form of their own', () => {
  /** The same number wherever an id, a reference or a number to call may stand. */
  const everywhere = (number: string): object => ({
    ...MINIMAL,
    ...(REFERENCE_PATTERN.test(number) && { reference: number }),
    statementSoftDescriptor: `SHOP ${number}`,
    cardOnFile: { entryMode: 'recurring_subsequent_transaction', consentTransactionId: number },
    order: { id: number, lineItems: [{ id: number, unitPrice: 1 }] },
    billingAddress: { phone: number, zipCode: number, email: `${number}@example.com` },
    threeDSecureAttributes: { xid: number, cavv: number },
    risk: { deviceId: number, sessionId: number },
  });
  const command = (number: string): object => ({
    commandId: number,
    ...(REFERENCE_PATTERN.test(number) && { reference: number }),
  });

  function alarms(count: number, salt: number): string[] {
    const random = seededRandom(salt);
    const kinds = Object.entries(HONEST_NUMBERS);
    const found: string[] = [];
    for (let made = 0; made < count; made++) {
      const [kind, make] = kinds[made % kinds.length] as (typeof kinds)[number];
      const number = make(random);
      if (
        !chargeInputSchema.safeParse(everywhere(number)).success ||
        !refundCommandSchema.safeParse(command(number)).success
      ) {
        found.push(`${kind} ${number}`);
      }
    }
    return found;
  }

  test('take 5,000 honest numbers, of every kind', () => {
    expect(alarms(5_000, 1)).toEqual([]);
  });
  atFullCounts('take 1,000,000 honest numbers of every kind', () => expect(alarms(1_000_000, 2)).toEqual([]), 300_000);

  test('take even what is a card number, as one barcode and one telephone in ten was', () => {
    for (const number of ['4018933917377', '+4915189520856', '4500000620-248713', '4111111111111111']) {
      expect({ number, faults: faults(chargeInputSchema, everywhere(number)) }).toEqual({ number, faults: [] });
    }
  });
});

/** How the same number may be written, as hostile readers tried it. */
const SPELLINGS: Readonly<Record<string, (number: string) => string>> = {
  bare: (number) => number,
  'in a sentence': (number) => `paid by ${number}, thank you`,
  'beside letters': (number) => `PAN${number}X`,
  ...Object.fromEntries(
    [
      ' ',
      '-',
      '.',
      '/',
      '_',
      ',',
      ':',
      '+',
      '%20',
      '·',
      '\u00a0',
      '\u00ad',
      '\u200b',
      '\u2010',
      '\u2013',
      '  ',
      ' - ',
      '\t',
    ].map((separator) => [
      `in fours with ${JSON.stringify(separator)}`,
      (number: string) => inFours(number).join(separator),
    ]),
  ),
  'digit by digit': (number) => number.split('').join(' '),
  'full-width': (number) => number.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  Arabic: (number) => number.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit))),
  'quarters of a list': (number) => JSON.stringify(inFours(number)),
  'JSON in JSON': (number) => JSON.stringify(JSON.stringify({ card: number })),
  'with the last month right behind': (number) => `${number}1227`,
  'with the code right behind': (number) => `${number}737`,
  'with month and code behind': (number) => `${number} 12/27 737`,
  'with a digit right before': (number) => `7${number}`,
  'the first track': (number) => `%B${number}^DOE/JOHN^27121010000012345678?`,
  'the second track': (number) => `;${number}=27121010000012345678?`,
  'the second track with a letter': (number) => `${number}D27121010000012345678F`,
};
const inFours = (number: string): string[] => number.match(/\d{1,4}/g) ?? [];

describe('free text', () => {
  const refund = (reason: string): string[] => faults(refundCommandSchema, { commandId: 'refund-1', reason });

  test.each(Object.entries(SPELLINGS))('does not take a published test number written so: %s', (how, spell) => {
    const { uatp = [], ...others } = PUBLISHED_TEST_NUMBERS;
    // UATP owns whatever begins with 1: with one digit more, one in a hundred of all numbers would pass for one.
    const numbers = [...Object.values(others).flat(), ...(how.includes('right') ? [] : uatp)];
    expect(numbers.length).toBeGreaterThan(100);
    expect(numbers.filter((number) => refund(spell(number)).length === 0)).toEqual([]);
    expect(numbers.filter((number) => refund(spell(number)).join().includes(number))).toEqual([]);
    expect(numbers.filter((number) => holdsCardData(starCardData(spell(number))))).toEqual([]);
  });

  test('does not take a published test number where a UUID belongs', () => {
    const numbers = Object.values(PUBLISHED_TEST_NUMBERS)
      .flat()
      .filter((number) => number.length === 16);
    const written = numbers.map((number) => `${number.replace(/(\d{8})(\d{4})/, '$1-$2-')}-0000-000000000000`);
    expect(written.filter((text) => refund(text).length === 0)).toEqual([]);
  });

  test.each([
    'cvv=123',
    'CVV: 1234',
    'cvc2 = 123',
    '{"credit_card_cvv":"123"}',
    '{"card":{"cvd": 123}}',
    JSON.stringify(JSON.stringify({ cvv: '123' })),
  ])('does not take %s', (text) => {
    expect(refund(text)).toEqual([expect.stringContaining(`reason: ${FOUND}`)]);
    expect(starCardData(text)).toBe(text.replace(/\d{3,4}/, '***'));
  });

  test.each([
    'Darjeeling, 2nd flush, 250 g, EAN 4018933917377',
    'call +49 1518 9520856 or 030/1234567, gate code 1234',
    'Flat 4, 1234-1236 High Street, 2nd floor',
    'of 30.01.2027 10:30:45, due 2027-02-28 12:00',
    `payment ${TOKEN} of order 4500000620-248713`,
    'digest 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    '{"encrypted_cvv":"123abcdefghijklmnop"}, the cvv result was M',
    'CVV was wrong 123 times',
  ])('takes %s', (text) => {
    expect(refund(text)).toEqual([]);
    expect(starCardData(text)).toBe(text);
  });

  /** Whether any row of digits in it, whatever stands between them, has the prefix and the check digit of a card. */
  function hasPrefixAndLuhn(text: string): boolean {
    const row = text.replace(/\D/g, '');
    for (let at = 0; at < row.length; at++) {
      for (let length = CARD_DIGITS.least; length <= CARD_DIGITS.most && at + length <= row.length; length++) {
        if (isCardNumber(row.slice(at, at + length))) return true;
      }
    }
    return false;
  }

  test('is never refused without an issuer prefix and a check digit; how often honest numbers are is printed', () => {
    const random = seededRandom(3);
    const rows = Object.entries(HONEST_NUMBERS).map(([kind, make]) => {
      const texts = Array.from({ length: fullOr(2_000, 1_000) }, () => `see ${make(random)}, please`);
      const refused = texts.filter((text) => refund(text).length > 0);
      expect({ kind, without: refused.filter((text) => !hasPrefixAndLuhn(text)) }).toEqual({ kind, without: [] });
      const share = (count: number): string => `${((100 * count) / texts.length).toFixed(2)} %`;
      return `${kind}: ${share(refused.length)} of ${share(texts.filter(hasPrefixAndLuhn).length)}`;
    });
    console.log(`Refused in free text, of those with prefix and check digit:\n  ${rows.join('\n  ')}`);
  });
});

describe('the name of a field', () => {
  test.each(
    'cardNumber card_number creditCardNumber PAN primaryAccountNumber cardNo track1 track2 trackData'.split(' '),
  )('%s is that of a card number', (name) => expect(namesCardData(name)).toBe('cardNumber'));

  test.each(
    (
      'cvv CVV2 cvc cvc3 cvn cvd cav2 csc cid credit_card_cvv security-code cardSecurityCode verificationCode ' +
      'cardVerificationValue verificationValue pin pinBlock'
    ).split(' '),
  )('%s is that of a CVV', (name) => expect(namesCardData(name)).toBe('cvv'));

  test.each(
    'encryptedCvv cvvResult cvv_result_code cavv last4Digits cardOnFile placid phone name reference pinned'.split(' '),
  )('%s is neither', (name) => expect(namesCardData(name)).toBeUndefined());

  test('is said where an unknown field has it, and its value never', () => {
    const found = faults(chargeInputSchema, { ...MINIMAL, cardNumber: '4111111111111111', cvv: '737' });
    expect(found).toEqual([
      'cardNumber: unknown field, and card data must never enter a history: send a token',
      'cvv: unknown field, and card data must never enter a history: send a token',
    ]);
  });
});

describe('a refusal', () => {
  test('is short and shows no number, however long and many the unknown names are', () => {
    const long = `4111 1111 1111 1111 ${'1\t'.repeat(900_000)}`;
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, count) => [`field ${count}`, 1]));
    for (const extra of [
      { [long]: 1 },
      many,
      { order: { [long]: 1 } },
      { reference: long },
      { [long]: { [long]: 1 } },
    ]) {
      const text = faults(chargeInputSchema, { ...MINIMAL, ...extra }).join('; ');
      expect(text.length).toBeLessThan(2_048);
      expect(text).not.toMatch(/4111/);
    }
  });
});
