import { minorUnitExponent } from '../contract/currencies.js';

/** The number grammar of JSON. Exponents matter: many services print 10950000.0 as `1.095E7`. */
const DECIMAL = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Far more digits than any safe integer, but few enough that a hostile `1e999999999` costs nothing. */
const MAX_DIGITS = 400;

/**
 * Minor units as a decimal in major units: 1095 USD is `10.95`, 1095 JPY `1095`, 5 KWD `0.005`. Works on digits, never
 * on floats.
 * @throws RangeError for an amount that is not a safe integer, or a currency that is not in ISO 4217.
 */
export function minorUnitsToDecimal(amount: number, currency: string): string {
  const exponent = minorUnitExponent(currency);
  if (!Number.isSafeInteger(amount)) throw new RangeError(`${amount} is not a whole, safe number of minor units`);
  const sign = amount < 0 ? '-' : '';
  const digits = String(Math.abs(amount)).padStart(exponent + 1, '0');
  if (exponent === 0) return sign + digits;
  return `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}

/**
 * Exact minor units of a decimal: `10.95` USD is 1095, and so are `1.095E1` and `10.950`. Never rounds.
 * @param decimal a number as JSON writes it, as text
 * @throws RangeError if the text is not such a number, has a fraction of a minor unit (`10.955` USD), is beyond the
 * safe integers, or the currency is not in ISO 4217.
 */
export function decimalToMinorUnits(decimal: string, currency: string): number {
  const exponent = minorUnitExponent(currency);
  const parts = DECIMAL.exec(decimal);
  if (parts === null) throw new RangeError(`${JSON.stringify(decimal.slice(0, 40))} is not a decimal number`);
  const [, sign = '', whole = '', fraction = '', power = '0'] = parts;
  const digits = whole + fraction;
  const shift = exponent - fraction.length + Number(power);
  if (digits.length > MAX_DIGITS || Math.abs(shift) > MAX_DIGITS) {
    throw new RangeError(`${decimal.slice(0, 40)} has too many digits for an amount in ${currency}`);
  }
  const factor = 10n ** BigInt(Math.abs(shift));
  const value = shift >= 0 ? BigInt(digits) * factor : BigInt(digits) / factor;
  if (shift < 0 && BigInt(digits) % factor !== 0n) {
    throw new RangeError(`${decimal.slice(0, 40)} holds a fraction of the minor unit of ${currency}`);
  }
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`${decimal.slice(0, 40)} ${currency} is beyond the amounts that can be held exactly`);
  }
  return sign === '-' && value !== 0n ? -Number(value) : Number(value);
}

/** "10.95 USD": for people only, never parsed. `amount` is in minor units. */
export function showMoney(amount: number, currency: string): string {
  return `${minorUnitsToDecimal(amount, currency)} ${currency}`;
}
