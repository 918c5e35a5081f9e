import { isSealed } from './sealed.js';

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
