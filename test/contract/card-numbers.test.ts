import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cardNumberSpans, starCardNumbers } from '../../src/contract/card-data.js';
import { CARD_SCHEMES, hasIssuerPrefix, isCardNumber, passesLuhn } from '../../src/contract/card-schemes.js';
import { writtenCardNumber } from './card-numbers.arbitrary.js';

/** One of each scheme of those that are published for tests. */
const PUBLISHED = [
  ['Visa', '4111111111111111'],
  ['Mastercard', '5555555555554444'],
  ['Mastercard of the newer range', '2223003122003222'],
  ['American Express', '378282246310005'],
  ['Discover', '6011111111111117'],
  ['Diners Club', '30569309025904'],
  ['JCB', '3530111333300000'],
  ['UnionPay', '6200000000000005'],
  ['Maestro', '6759649826438453'],
] as const;

const beginning = (lead: string, length: number): string => lead.padEnd(length, '0');
const LENGTHS = [12, 13, 14, 15, 16, 17, 18, 19, 20];

describe('the issuer of a card', () => {
  test.each<[string, string[], number[]]>([
    ['visa', ['4', '40', '49'], [16, 19]],
    ['mastercard', ['51', '55', '2221', '2720', '2500'], [16]],
    ['amex', ['34', '37'], [15]],
    ['discover', ['6011', '644', '649', '65'], [16, 17, 18, 19]],
    ['diners', ['300', '305', '3095', '36', '38', '39'], [14, 16, 19]],
    ['jcb', ['3528', '3589'], [16, 17, 18, 19]],
    ['olderJcb', ['2131', '1800'], [15]],
    ['unionPay', ['62', '81'], [16, 17, 18, 19]],
    ['maestro', ['50', '56', '58', '63', '67'], [16, 18, 19]],
    ['mir', ['2200', '2204'], [16, 17, 18, 19]],
    ['ruPay', ['60', '82'], [16]],
    ['troy', ['9792'], [16]],
    ['uzcardAndHumo', ['8600', '9860'], [16]],
    ['uatp', ['19', '10'], [15]],
  ])('%s is known by how its numbers begin, for the lengths that they have', (scheme, leads, lengths) => {
    expect(CARD_SCHEMES).toHaveProperty(scheme);
    for (const lead of leads) {
      const known = LENGTHS.filter((length) => hasIssuerPrefix(beginning(lead, length)));
      expect({ lead, known }).toEqual({ lead, known: lengths });
    }
  });

  test.each([
    ...['2', '2199', '2205', '2220', '2721', '299', '306', '3094', '3096', '31', '32', '33', '35', '3527', '3590'],
    ...['59', '61', '640', '643', '66', '68', '7', '80', '83', '8599', '8601', '9', '9791', '9793', '0'],
  ])('is none of a number that begins with %s', (lead) => {
    expect(LENGTHS.filter((length) => hasIssuerPrefix(beginning(lead, length)))).toEqual([]);
  });
});

describe('the check digit', () => {
  test.each(['0', '18', '26', '34', '42', '59', '67', '75', '83', '91', '79927398713', ...PUBLISHED.map(([, n]) => n)])(
    'of %s is right, and no other would be',
    (digits) => {
      const body = digits.slice(0, -1);
      const right = Array.from({ length: 10 }, (_, digit) => `${body}${digit}`).filter(passesLuhn);
      expect(right).toEqual([digits]);
    },
  );
});

describe('a card number', () => {
  test.each(PUBLISHED)('of %s is one, and is none with another check digit or a digit less', (_name, number) => {
    const check = Number(number.at(-1));
    expect(isCardNumber(number)).toBe(true);
    expect(isCardNumber(`${number.slice(0, -1)}${(check + 1) % 10}`)).toBe(false);
    expect(isCardNumber(number.slice(0, -1))).toBe(false);
  });

  test('is none without an issuer, however right its check digit is', () => {
    expect(passesLuhn('1111111111111117')).toBe(true);
    expect(isCardNumber('1111111111111117')).toBe(false);
  });
});

