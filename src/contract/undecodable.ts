/**
 * What stands in for a payload that can't be read. It is a value and not an error, because an error
 * thrown while a message is decoded would fail the workflow task again and again: one bad signal from
 * outside would wedge a flow that holds money.
 */
export const UNDECODABLE_KEY = 'holdfastUndecodable';

export const UNDECODABLE_REASONS = [
  /** Encrypted under a key that is not in the key ring: the key was removed too early, or never added. */
  'unknown key id',
  /** The key is known but the bytes are not what was encrypted. */
  'authentication failed',
  'malformed',
  /** Written by another converter; nothing here reads it. */
  'unknown encoding',
] as const;
export type UndecodableReason = (typeof UNDECODABLE_REASONS)[number];

export interface Undecodable {
  holdfastUndecodable: UndecodableReason;
}

export function undecodable(reason: UndecodableReason): Undecodable {
  return { [UNDECODABLE_KEY]: reason };
}

/**
 * True for a value that could not be decoded. Start input of this kind is `InvalidInput`, a message is
 * counted and ignored, and the result of an activity counts as no answer.
 */
export function isUndecodable(value: unknown): value is Undecodable {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, UNDECODABLE_KEY);
}
