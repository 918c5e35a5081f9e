/**
 * Metadata of a payload that our codec decrypted. The codec removes it from unencrypted payloads, so nobody without our
 * keys can forge it by writing to Temporal.
 */
export const SEALED_METADATA = 'holdfast-sealed';

/** Metadata of an unencrypted payload on a worker that refuses those (`HOLDFAST_PLAIN_PAYLOADS`). */
export const REFUSED_METADATA = 'holdfast-refused';

/** Symbols, because JSON can't contain them. */
const SEALED = Symbol.for('holdfast.sealed');
const REFUSED = Symbol.for('holdfast.refused');

/** Marks a value as received encrypted. Its fields and its JSON don't change. */
export function markSealed<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.defineProperty(value, SEALED, { value: true });
  return value;
}

export function markRefused<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.defineProperty(value, REFUSED, { value: true });
  return value;
}

/**
 * True if this worker refuses the value because it was not encrypted. Other workers may differ, so a replay must not
 * depend on it: use it only for results that no history keeps, such as the refusal of a command.
 */
export function isRefusedInClear(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, REFUSED) === true;
}

/** True if a decoded value was encrypted under one of our keys. */
export function isSealed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, SEALED) === true;
}

/** Message text for people. */
export const IN_CLEAR =
  'came in clear, and the workers refuse that (HOLDFAST_PLAIN_PAYLOADS): send it by our client, or by the CLI with the codec server';