describe('the card numbers of a text', () => {
  test.each<[string, string, string]>([
    ['bare', 'x 4111111111111111 y', 'x ************1111 y'],
    ['in fours', '4111 1111 1111 1111', '**** **** **** 1111'],
    ['in the groups of American Express', '3782 822463 10005', '**** ****** *0005'],
    ['with dashes', '4111-1111-1111-1111.', '****-****-****-1111.'],
    ['with dashes between blanks', '4111 - 1111 - 1111 - 1111', '**** - **** - **** - 1111'],
    ['with long dashes', '4111–1111—1111‐1111', '****–****—****‐1111'],
    ['with no-break spaces', '4111\u00a01111\u00a01111\u00a01111', '****\u00a0****\u00a0****\u00a01111'],
    ['digit by digit', '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1', '* * * * * * * * * * * * 1 1 1 1'],
    ['with the day and the code after it', '4111 1111 1111 1111 12 27 123', '**** **** **** 1111 12 27 123'],
    ['with another number before it', '7 4111 1111 1111 1111', '7 **** **** **** 1111'],
    ['with dots', '4111.1111.1111.1111', '****.****.****.1111'],
    ['with slashes', '4111/1111/1111/1111', '****/****/****/1111'],
    ['with underscores', '4111_1111_1111_1111', '****_****_****_1111'],
    ['with commas', '4111,1111,1111,1111', '****,****,****,1111'],
    ['with colons', '4111:1111:1111:1111', '****:****:****:1111'],
    ['with plus signs', '4111+1111+1111+1111', '****+****+****+1111'],
    ['as in an address', 'x?n=4111%201111%201111%201111', 'x?n=****%20****%20****%201111'],
    ['with dots in the middle', '4111·1111·1111·1111', '****·****·****·1111'],
    ['with soft hyphens', '4111\u00ad1111\u00ad1111\u00ad1111', '****\u00ad****\u00ad****\u00ad1111'],
    ['with blanks of no width', '4111\u200b1111\u200b1111\u200b1111', '****\u200b****\u200b****\u200b1111'],
    ['with double blanks', '4111  1111  1111  1111', '****  ****  ****  1111'],
    ['as a list', '["4111", "1111", "1111", "1111"]', '["****", "****", "****", "1111"]'],
    ['in full-width digits', '４１１１ １１１１ １１１１ １１１１', '**** **** **** １１１１'],
    ['in Arabic digits', '٤١١١ ١١١١ ١١١١ ١١١١', '**** **** **** ١١١١'],
    ['in Persian digits', '۴۱۱۱۱۱۱۱۱۱۱۱۱۱۱۱', '************۱۱۱۱'],
    ['with its last month right behind', '41111111111111111227', '************11111227'],
    ['with its code right behind', '4111111111111111737', '************1111737'],
    ['with both right behind', '41111111111111111227737', '************11111227737'],
    ['with the four digits of American Express right behind', '3782822463100051234', '***********00051234'],
    ['with a digit right before', '74111111111111111', '7************1111'],
    ['as the first track', '%B4111111111111111^DOE/JOHN^2712101', '%B************1111^DOE/JOHN^2712101'],
    ['as the second track', ';4111111111111111=27121010000012345678?', ';************1111=27121010000012345678?'],
    ['as the second track with a letter', '4111111111111111D27121010000012345F', '************1111D27121010000012345F'],
    ['where a UUID belongs', '41111111-1111-1111-1111-111111111111', '********-****-1111-1111-111111111111'],
    ['of 19 digits', '6200000000000000000', '***************0000'],
    ['twice in one run', '4111111111111111 5555555555554444', '************1111 ************4444'],
    ['twice in a text', 'a 4111111111111111, b 378282246310005', 'a ************1111, b ***********0005'],
    ['beside letters', 'PAN4111111111111111X', 'PAN************1111X'],
    ['that is no UUID but looks like one in part', '4111-1111-1111-1111-x', '****-****-****-1111-x'],
  ])('are starred but for the last four: %s', (_name, text, starred) => {
    expect(starCardNumbers(text)).toBe(starred);
  });

  test.each([
    '',
    'nothing here',
    '4111111111111112',
    '4111 1111 1111 1112',
    '4222222222222',
    '411111111111111100001',
    '4111     1111     1111     1111',
    'payment 4111111a-1111-4111-8111-111111111111',
    'a4111111111111111aaaaaaa',
    '4111111111111111aaaaaaaa',
    'from 2027-01-31 to 2027-12-31',
    'valid 30.06.2027 - 31.12.2027, as of 30.01.2027 10:30:45.123',
    'order 4500000620-248713',
    'Amazon 302-1234567-1234567',
    '4111 **** **** 1111, 411111******1111',
    '+49 1518 9520856 or 030/1234567',
    '2027-11-22T16:36:40.123Z 2027-11-22 16:36:40.123456',
  ])('are none in %j', (text) => {
    expect(cardNumberSpans(text)).toEqual([]);
    expect(starCardNumbers(text)).toBe(text);
  });

  test.each<[string, [number, number][]]>([
    ['4111111111111111', [[0, 16]]],
    ['ab 4111 1111 1111 1111 12', [[3, 22]]],
    ['7 4111 1111 1111 1111', [[2, 21]]],
    [
      '4111111111111111 5555555555554444',
      [
        [0, 16],
        [17, 33],
      ],
    ],
    ['4111111a-1111-1111-1111-111111111111 378282246310005', [[37, 52]]],
    ['2027-01-31 378282246310005', [[11, 26]]],
  ])('stand in %j from where to where', (text, spans) => {
    expect(cardNumberSpans(text)).toEqual(spans);
  });

  test('are found beside what only looks like a UUID or a digest', () => {
    const NUMBER = '4111111111111111';
    for (const text of [
      // One letter too many, so that the groups are no UUID.
      `x${NUMBER}-1111-1111-1111-11111111111a`,
      `12027-01-31 ${NUMBER}`,
      // A digest of 23 letters and digits is none.
      `${NUMBER}aaaaaaa`,
    ]) {
      expect({ text, found: cardNumberSpans(text).length }).toEqual({ text, found: 1 });
    }
  });

  test('are found however they are written, alone and in a sentence', () => {
    fc.assert(
      fc.property(writtenCardNumber, fc.constantFrom('', 'card: ', 'PAN', 'ref_', '%B'), (written, before) => {
        expect(cardNumberSpans(`${before}${written}`)).toEqual([[before.length, before.length + written.length]]);
        const starred = starCardNumbers(`${before}${written}; 12/27 123`);
        expect(starred).toHaveLength(before.length + written.length + 11);
        expect(starred).not.toContain(written);
        expect(cardNumberSpans(starred)).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the search', () => {
  const stepsOf = (text: string): number => {
    const work = { steps: 0 };
    cardNumberSpans(text, work);
    return work.steps;
  };

  test.each([
    ['single digits', '1 '],
    ['pairs', '41\t'],
    ['threes', '411-'],
    ['fours', '4111 '],
    ['one long number', '4'],
    ['card numbers', '4111111111111111 '],
    ['numbers of twenty digits', '41111111111111111227 '],
    ['numbers of twenty-seven digits', '411111111111111112271237777 '],
    ['digests', 'a1111111111111111111111111111111 '],
    ['hexadecimal digits', 'a1'],
    ['what begins like UUIDs', '41111111-1111-1111-1111-1111111111 '],
    ['dashes where a UUID has them', '4-------'],
    ['separators', '1    '],
    ['escapes', '1%20'],
    ['letters', 'tea '],
  ])('costs no more for each character of a long text than of a short one: %s', (_what, part) => {
    const short = part.repeat(1_000);
    const long = part.repeat(30_000);
    const perCharacter = { short: stepsOf(short) / short.length, long: stepsOf(long) / long.length };
    expect(perCharacter.long).toBeLessThanOrEqual(perCharacter.short * 1.01 + 0.01);
    expect(perCharacter.long).toBeLessThan(80);
  });
});
