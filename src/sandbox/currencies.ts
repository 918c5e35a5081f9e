/** ISO 4217 codes that do not have two decimal places. */
const OTHER_THAN_TWO: ReadonlyMap<string, number> = new Map([
  ...places(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
  ...places(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...places(4, 'CLF UYW'),
]);
const CODES = new Set([...Intl.supportedValuesOf('currency'), ...OTHER_THAN_TWO.keys()]);
const TWO = 2;

export function isCurrency(code: string): boolean {
  return CODES.has(code);
}

/** Decimal places of the currency's minor unit: USD 2, JPY 0, KWD 3. */
export function decimalPlaces(currency: string): number {
  return OTHER_THAN_TWO.get(currency) ?? TWO;
}

function places(count: number, codes: string): [string, number][] {
  return codes.split(' ').map((code) => [code, count]);
}
