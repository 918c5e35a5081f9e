/**
 * Metadata of a payload that was decrypted by our own codec, which sets it, and takes it off whatever came in clear: who can
 * write to Temporal and has none of our keys can't carry it.
 */
export const SEALED_METADATA = 'holdfast-sealed';

/** A symbol, since no JSON can hold one. */
const SEALED = Symbol.for('holdfast.sealed');

/** The value, marked as one that came encrypted. Its fields, and what JSON makes of it, stay as they are. */
export function markSealed<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.defineProperty(value, SEALED, { value: true });
  return value;
}

/** Whether a decoded value came encrypted under a key of ours. */
export function isSealed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, SEALED) === true;
}
