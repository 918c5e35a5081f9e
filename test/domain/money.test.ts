import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { isCurrency, minorUnitExponent } from '../../src/contract/currencies.js';
import { decimalToMinorUnits, minorUnitsToDecimal } from '../../src/domain/money.js';

const LETTERS = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));
const CURRENCIES = LETTERS.flatMap((a) => LETTERS.flatMap((b) => LETTERS.map((c) => a + b + c))).filter(isCurrency);

const currency = fc.constantFrom(...CURRENCIES);
const amount = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer({ min: -100_000, max: 100_000 }),
  fc.constantFrom(0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
);

describe('minor units and decimals', () => {
  test.each([
    [1095, 'USD', '10.95'],
    [1095, 'JPY', '1095'],
    [1095, 'KWD', '1.095'],
    [1095, 'CLF', '0.1095'],
    [5, 'USD', '0.05'],
    [0, 'USD', '0.00'],
    [-5, 'USD', '-0.05'],
    [100, 'EUR', '1.00'],
    [9007199254740991, 'USD', '90071992547409.91'],
    [9007199254740991, 'KWD', '9007199254740.991'],
    [9007199254740991, 'JPY', '9007199254740991'],
  ])('%d minor units of %s are written as %s and read back', (minor, code, decimal) => {
    expect(minorUnitsToDecimal(minor, code)).toBe(decimal);
    expect(decimalToMinorUnits(decimal, code)).toBe(minor);
  });

  test('every currency keeps every safe integer through both directions', () => {
    expect(CURRENCIES.length).toBeGreaterThan(150);
    fc.assert(
      fc.property(amount, currency, (minor, code) => {
        expect(decimalToMinorUnits(minorUnitsToDecimal(minor, code), code)).toBe(minor);
      }),
      { numRuns: 5000 },
    );
    for (const code of CURRENCIES) {
      for (const minor of [1, 9, 10, 99, 100, 12345, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
        expect(decimalToMinorUnits(minorUnitsToDecimal(minor, code), code)).toBe(minor);
      }
    }
  });

  test('what is written is a JSON number with as many decimals as the currency has', () => {
    fc.assert(
      fc.property(amount, currency, (minor, code) => {
        const written = minorUnitsToDecimal(minor, code);
        expect(() => JSON.parse(written)).not.toThrow();
        expect((written.split('.')[1] ?? '').length).toBe(minorUnitExponent(code));
      }),
    );
  });

  test('the same value is read the same however it is written: trailing zeros, exponents', () => {
    fc.assert(
      fc.property(amount, currency, fc.integer({ min: 0, max: 30 }), (minor, code, shift) => {
        const written = minorUnitsToDecimal(minor, code);
        const padded = (written.includes('.') ? written : `${written}.`) + '0'.repeat(shift + 1);
        expect(decimalToMinorUnits(padded, code)).toBe(minor);
        const digits = minor === 0 ? '0' : `${minor}${'0'.repeat(shift)}`;
        expect(decimalToMinorUnits(`${digits}e-${minorUnitExponent(code) + shift}`, code)).toBe(minor);
      }),
    );
  });

  test.each([
    ['1.095E1', 'USD', 1095],
    ['1.095E7', 'USD', 1095000000],
    ['1e2', 'JPY', 100],
    ['10950e-3', 'USD', 1095],
    ['-0', 'USD', 0],
    ['-0.00', 'USD', 0],
  ])('%s %s is read as %d minor units', (decimal, code, minor) => {
    expect(decimalToMinorUnits(decimal, code)).toBe(minor);
  });

  test.each([
    ['10.955', 'USD', 'fraction of the minor unit of USD'],
    ['0.1', 'JPY', 'fraction of the minor unit of JPY'],
    ['1e-3', 'USD', 'fraction'],
    ['90071992547409.92', 'USD', 'beyond the amounts'],
    ['1e300', 'USD', 'beyond the amounts'],
    ['1e400', 'JPY', 'beyond the amounts'],
    ['1e401', 'JPY', 'too many digits'],
    [`1${'0'.repeat(399)}`, 'JPY', 'beyond the amounts'],
    [`1${'0'.repeat(400)}`, 'JPY', 'too many digits'],
    [`0.${'0'.repeat(397)}1`, 'USD', 'fraction of the minor unit of USD'],
    ['1e999999999', 'USD', 'too many digits'],
    [`0.${'0'.repeat(500)}1`, 'USD', 'too many digits'],
    ['010.95', 'USD', 'not a decimal number'],
    ['10,95', 'USD', 'not a decimal number'],
    ['.5', 'USD', 'not a decimal number'],
    ['NaN', 'USD', 'not a decimal number'],
    ['', 'USD', 'not a decimal number'],
    [' 1', 'USD', 'not a decimal number'],
    ['10.95', 'XXX', 'Unknown currency'],
  ])('%s %s is refused and never rounded', (decimal, code, message) => {
    expect(() => decimalToMinorUnits(decimal, code)).toThrow(RangeError);
    expect(() => decimalToMinorUnits(decimal, code)).toThrow(message);
  });

  test('a refusal shows the beginning of what was refused, at most 40 characters of it', () => {
    const digits = '1234567890'.repeat(5);
    const shown = digits.slice(0, 40);
    expect(() => decimalToMinorUnits(`${digits}x`, 'USD')).toThrow(
      new RangeError(`"${shown}" is not a decimal number`),
    );
    expect(() => decimalToMinorUnits(digits.repeat(10), 'USD')).toThrow(
      new RangeError(`${shown} has too many digits for an amount in USD`),
    );
    expect(() => decimalToMinorUnits(`${digits}.555`, 'USD')).toThrow(
      new RangeError(`${shown} holds a fraction of the minor unit of USD`),
    );
    expect(() => decimalToMinorUnits(digits, 'USD')).toThrow(
      new RangeError(`${shown} USD is beyond the amounts that can be held exactly`),
    );
    expect(() => minorUnitsToDecimal(10.5, 'USD')).toThrow(
      new RangeError('10.5 is not a whole, safe number of minor units'),
    );
  });

  test.each([10.5, Number.MAX_SAFE_INTEGER + 1, Number.NaN, Number.POSITIVE_INFINITY])(
    '%d is no amount in minor units and is refused',
    (value) => {
      expect(() => minorUnitsToDecimal(value, 'USD')).toThrow(RangeError);
    },
  );
});
