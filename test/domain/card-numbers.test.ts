import { describe, expect, test } from 'vitest';
import {
  CARD_SCHEMES,
  cardNumberSpans,
  hasIssuerPrefix,
  isCardNumber,
  passesLuhn,
  starCardNumbers,
} from '../../src/domain/card-numbers.js';

/** Numbers that the schemes publish for tests. */
const PUBLISHED = [
  ['Visa', '4111111111111111'],
  ['Visa of 13 digits', '4222222222222'],
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
    ['visa', ['4', '40', '49'], [13, 16, 19]],
    ['mastercard', ['51', '55', '2221', '2720', '2500'], [16]],
    ['amex', ['34', '37'], [15]],
    ['discover', ['6011', '644', '649', '65'], [16, 17, 18, 19]],
    ['diners', ['300', '305', '3095', '36', '38', '39'], [14, 15, 16, 17, 18, 19]],
    ['jcb', ['3528', '3589'], [16, 17, 18, 19]],
    ['unionPay', ['62', '81'], [16, 17, 18, 19]],
    ['maestro', ['5018', '5020', '5038', '5893', '6304', '6390', '6759', '6761', '6763'], [13, 14, 15, 16, 17, 18, 19]],
  ])('%s is known by how its numbers begin, for the lengths that they have', (scheme, leads, lengths) => {
    expect(CARD_SCHEMES).toHaveProperty(scheme);
    for (const lead of leads) {
      const known = LENGTHS.filter((length) => hasIssuerPrefix(beginning(lead, length)));
      expect({ lead, known }).toEqual({ lead, known: lengths });
    }
  });

  test.each([
    ...['1', '2', '2220', '2721', '299', '306', '3094', '3096', '31', '32', '33', '35', '3527', '3590'],
    ...['50', '5017', '5019', '5021', '5037', '5039', '56', '5892', '5894', '57', '59', '60', '6010', '6012', '61'],
    ...['63', '6303', '6305', '6389', '6391', '640', '643', '66', '6758', '6760', '6764', '7', '80', '82', '9', '0'],
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
    ['of 13 digits', '4222222222222', '*********2222'],
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
    '41111111111111110000',
    '4111    1111    1111    1111',
    '4111_1111_1111_1111',
    '4111.1111.1111.1111',
    'payment 41111111-1111-4111-8111-111111111111',
    '41111111-1111-1111-1111-111111111111',
    'a4111111111111111aaaaaaaaaaaaaaa',
    '4111111111111111aaaaaaaaaaaaaaaa',
    'from 2027-01-31 to 2027-12-31',
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
    ['41111111-1111-1111-1111-111111111111 4222222222222', [[37, 50]]],
    ['2027-01-31 4222222222222', [[11, 24]]],
  ])('stand in %j from where to where', (text, spans) => {
    expect(cardNumberSpans(text)).toEqual(spans);
  });

  test('are found beside what only looks like a UUID, a digest or a day', () => {
    const NUMBER = '4111111111111111';
    for (const text of [
      // One letter too many on either side, so that the groups are no UUID.
      `x4111111111111111-1111-1111-1111-111111111111`,
      `12027-01-31 ${NUMBER}`,
      // A digest of 31 letters and digits is none.
      `${NUMBER}aaaaaaaaaaaaaaa`,
      `1999-13-01 ${NUMBER}`,
    ]) {
      expect({ text, found: cardNumberSpans(text).length }).toEqual({ text, found: 1 });
    }
  });
});
