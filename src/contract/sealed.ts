/**
 * Metadata of a payload that was decrypted by our own codec, which sets it, and takes it off whatever came in clear: who can
 * write to Temporal and has none of our keys can't carry it.
 */
export const SEALED_METADATA = 'holdfast-sealed';

/** Metadata of a payload that came in clear to a worker which refuses such (`HOLDFAST_PLAIN_PAYLOADS`). */
export const REFUSED_METADATA = 'holdfast-refused';

/** Symbols, since no JSON can hold one. */
const SEALED = Symbol.for('holdfast.sealed');
const REFUSED = Symbol.for('holdfast.refused');

/** The value, marked as one that came encrypted. Its fields, and what JSON makes of it, stay as they are. */
export function markSealed<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.defineProperty(value, SEALED, { value: true });
  return value;
}

export function markRefused<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.defineProperty(value, REFUSED, { value: true });
  return value;
}

/**
 * Whether this worker refuses the value because it came in clear. Another one may not, and no replay may ask: only what no
 * history keeps, such as the refusal of a command, may depend on it.
 */
export function isRefusedInClear(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, REFUSED) === true;
}

/** Whether a decoded value came encrypted under a key of ours. */
export function isSealed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, SEALED) === true;
}

/** For people. */
export const IN_CLEAR =
  'came in clear, and the workers refuse that (HOLDFAST_PLAIN_PAYLOADS): send it by our client, or by the CLI with the codec server';
