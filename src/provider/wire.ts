import { randomUUID } from 'node:crypto';
import { isCurrency } from '../contract/currencies.js';
import { decimalToMinorUnits, minorUnitsToDecimal } from '../domain/money.js';
import { alpha2Of, alpha3Of } from './countries.js';
import { type ApiVersion, VERSION_RULES } from './versions.js';

/** Free-form maps. Their keys are never renamed and their values never converted. */
const FREE_FORM: ReadonlySet<string> = new Set([
  'additional_details',
  'addendums',
  'card_identity',
  'provider_data',
  'provider_specific_data',
]);

/** Names whose digits have underscores on the wire. */
const WITH_DIGITS: Readonly<Record<string, string>> = { level23: 'level_2_3', last4Digits: 'last_4_digits' };
const WITHOUT_UNDERSCORES = new Map(Object.entries(WITH_DIGITS).map(([ours, theirs]) => [theirs, ours]));

/** The name of a field on the wire: `line_items` for `lineItems`. */
export function toWireName(name: string): string {
  return WITH_DIGITS[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toCallerName(wireName: string): string {
  const ours = WITHOUT_UNDERSCORES.get(wireName);
  return ours ?? wireName.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** Renames the fields of a validated request to their wire names. */
export function toWireNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWireNames);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, field]): [string, unknown] => {
    const wireName = toWireName(key);
    return [wireName, FREE_FORM.has(wireName) ? field : toWireNames(field)];
  });
  return Object.fromEntries(fields);
}

/** A wire path in the caller's names, such as `installments.firstPaymentAmount`. */
export function toCallerPath(path: string): string {
  return path.split('.').map(toCallerName).join('.');
}

/**
 * A number as its JSON text. A float can't represent 90071992547409.91, so decimal amounts must never become one.
 * (`JSON.rawJSON` and the source text in a reviver would do this, but need a newer Node than the supported one.)
 */
export class NumberLiteral {
  constructor(readonly text: string) {}
}

/** Like `JSON.stringify`, but writes every {@link NumberLiteral} as its text. */
export function stringifyExact(value: unknown): string {
  if (value instanceof NumberLiteral) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => stringifyExact(item ?? null)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${stringifyExact(field)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

/** Matches strings first, so that digits inside a string are not matched as a number. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Random, so that a body can't contain a forged marked number. */
const MARK = randomUUID();

/**
 * Like `JSON.parse`, but returns every number as a {@link NumberLiteral}.
 * @throws SyntaxError when the text is not JSON.
 */
export function parseExact(text: string): unknown {
  JSON.parse(text);
  const marked = text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `{"${MARK}":"${token}"}`));
  return JSON.parse(marked, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, MARK)) return value;
    return new NumberLiteral(String((value as Record<string, unknown>)[MARK]));
  });
}

/**
 * Replaces a decimal of API version 1.0.0 that is not a whole number of minor units. The schema refuses the answer if
 * flows decide by that amount, and leaves it out otherwise: a fee of 0.3625 USD in a new field must not turn a known
 * charge into an unknown one.
 */
export class UnreadableAmount {
  constructor(readonly reason: string) {}
}

/** A body that can't be converted to a version; `faults` name the fields by their wire paths. */
export class VersionFault extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('; '));
  }
}

type Fields = Record<string, unknown>;

/**
 * Encodes a request body for one version.
 * @param body in the shape of the newest version, with wire names and amounts in minor units
 * @param currency of the amounts if the body does not name it (needed for version 1.0.0 only)
 * @param pays whether the operation pays with the payment method of the body
 * @throws VersionFault
 */
export function encodeBody(body: Fields, version: ApiVersion, currency?: string, pays = true): string {
  const rules = VERSION_RULES[version];
  let placed = rules.tokenAtRoot && pays ? tokenToRoot(body) : body;
  if (rules.tokenTypeIsType) placed = tokenTypeToType(placed);
  if (!rules.decimalAmounts && !rules.shortCountries) return JSON.stringify(placed);
  const mapped = mapFields(placed, currency, {
    money: (value, unit) => {
      if (!rules.decimalAmounts || typeof value !== 'number') return value;
      if (unit === undefined) throw new RangeError('needs the currency option at API version 1.0.0');
      return new NumberLiteral(minorUnitsToDecimal(value, unit));
    },
    country: (code) => (rules.shortCountries && code.length === 3 ? twoLetters(code) : code),
    object: (fields) => fields,
  });
  return stringifyExact(mapped);
}

/**
 * Decodes an answer of one version into the shape of the newest, with amounts in minor units. An amount of version
 * 1.0.0 is left out if neither the body nor `currency` names its currency, because it can't be converted exactly.
 * An amount that is not a whole number of minor units becomes an {@link UnreadableAmount}.
 * @throws SyntaxError when the text is not JSON
 */
