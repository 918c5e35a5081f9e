const SECOND = 1_000;
const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

const POLLS = [5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE];

/** Two weeks of hourly polls. */
const HOURLY_POLLS = 14 * 24;

/** ms to wait before poll number `n` (from 0) of a transaction that is not final: then hourly, after two weeks daily. */
export function pollDelay(n: number): number {
  return POLLS[n] ?? slowDelay(n - POLLS.length);
}

/** ms before read number `n` (from 0) of those that come hourly at first. */
export function slowDelay(n: number): number {
  return n < HOURLY_POLLS ? HOUR : 24 * HOUR;
}

/** After this long without a final answer an operator is asked to look; polling goes on. */
export const OPERATOR_AFTER_MS = 24 * HOUR;

/** A parked event is looked after for as long as the service would have sent it again. */
export const GIVEN_UP_AFTER_MS = 24 * HOUR;

/** ms: while the service rejects our credentials, a mended key is noticed within this time. */
export const REJECTED_LOOK_MS = 15 * MINUTE;

/**
 * ms between attempts while the service rejects our credentials:
 * slow enough not to hammer, quick enough that a mended key heals within minutes.
 */
export function parkedDelay(n: number): number {
  return Math.min(REJECTED_LOOK_MS, 15 * SECOND * 2 ** Math.min(n, 10));
}

/** About a day of the quickest of {@link parkedDelay}. */
const PARKED = 100;

/** The same for what may stay so for years: hourly after a day, and daily after two weeks more. */
export function parkedOrSlowDelay(n: number): number {
  return n < PARKED ? parkedDelay(n) : slowDelay(n - PARKED);
}

/**
 * ms before the same request is sent again after an answer nobody could read or believe: 1 s, doubling to
 * 15 min. Each round costs a dozen history events, so a window of 20 h must not hold a thousand of them.
 */
export function resendDelay(n: number): number {
  return Math.min(15 * MINUTE, SECOND * 2 ** Math.min(n, 10));
}

/** Waits between the POSTs that ask again about `provider_network_error`: 4 more within 10 minutes. */
export const NETWORK_ERROR_REPOSTS_MS = [15 * SECOND, 45 * SECOND, 3 * MINUTE, 6 * MINUTE];
/** A failure by `provider_network_error` that still stands after this long is taken as a decline. */
export const NETWORK_ERROR_BELIEVED_AFTER_MS = HOUR;
/** `provider_error` is read once after this long before it is believed. */
export const PROVIDER_ERROR_READ_AFTER_MS = 5 * SECOND;
