/** A read that lags may still show the word from before the authorization; a failed capture leaves the one of the hold. */
const HELD: ReadonlySet<string> = new Set(['Authorized', 'Initialized']);
/** A word that shows neither the hold nor the time before it: what was seen as held before is old. */
export function mayBeGone(status: string): boolean {
  return !HELD.has(status) && status !== 'unknown';
}

/** All others that the service is known to have; `unknown` stands for one that shows none. */
const OTHERS: ReadonlySet<string> = new Set(['Pending', 'Captured', 'Refunded', 'Voided', 'unknown']);

/**
 * True for a payment's status that nothing is known of, such as `PartiallyCaptured`: it shows neither that the money is held
 * nor that it is not.
 */
export function isUnknownWord(status: string): boolean {
  return !HELD.has(status) && !OTHERS.has(status);
}