export function decodeBody(text: string, version: ApiVersion, currency?: string): unknown {
  const rules = VERSION_RULES[version];
  if (!rules.decimalAmounts) return JSON.parse(text);
  const body = mapFields(parseExact(text), currency, {
    money: (value, unit) => {
      if (!(value instanceof NumberLiteral)) return value;
      if (unit === undefined) return undefined;
      if (!isCurrency(unit)) return new UnreadableAmount('is in a currency that is not in ISO 4217');
      return amountOf(value.text, unit);
    },
    country: (code) => (rules.shortCountries ? (alpha3Of(code) ?? code) : code),
    object: (fields) => (rules.tokenTypeIsType ? typeToTokenType(fields) : fields),
  });
  return plainNumbers(body);
}

function amountOf(decimal: string, currency: string): number | UnreadableAmount {
  try {
    return decimalToMinorUnits(decimal, currency);
  } catch (error) {
    return new UnreadableAmount(error instanceof Error ? error.message : 'can not be converted');
  }
}

function tokenToRoot(body: Fields): Fields {
  const { payment_method: method, ...rest } = body;
  if (typeof method !== 'object' || method === null) return body;
  const { token, credit_card_cvv: cvv } = method as Fields;
  return { payment_method_token: token, ...(cvv === undefined ? {} : { credit_card_cvv: cvv }), ...rest };
}

function tokenTypeToType(body: Fields): Fields {
  const { token_type: type, ...rest } = body;
  return type === undefined ? body : { type, ...rest };
}

/** Renames `type` of a token, or of a payment method with a token, to `token_type`, as later versions call it. */
function typeToTokenType(fields: Fields): Fields {
  const { type, token } = fields;
  if (typeof token !== 'string' || typeof type !== 'string' || 'token_type' in fields) return fields;
  return type === 'tokenized' ? fields : { ...fields, type: 'tokenized', token_type: type };
}

function twoLetters(code: string): string {
  const short = alpha2Of(code);
  if (short === undefined) throw new RangeError(`is no country of ISO 3166-1, so it has no code of 2 letters`);
  return short;
}

const MONEY_FIELDS: ReadonlySet<string> = new Set([
  'amount',
  'unit_price',
  'sub_total',
  'tax_amount',
  'shipping_amount',
  'duty_amount',
  'discount_amount',
  'total_amount',
  'first_payment_amount',
  'remaining_payments_amount',
  // Amount limits of a supported payment method.
  'min',
  'max',
]);

const COUNTRY_FIELDS: ReadonlySet<string> = new Set([
  'country',
  'country_code',
  'originating_purchase_country',
  // Of a risk analysis.
  'merchant_country_code',
  'acquirer_country_code',
]);

interface Conversions {
  money(value: unknown, currency: string | undefined): unknown;
  country(code: string): string;
  /** Runs on each object before its fields are converted. */
  object(fields: Fields): Fields;
}

/** Converts every field that differs. The currency of a field is the nearest enclosing `currency`. */
function mapFields(tree: unknown, currency: string | undefined, conversions: Conversions): unknown {
  const faults: string[] = [];
  const convert = (key: string, value: unknown, unit: string | undefined, path: string): unknown => {
    if (FREE_FORM.has(key)) return value;
    if (!MONEY_FIELDS.has(key) && !COUNTRY_FIELDS.has(key)) return walk(value, unit, `${path}${key}.`);
    try {
      if (MONEY_FIELDS.has(key)) return conversions.money(value, unit);
      return typeof value === 'string' ? conversions.country(value) : value;
    } catch (error) {
      faults.push(`${path}${key}: ${error instanceof Error ? error.message : 'can not be converted'}`);
      return undefined;
    }
  };
  const walk = (node: unknown, unit: string | undefined, path: string): unknown => {
    if (Array.isArray(node)) return node.map((item, index) => walk(item, unit, `${path}${index}.`));
    if (typeof node !== 'object' || node === null || node instanceof NumberLiteral) return node;
    const fields = conversions.object(node as Fields);
    const own = fields['currency'];
    const inner = typeof own === 'string' && own !== '' ? own : unit;
    return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, convert(key, value, inner, path)]));
  };
  const mapped = walk(tree, currency, '');
  if (faults.length > 0) throw new VersionFault(faults);
  return mapped;
}

/** Converts numbers that are not amounts back to floats. */
function plainNumbers(node: unknown): unknown {
  if (node instanceof NumberLiteral) return Number(node.text);
  if (Array.isArray(node)) return node.map(plainNumbers);
  if (typeof node !== 'object' || node === null || node instanceof UnreadableAmount) return node;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, plainNumbers(value)]));
}
