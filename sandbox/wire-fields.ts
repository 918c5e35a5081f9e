import { z } from 'zod';
import { invalidRequest } from './api-error.js';
import { isCountry, toAlpha2, toAlpha3 } from './countries.js';
import { toDecimal, toMinorUnits } from './money.js';
import type { JsonObject } from './records.js';
import type { VersionRules } from './versions.js';
import { WireNumber } from './wire-number.js';

/** An amount in a body: minor units, or the digits of a decimal. `minorUnits` converts both to minor units. */
export type WireAmount = number | WireNumber;

const decimal = z
  .custom<WireNumber>((value) => value instanceof WireNumber, 'must be a decimal number')
  .meta({ type: 'number' });

/** Keys of decimals in version 1.0.0: their digits must be read as written. */
export const DECIMAL_KEYS = ['amount', 'unit_price'];

/** An amount of money that moves. */
export function amountSchema(rules: VersionRules): z.ZodType<WireAmount> {
  return rules.decimalAmounts ? decimal : z.int().positive();
}

/** A price. It may be zero, or negative for a discount. */
export function priceSchema(rules: VersionRules): z.ZodType<WireAmount> {
  return rules.decimalAmounts ? decimal : z.int();
}

/** Throws the documented 400, which names the field, for a decimal that is not a whole number of minor units. */
export function minorUnits(value: WireAmount, currency: string, field: string): number {
  if (typeof value === 'number') return value;
  const minor = toMinorUnits(value.text, currency);
  if (typeof minor !== 'number') throw invalidRequest(`${field}: ${minor.fault}`);
  return minor;
}

/** Like `minorUnits`, for an amount that must be positive. */
export function positiveMinorUnits(value: WireAmount, currency: string, field: string): number {
  const minor = minorUnits(value, currency, field);
  if (minor <= 0) throw invalidRequest(`${field}: must be more than 0`);
  return minor;
}

export function showAmount(rules: VersionRules, minor: number, currency: string): WireAmount {
  return rules.decimalAmounts ? new WireNumber(toDecimal(minor, currency)) : minor;
}

/** An address; its country is stored as alpha-3. A version with alpha-2 accepts both. */
export function addressSchema(rules: VersionRules): z.ZodType<JsonObject> {
  const text = z.string().optional();
  const length = rules.countryLength;
  return z
    .looseObject({
      country: z
        .string()
        .refine(
          (code) => isCountry(code, 3) || isCountry(code, length),
          `is no ISO 3166-1 alpha-${length} country code`,
        )
        .meta({ examples: length === 2 ? ['IT', 'US'] : ['ITA', 'USA'] })
        .optional(),
      state: text,
      city: text,
      line1: text,
      line2: text,
      zip_code: text,
      title: text,
      first_name: text,
      last_name: text,
      phone: text,
      email: text,
    })
    .overwrite((address) => (address.country ? { ...address, country: toAlpha3(address.country) } : address));
}

export function showAddress(rules: VersionRules, address: JsonObject | undefined): JsonObject | undefined {
  if (address === undefined || rules.countryLength === 3) return address;
  const { country } = address;
  return typeof country === 'string' ? { ...address, country: toAlpha2(country) } : address;
}
