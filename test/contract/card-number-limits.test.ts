import { describe, expect, test } from 'vitest';
import { cardNumberSpans } from '../../src/contract/card-data.js';

const NUMBER = '4111111111111111';
/** What is found in a text, as it stands there. */
const found = (text: string): string[] => cardNumberSpans(text).map(([start, end]) => text.slice(start, end));

describe('a UUID is kept as it is, although its digits could be a card number', () => {
  test.each([
    '41111111-1111-1111-a000-000000000000',
    '41111111-1111-1111-F000-000000000000',
    '41111111-1111-1111-0000-00000000000A',
    '41111111-1111-1111-0000-00000000000f',
    'event 41111111-1111-1111-b000-000000000000, retried',
  ])('in %s', (text) => {
    expect(found(text)).toEqual([]);
  });

  test.each([
    ['it holds digits alone', '41111111-1111-1111-0000-000000000000'],
    ['a letter stands right behind it', '41111111-1111-1111-a000-000000000000g'],
    ['a letter stands right before it', 'g41111111-1111-1111-a000-000000000000'],
    ['a dash of it is a blank', '41111111-1111 1111-a000-000000000000'],
    ['it is too short', '41111111-1111-1111-a000-00000000000'],
    ['a letter of it is not hexadecimal', '41111111-1111-1111-000g-000000000000'],
  ])('but not where %s: %s', (_why, text) => {
    expect(found(text)).toEqual([text.slice(text.indexOf('4'), text.indexOf('4') + 18)]);
  });
});

describe('a digest is kept as it is, although its digits could be a card number', () => {
  test.each([
    `abcd${NUMBER}abcd`,
    `ABCD${NUMBER}ABCD`,
    `aaaa${NUMBER}ffff`,
    `AAAA${NUMBER}FFFF`,
    `aaaa${NUMBER}a9aa`,
    `aaaa${NUMBER}a0aa`,
    `file abcd${NUMBER}abcd.pdf`,
    `${NUMBER}D${'1'.repeat(32)}`,
  ])('in %s', (text) => {
    expect(found(text)).toEqual([]);
  });

  test.each([
    ['is too short', `abc${NUMBER}abcd`],
    ['holds a letter that is not hexadecimal', `abcd${NUMBER}abcg`],
    ['holds a capital that is not hexadecimal', `ABCD${NUMBER}ABCG`],
    ['follows a letter', `zabcd${NUMBER}abcd`],
    ['follows a capital', `Zabcd${NUMBER}abcd`],
    ['is the second track of a card', `${NUMBER}D2712101000000`],
    ['is the second track of a card, in a sentence', `swiped ${NUMBER}d2712101000000 twice`],
    ['is the longest second track of a card', `${NUMBER}D${'1'.repeat(31)}`],
  ])('but not where it %s', (_why, text) => {
    expect(found(text)).toEqual([NUMBER]);
  });
});

describe('a card number is found through whatever stands between its groups', () => {
  const ASCII = [' ', '-', '.', ',', '/', ':', ';', '@', '[', '`', '{', '|', '~', '_', '+', '%', '(', '\t', '\n'];
  const OTHERS = ['\u00a0', '\u00a9', '\u00ab', '\u00b1', '\u00b7', '\u00bb', '\u00d7', '\u060c', '\u066a', '\u066d'];
  const FURTHER = ['\u2000', '\u2011', '\u206f', '\u2190', '\u22ff', '\u2500', '\u25ff', '\u3000', '\u3003', '\u3008'];
  const WIDE = ['\u3020', '\u30fb', '\ufe50', '\ufe6b', '\ufeff', '\uff01', '\uff0f', '\uff1a', '\uff20', '\uff65'];

  test.each([...ASCII, ...OTHERS, ...FURTHER, ...WIDE, '%20', '%2D', '%2d', ' -%20', '%20-%20'])(
    'such as %j',
    (between) => {
      const text = ['4111', '1111', '1111', '1111'].join(between);
      expect(found(text)).toEqual([text]);
    },
  );

  test.each(['A', 'Z', 'a', 'z', 'M', 'x', '*', 'ª', 'µ', 'º', 'Ö', 'Ø', 'ß', 'Ж', 'あ', '漢', '%30', '%2G'])(
    'but not through %j, which divides what is not one number',
    (between) => {
      expect(found(['4111', '1111', '1111', '1111'].join(between))).toEqual([]);
    },
  );

  test.each([
    ['0', '4111111111111160'],
    ['9', '4111111111111129'],
  ])('in digits of every script, the %s among them', (_digit, number) => {
    for (const zero of [0x30, 0x660, 0x6f0, 0x966, 0xff10]) {
      const text = String.fromCharCode(...Array.from(number, (each) => zero + Number(each)));
      expect(found(text)).toEqual([text]);
    }
  });
});

describe('the groups of a card number', () => {
  test.each([
    ['pairs', '41 11 11 11 11 11 11 11'],
    ['single digits', Array.from(NUMBER).join(' ')],
    ['of uneven lengths', '4111 11111 1111 111'],
    ['of uneven lengths from three on', '411 11111 1111 1111'],
  ])('may be %s where nothing else stands beside it', (_what, text) => {
    expect(found(text)).toEqual([text]);
  });

  test.each([
    ['pairs, since a row of dates looks so', '41 11 11 11 11 11 11 11 12'],
    ['single digits', `${Array.from(NUMBER).join(' ')} 7`],
    ['of uneven lengths', '4111 11111 1111 111 22'],
    ['of uneven lengths, with the longest at the end', '411 111 111 1111111 22'],
  ])('may not be %s beside other digits', (_what, text) => {
    expect(found(text)).toEqual([]);
  });

  test.each([
    ['threes', '411 111 111 111 111 1', ' 22'],
    ['fours', '4111 1111 1111 1111', ' 22'],
    ['fives', '41111 11111 11111 1', ' 22'],
    ['eights', '41111111 11111111', ' 22'],
  ])('may be %s beside other digits', (_what, number, rest) => {
    expect(found(number + rest)).toEqual([number]);
  });

  test.each([
    ['one of them is a single digit among longer ones', '4111 1 1111111 1111'],
    ['one of them is longer than any card has', '411111111 1111111'],
  ])('are none where %s', (_why, text) => {
    expect(found(text)).toEqual([]);
  });
});

describe('a card number in one piece with what belongs to it', () => {
  const AMEX = '378282246310005';
  const LONGEST = '6200000000000000000';

  test.each([
    ['the four digits of American Express', AMEX, '9876'],
    ['a code', NUMBER, '986'],
    ['expiry date and code', LONGEST, '1227987'],
    ['expiry date and the longest code, behind the longest number', LONGEST, '12279876'],
    ['an expiry date that begins with its year', NUMBER, '2712'],
  ])('is found before %s', (_what, number, behind) => {
    expect(found(number + behind)).toEqual([number]);
  });

  test.each([
    ['four digits that are no date behind another card', `${NUMBER}9876`],
    ['five digits behind American Express', `${AMEX}98765`],
    ['more digits than card, date and code have', `${LONGEST}122798765`],
  ])('is not seen in %s', (_what, text) => {
    expect(found(text)).toEqual([]);
  });
});
