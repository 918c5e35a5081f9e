/**
 * ISO 4217 codes in use and their minor-unit exponents. Not taken from `Intl`, which changes with the Node version: a
 * currency that appears or disappears would make an old history replay differently.
 */
const TWO_DECIMALS =
  'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC ' +
  'CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES ' +
  'KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR ' +
  'NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT ' +
  'TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG';
const NO_DECIMALS = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF';
const THREE_DECIMALS = 'BHD IQD JOD KWD LYD OMR TND';
const FOUR_DECIMALS = 'CLF UYW';

const EXPONENTS: ReadonlyMap<string, number> = new Map(
  [
    [TWO_DECIMALS, 2],
    [NO_DECIMALS, 0],
    [THREE_DECIMALS, 3],
    [FOUR_DECIMALS, 4],
  ].flatMap(([codes, exponent]) =>
    (codes as string).split(' ').map((code): [string, number] => [code, exponent as number]),
  ),
);

export function isCurrency(code: string): boolean {
  return EXPONENTS.has(code);
}

/**
 * Decimal places of a currency's minor unit (USD 2, JPY 0, KWD 3).
 * @throws RangeError for a code that is not in ISO 4217; callers validate with {@link isCurrency} first.
 */
export function minorUnitExponent(code: string): number {
  const exponent = EXPONENTS.get(code);
  if (exponent === undefined) throw new RangeError(`Unknown currency code "${code}"`);
  return exponent;
}
