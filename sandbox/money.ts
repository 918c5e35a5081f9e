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

/**
 * ISO 4217 codes in use, and a few withdrawn ones: a service may still have payments in those, but no flow may start
 * one. The sandbox has its own table since it shares no code with what it tests. `Intl`'s table changes with Node.
 */
const PLACES: ReadonlyMap<string, number> = new Map([
  ...places(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
  ...places(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...places(4, 'CLF UYW'),
  ...places(2, 'CUC HRK SLL ZWL'),
  ...places(
    2,
    'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC ' +
      'CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES ' +
      'KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR ' +
      'NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT ' +
      'TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG',
  ),
]);
const TWO = 2;

export function isCurrency(code: string): boolean {
  return PLACES.has(code);
}

/** Decimal places of the currency's minor unit: USD 2, JPY 0, KWD 3. */
export function decimalPlaces(currency: string): number {
  return PLACES.get(currency) ?? TWO;
}

function places(count: number, codes: string): [string, number][] {
  return codes.split(' ').map((code) => [code, count]);
}
