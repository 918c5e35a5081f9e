import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { NumberLiteral, parseExact, stringifyExact } from '../../src/provider/wire.js';

describe('JSON with exact numbers', () => {
  test.each(['90071992547409.91', '0.10', '1.095E7', '-0', '123456789012345678901234567890'])(
    'the number %s keeps its digits',
    (text) => {
      const parsed = parseExact(`{"amount": ${text}, "list": [${text}]}`);
      expect(parsed).toEqual({ amount: new NumberLiteral(text), list: [new NumberLiteral(text)] });
      expect(stringifyExact(parsed)).toBe(`{"amount":${text},"list":[${text}]}`);
    },
  );

  test('digits, quotes and escapes inside strings and keys are left alone', () => {
    const value = { 'a "1": 2': 'x \\" 3.5, {"n": 4}', '5': ['\\', '"6"', '7\\'] };
    expect(parseExact(JSON.stringify(value))).toEqual(value);
  });

  test('any JSON value has the same text after reading and writing, numbers included', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(stringifyExact(parseExact(text)))).toEqual(JSON.parse(text));
        expect(stringifyExact(value)).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  test('undefined fields are left out, as JSON.stringify does', () => {
    expect(stringifyExact({ a: undefined, b: [undefined], c: null })).toBe('{"b":[null],"c":null}');
  });

  test.each(['', '{', '{"a": 01}', '{"a": 1.}', '1 2', "{'a': 1}"])(
    '%j is refused as JSON.parse refuses it',
    (text) => {
      expect(() => parseExact(text)).toThrow(SyntaxError);
    },
  );

  test('a string of two million characters is read', () => {
    const long = 'x1"\\'.repeat(500_000);
    expect(parseExact(JSON.stringify({ long }))).toEqual({ long });
  });
});
