import { describe, expect, test } from 'vitest';
import { isCurrency, minorUnitExponent } from '../../src/contract/currencies.js';
import { decimalPlaces, isCurrency as isCurrencyOfSandbox } from '../../sandbox/money.js';

/** ISO 4217, list one, but for the currencies with two decimals. */
const NO_DECIMALS = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ');
const THREE_DECIMALS = ['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'];
const FOUR_DECIMALS = ['CLF', 'UYW'];
const TWO_DECIMALS =
  'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC ' +
  'CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES ' +
  'KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR ' +
  'NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT ' +
  'TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG';

/** Every code that could be one. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('');
const CODES = LETTERS.flatMap((one) => LETTERS.flatMap((two) => LETTERS.map((three) => one + two + three)));

test('the sandbox takes the currencies that the contract takes, with the same decimals, and some withdrawn ones', () => {
  const apart = CODES.filter((code) => isCurrency(code) !== isCurrencyOfSandbox(code));
  expect(apart).toEqual(['CUC', 'HRK', 'SLL', 'ZWL']);
  expect(apart.filter(isCurrency)).toEqual([]);
  const taken = CODES.filter(isCurrency);
  expect(taken.filter((code) => minorUnitExponent(code) !== decimalPlaces(code))).toEqual([]);
});

describe('the decimals of a currency', () => {
  test.each([
    [0, NO_DECIMALS],
    [2, TWO_DECIMALS.split(' ')],
    [3, THREE_DECIMALS],
    [4, FOUR_DECIMALS],
  ])('are %i: with another number a payment would be ten or a hundred times its sum', (exponent, codes) => {
    expect(codes.filter((code) => minorUnitExponent(code) !== exponent)).toEqual([]);
    expect(codes.filter((code) => !isCurrency(code))).toEqual([]);
  });

  test.each(['usd', 'USDT', 'XXX', '', 'US', 'BTC', ' USD', 'constructor', '__proto__'])(
    'of %j, which is no currency, are asked for in vain',
    (code) => {
      expect(isCurrency(code)).toBe(false);
      expect(() => minorUnitExponent(code)).toThrow(new RangeError(`Unknown currency code "${code}"`));
    },
  );
});
