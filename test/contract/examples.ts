import type { z } from 'zod';
import type { ChargeInput } from '../../src/contract/charge.js';
import { faultsOf } from '../../src/contract/fields.js';

export interface Schema {
  safeParse(value: unknown): z.ZodSafeParseResult<unknown>;
}

/** What a schema finds wrong with a value; nothing when it takes it. */
export function faults(schema: Schema, value: unknown): string[] {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : faultsOf(parsed.error);
}

export const TOKEN = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';

/** The least that a charge needs. */
export const MINIMAL: ChargeInput = {
  reference: 'order-1001',
  amount: 1095,
  currency: 'USD',
  paymentMethod: { type: 'tokenized', token: TOKEN },
};

/** Values that are no amount, each with a name for the test's title. */
export const NO_AMOUNTS: readonly [name: string, value: unknown][] = [
  ['zero', 0],
  ['negative zero', -0],
  ['a negative number', -1],
  ['a fraction', 10.95],
  ['2^53', 2 ** 53],
  ['-2^53', -(2 ** 53)],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['a string', '1095'],
  ['a bigint', 1095n],
  ['null', null],
  ['nothing', undefined],
  ['an object', { amount: 1095 }],
];

export const NO_CURRENCIES: readonly unknown[] = ['usd', 'US', 'USDT', 'XXX', 'XTS', 'ABC', '', ' USD', 840, null];

export const NO_REFERENCES: readonly unknown[] = [
  '',
  'a'.repeat(51),
  'order 1001',
  'order.1001',
  'order/1001',
  'órder',
  'order-1001\n',
  '\norder-1001',
  'a:b',
  1001,
  null,
];
