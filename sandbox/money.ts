import { decimalPlaces } from './currencies.js';

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Converts minor units to a decimal in major units without trailing zeros: 1095 USD is `10.95`, 2000 USD `20`. */
export function toDecimal(minorUnits: number, currency: string): string {
  const places = decimalPlaces(currency);
  const digits = String(Math.abs(minorUnits)).padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places);
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '');
  return `${minorUnits < 0 ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * Converts a decimal in major units to exact minor units by moving the point in its digits, never through a float.
 * @returns a fault for a fraction of the minor unit, or for a number too large to be exact
 */
export function toMinorUnits(decimal: string, currency: string): number | { fault: string } {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(decimal) ?? [];
  if (whole === '') return { fault: 'is no decimal number' };
  const digits = whole + fraction;
  const point = whole.length + Number(exponent) + decimalPlaces(currency);
  if (/[1-9]/.test(digits.slice(Math.max(0, point)))) {
    return { fault: `has a fraction of the smallest unit of ${currency}` };
  }
  const minorUnits = point <= 0 ? '0' : digits.slice(0, point).padEnd(point, '0');
  if (BigInt(minorUnits) > BigInt(Number.MAX_SAFE_INTEGER)) return { fault: 'is too large' };
  const value = Number(minorUnits);
  return sign === '-' && value !== 0 ? -value : value;
}
