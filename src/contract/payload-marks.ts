/**
 * Replaces a payload that can't be decoded. A value instead of an error, because an error thrown while decoding a
 * message would fail the workflow task again and again. The code that reads the value decides.
 */
export const UNDECODABLE_KEY = 'holdfastUndecodable';

export const UNDECODABLE_REASONS = [
  /** Encrypted under a key that is not in the key ring: removed too early, or never added. */
  'unknown key id',
  /** The key is known, but decryption fails: another key has the same id, or the bytes were altered. */
  'authentication failed',
  /** Encrypted in a format that this version doesn't know. */
  'unknown format',
  'malformed',
  /** Written by a converter that Holdfast doesn't know. */
  'unknown encoding',
] as const;
export type UndecodableReason = (typeof UNDECODABLE_REASONS)[number];

/** Reasons that another worker, with other keys or a later version, may not have for the same bytes. */
const READABLE_ELSEWHERE: readonly UndecodableReason[] = ['unknown key id', 'authentication failed', 'unknown format'];

/** Short, so that a key pasted in place of an id is refused instead of printed. */
export const KEY_ID = /^[A-Za-z0-9_.-]{1,32}$/;

export interface Undecodable {
  holdfastUndecodable: UndecodableReason;
  keyId?: string;
}

/** @param keyId the payload's own key id; left out if it isn't a valid key id */
export function undecodable(reason: UndecodableReason, keyId?: string): Undecodable {
  return { [UNDECODABLE_KEY]: reason, ...(keyId !== undefined && KEY_ID.test(keyId) && { keyId }) };
}

/** True for a value that could not be decoded. */
export function isUndecodable(value: unknown): value is Undecodable {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, UNDECODABLE_KEY);
}

/**
 * True for a value that another worker may be able to decode. The flow must not continue with it: another worker would
 * decide differently, so the history would not replay. Our codec's mark distinguishes it from unencrypted text that
 * only looks like this; otherwise anyone could block a flow with such text.
 */
export function isReadableElsewhere(value: unknown): value is Undecodable {
  return isUndecodable(value) && isSealed(value) && READABLE_ELSEWHERE.includes(value.holdfastUndecodable);
}

/** Text for people, such as `unknown key id "k2"`. */
export function whyUndecodable({ holdfastUndecodable, keyId }: Undecodable): string {
  const id = typeof keyId === 'string' && KEY_ID.test(keyId) ? keyId : undefined;
  if (id === undefined) return holdfastUndecodable;
  return holdfastUndecodable === 'unknown key id' ? `unknown key id "${id}"` : `${holdfastUndecodable}, key id "${id}"`;
}

/**
 * Metadata of a payload that our codec decrypted, and that was encrypted for the flow which reads it. The codec removes
 * it from all others, so nobody without our keys can forge it by writing to Temporal, nor copy it from flow to flow.
 */
export const SEALED_METADATA = 'holdfast-sealed';

/** Metadata of any other payload on a worker that refuses those (`HOLDFAST_PLAIN_PAYLOADS`). */
export const REFUSED_METADATA = 'holdfast-refused';

/** Symbols, because JSON can't contain them. */
const SEALED = Symbol.for('holdfast.sealed');
const REFUSED = Symbol.for('holdfast.refused');

/** Marks a value as received encrypted, for this flow. Its fields and its JSON don't change. */
export function markSealed<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.defineProperty(value, SEALED, { value: true });
  return value;
}

export function markRefused<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.defineProperty(value, REFUSED, { value: true });
  return value;
}

/**
 * True if this worker refuses the value because it was not encrypted for this flow. Other workers may differ, so a replay must not
 * depend on it: use it only for results that no history keeps, such as the refusal of a command.
 */
export function isRefusedInClear(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, REFUSED) === true;
}

/** True if a decoded value was encrypted under one of our keys, for no other flow than the one that reads it. */
export function isSealed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, SEALED) === true;
}

/**
 * True if a decoded value can have the mark of {@link isSealed} and lacks it: a text or a number says neither. It came
 * in clear, or is a copy of what was encrypted for another flow.
 */
export function isInClear(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !isSealed(value);
}

/** Message text for people, of a value that {@link isInClear}. */
export const NOT_FOR_THIS_FLOW = 'came in clear, or was encrypted for another flow';

export const IN_CLEAR = `${NOT_FOR_THIS_FLOW}, and the workers refuse that (HOLDFAST_PLAIN_PAYLOADS): send it by our client, or by the CLI with the codec server`;
