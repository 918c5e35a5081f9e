import { decimalToMinorUnits, minorUnitsToDecimal } from '../domain/money.js';
import { isCurrency } from '../contract/currencies.js';
import { NumberLiteral, parseExact, stringifyExact } from './exact-json.js';

/** Every API version of the payment service, oldest first. */
export const API_VERSIONS = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];

/** What differs between API versions. The rest of the client speaks one shape, that of the newest version. */
export interface VersionRules {
  /** Amounts are decimals in major units, not integers in minor units. */
  readonly decimalAmounts: boolean;
  /** The token and the CVV stand at the root of the body instead of in `payment_method`. */
  readonly tokenAtRoot: boolean;
  /** Shape of `three_d_secure_attributes`. */
  readonly threeDSecure: 'flat' | 'nested';
  /** Lengths of country codes that are taken (ISO 3166-1 alpha-2, alpha-3). */
  readonly countryLengths: readonly number[];
}

export const VERSION_RULES: Readonly<Record<ApiVersion, VersionRules>> = {
  '1.0.0': { decimalAmounts: true, tokenAtRoot: true, threeDSecure: 'flat', countryLengths: [2, 3] },
  '1.1.0': { decimalAmounts: false, tokenAtRoot: false, threeDSecure: 'flat', countryLengths: [3] },
  '1.2.0': { decimalAmounts: false, tokenAtRoot: false, threeDSecure: 'flat', countryLengths: [3] },
  '1.3.0': { decimalAmounts: false, tokenAtRoot: false, threeDSecure: 'nested', countryLengths: [3] },
};

/** Makes something once for each version: building a schema costs far more than using it. */
export function perVersion<T>(make: (rules: VersionRules, version: ApiVersion) => T): (version: ApiVersion) => T {
  const made = new Map<ApiVersion, T>();
  return (version) => {
    const known = made.get(version);
    if (known !== undefined) return known;
    const fresh = make(VERSION_RULES[version], version);
    made.set(version, fresh);
    return fresh;
  };
}

/** A body that can't be carried over to or from a version; `faults` name the fields by their wire paths. */
export class VersionFault extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('; '));
  }
}

/**
 * The text of a request body for one version.
 * @param body in the shape of the newest version, wire names, amounts in minor units
 * @param currency of the amounts, where the body does not name it (only version 1.0.0 needs to know)
 * @throws VersionFault
 */
export function encodeBody(body: Record<string, unknown>, version: ApiVersion, currency?: string): string {
  const rules = VERSION_RULES[version];
  const placed = rules.tokenAtRoot ? tokenToRoot(body) : body;
  if (!rules.decimalAmounts) return JSON.stringify(placed);
  const decimals = mapMoney(placed, currency, (value, unit) => {
    if (typeof value !== 'number') return value;
    if (unit === undefined) throw new RangeError('needs the currency option at API version 1.0.0');
    return new NumberLiteral(minorUnitsToDecimal(value, unit));
  });
  return stringifyExact(decimals);
}

/**
 * An answer of one version in the shape of the newest, amounts in minor units. An amount of version 1.0.0
 * whose currency is known neither from the body nor from `currency` is left out: it can't be read exactly.
 * @throws SyntaxError when the text is not JSON; VersionFault when an amount is no whole number of minor units
 */
export function decodeBody(text: string, version: ApiVersion, currency?: string): unknown {
  if (!VERSION_RULES[version].decimalAmounts) return JSON.parse(text);
  const body = mapMoney(parseExact(text), currency, (value, unit) => {
    if (!(value instanceof NumberLiteral)) return value;
    if (unit === undefined) return undefined;
    if (!isCurrency(unit)) throw new RangeError('is in a currency that is not in ISO 4217');
    return decimalToMinorUnits(value.text, unit);
  });
  return plainNumbers(body);
}

function tokenToRoot(body: Record<string, unknown>): Record<string, unknown> {
  const { payment_method: method, ...rest } = body;
  if (typeof method !== 'object' || method === null) return body;
  const { token, credit_card_cvv: cvv } = method as Record<string, unknown>;
  return { payment_method_token: token, ...(cvv === undefined ? {} : { credit_card_cvv: cvv }), ...rest };
}

const MONEY_FIELDS: ReadonlySet<string> = new Set([
  'amount',
  'unit_price',
  'sub_total',
  'tax_amount',
  'first_payment_amount',
  'remaining_payments_amount',
]);

/** Carried through as they are: their numbers follow rules of others, or are no money. */
const OPAQUE_FIELDS: ReadonlySet<string> = new Set([
  'additional_details',
  'addendums',
  'provider_data',
  'provider_specific_data',
  'three_d_secure_attributes',
]);

type Convert = (value: unknown, currency: string | undefined) => unknown;

/** Converts every money field; the nearest `currency` around a field is its currency. */
function mapMoney(tree: unknown, currency: string | undefined, convert: Convert): unknown {
  const faults: string[] = [];
  const walk = (node: unknown, unit: string | undefined, path: string): unknown => {
    if (Array.isArray(node)) return node.map((item, index) => walk(item, unit, `${path}${index}.`));
    if (typeof node !== 'object' || node === null || node instanceof NumberLiteral) return node;
    const own = (node as Record<string, unknown>)['currency'];
    const inner = typeof own === 'string' && own !== '' ? own : unit;
    const fields = Object.entries(node).map(([key, value]): [string, unknown] => {
      if (OPAQUE_FIELDS.has(key)) return [key, value];
      if (!MONEY_FIELDS.has(key)) return [key, walk(value, inner, `${path}${key}.`)];
      try {
        return [key, convert(value, inner)];
      } catch (error) {
        faults.push(`${path}${key}: ${error instanceof Error ? error.message : 'can not be converted'}`);
        return [key, undefined];
      }
    });
    return Object.fromEntries(fields);
  };
  const mapped = walk(tree, currency, '');
  if (faults.length > 0) throw new VersionFault(faults);
  return mapped;
}

/** What is not money may be a float again. */
function plainNumbers(node: unknown): unknown {
  if (node instanceof NumberLiteral) return Number(node.text);
  if (Array.isArray(node)) return node.map(plainNumbers);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, plainNumbers(value)]));
}
