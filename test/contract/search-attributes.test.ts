import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { cutAttribute } from '../../src/contract/cut-attribute.js';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';

const bytesOf = (text: string): number => Buffer.byteLength(text, 'utf8');

describe('a search attribute', () => {
  test('is cut to 200 bytes: the server terminates a flow that sets a longer one, in the middle of its money', () => {
    expect(cutAttribute('x'.repeat(200))).toBe('x'.repeat(200));
    expect(cutAttribute('x'.repeat(201))).toBe('x'.repeat(200));
    expect(cutAttribute('x'.repeat(100_000))).toBe('x'.repeat(200));
    expect(cutAttribute('')).toBe('');
  });

  test.each([
    ['one byte each, the last of them', '\u007f', 200],
    ['two bytes each, the first of them', '\u0080', 100],
    ['two bytes each, the last of them', '\u07ff', 100],
    ['three bytes each, the first of them', '\u0800', 66],
    ['three bytes each, the last of them', '\uffff', 66],
    ['four bytes each, the first of them', '\u{10000}', 50],
    ['two bytes each', 'é', 100],
    ['three bytes each', '€', 66],
    ['four bytes each', '😀', 50],
  ])('counts as the server does, in bytes: characters of %s', (_name, character, most) => {
    expect(cutAttribute(character.repeat(most))).toBe(character.repeat(most));
    expect(cutAttribute(character.repeat(most + 1))).toBe(character.repeat(most));
  });

  test('is cut between characters, and keeps as much as there is room for', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (value) => {
        const cut = cutAttribute(value);
        expect(value.startsWith(cut)).toBe(true);
        expect(bytesOf(cut)).toBeLessThanOrEqual(200);
        expect(Buffer.from(cut, 'utf8').toString('utf8')).toBe(cut);
        const next = value.codePointAt(cut.length);
        if (next !== undefined) expect(bytesOf(cut + String.fromCodePoint(next))).toBeGreaterThan(200);
      }),
    );
  });

  test('is one of those that every namespace has, under its released name and type', () => {
    expect(SEARCH_ATTRIBUTES).toEqual({
      PaymentStatus: 'KEYWORD',
      WaitingFor: 'KEYWORD',
      PaymentId: 'KEYWORD',
      BusinessUnit: 'KEYWORD',
      Provider: 'KEYWORD',
      SubCategory: 'KEYWORD',
      NeedsOperator: 'BOOL',
      DueAt: 'DATETIME',
      AmountMinor: 'INT',
      Currency: 'KEYWORD',
    });
  });
});
