import { createHmac, timingSafeEqual } from 'node:crypto';

/** Paths of the signed values after the event type, in the order in which the service joins them. */
const SIGNED_PATHS: readonly (readonly string[])[] = [
  ['id'],
  ['account_id'],
  ['payment_id'],
  ['created'],
  ['app_id'],
  ['data', 'id'],
  ['data', 'result', 'status'],
  ['data', 'result', 'category'],
  ['data', 'result', 'sub_category'],
  ['data', 'provider_data', 'response_code'],
  ['data', 'reconciliation_id'],
  ['data', 'amount'],
  ['data', 'currency'],
];

/** Number of commas in a signed text whose values contain none. With more commas, values could move between fields. */
export const SIGNED_TEXT_COMMAS = SIGNED_PATHS.length;

const SIGNATURE = /^sig1=([0-9a-fA-F]{64})$/;

/**
 * The 14 signed values as in the signed text: absent and null values as the empty string, strings unchanged, numbers in
 * decimal. The event type is first, then envelope and data in the service's order.
 * Throws TypeError when a signed value is an object, an array or a boolean: if it were left out, a body could be
 * changed while its signature stays valid.
 */
export function signedValues(eventType: string, body: unknown): string[] {
  return [eventType, ...SIGNED_PATHS.map((path) => render(valueAt(body, path), path))];
}

/** The text that the service signs: `signedValues` joined by commas. Throws like `signedValues`. */
export function signedText(eventType: string, body: unknown): string {
  return signedValues(eventType, body).join(',');
}

/** `sig1=<lower-case hex HMAC-SHA256>`. Throws RangeError for an empty key, with which anyone could sign. */
export function sign(text: string, privateKey: string): string {
  if (privateKey === '') throw new RangeError('the private key is empty: anyone could sign with it');
  return `sig1=${digest(text, privateKey).toString('hex')}`;
}

/**
 * Index of the key that made this signature, or undefined if none did. Accepts several keys because a rotated key stays
 * valid for events in transit. Compares in constant time and tries every key, so that response times reveal neither
 * digits nor position. An empty key never matches, nor does a text that UTF-8 can't encode.
 */
export function verify(text: string, signature: string | undefined, keys: readonly string[]): number | undefined {
  const hex = SIGNATURE.exec(signature ?? '')?.[1];
  if (hex === undefined || !survivesUtf8(text)) return undefined;
  const given = Buffer.from(hex, 'hex');
  let matched: number | undefined;
  for (const [index, key] of keys.entries()) {
    const same = timingSafeEqual(given, digest(text, key));
    if (same && key !== '' && matched === undefined) matched = index;
  }
  return matched;
}

function digest(text: string, key: string): Buffer {
  return createHmac('sha256', Buffer.from(key, 'utf8')).update(text, 'utf8').digest();
}

/** Reads own properties only, because inherited ones are not part of the body. */
function valueAt(body: unknown, path: readonly string[]): unknown {
  let value = body;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

function render(value: unknown, path: readonly string[]): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) {
    // BigInt, because String() uses exponents from 1e21 on.
    return Number.isInteger(value) ? BigInt(value).toString() : String(value);
  }
  throw new TypeError(`${path.join('.')} is neither a string nor a number, so no signature can cover it`);
}

/** A lone surrogate is encoded as U+FFFD, so two different texts could have the same signature. */
function survivesUtf8(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
