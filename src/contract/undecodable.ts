import { isSealed } from './sealed.js';

/**
 * What stands in for a payload that can't be read. It is a value and not an error, because an error thrown while a message
 * is decoded would fail the workflow task again and again, whatever the message: whoever meets the value decides.
 */
export const UNDECODABLE_KEY = 'holdfastUndecodable';

export const UNDECODABLE_REASONS = [
  /** Encrypted under a key that is not in the key ring: the key was removed too early, or never added. */
  'unknown key id',
  /** The key is known but the bytes are not what was encrypted: another key has the same id, or somebody has altered them. */
  'authentication failed',
  /** Encrypted in a way that this version does not know. */
  'unknown format',
  'malformed',
  /** Written by another converter; nothing here reads it. */
  'unknown encoding',
] as const;
export type UndecodableReason = (typeof UNDECODABLE_REASONS)[number];

/** Those for which a worker with other keys, or of a later version, may read the very same bytes. */
const READABLE_ELSEWHERE: readonly UndecodableReason[] = ['unknown key id', 'authentication failed', 'unknown format'];

/** Short, so that a key pasted in the place of an id is not taken for one and printed. */
export const KEY_ID = /^[A-Za-z0-9_.-]{1,32}$/;

export interface Undecodable {
  holdfastUndecodable: UndecodableReason;
  keyId?: string;
}

/** @param keyId what the payload says it was encrypted with; left out where it is no id of a key */
export function undecodable(reason: UndecodableReason, keyId?: string): Undecodable {
  return { [UNDECODABLE_KEY]: reason, ...(keyId !== undefined && KEY_ID.test(keyId) && { keyId }) };
}

/** True for a value that could not be decoded. */
export function isUndecodable(value: unknown): value is Undecodable {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, UNDECODABLE_KEY);
}

/**
 * True for one that another worker may be able to read. No flow may go on with it: what was decided here without it would
 * not be decided again where it can be read, and no worker could replay that history. The mark of our codec tells it from a
 * text in clear that only looks so, with which anybody could hold up a flow.
 */
export function isReadableElsewhere(value: unknown): value is Undecodable {
  return isUndecodable(value) && isSealed(value) && READABLE_ELSEWHERE.includes(value.holdfastUndecodable);
}

/** `unknown key id "k2"`, for people. */
export function whyUndecodable({ holdfastUndecodable, keyId }: Undecodable): string {
  const id = typeof keyId === 'string' && KEY_ID.test(keyId) ? keyId : undefined;
  if (id === undefined) return holdfastUndecodable;
  return holdfastUndecodable === 'unknown key id' ? `unknown key id "${id}"` : `${holdfastUndecodable}, key id "${id}"`;
}
