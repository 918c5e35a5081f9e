import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../contract/time-units.js';

const POLLS = [5 * SECOND_MS, 15 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS];

/** Two weeks of hourly polls. */
const HOURLY_POLLS = 14 * 24;

/** ms before poll number `n` (from 0) of a transaction that is not final: `POLLS`, then hourly, later daily. */
export function pollDelay(n: number): number {
  return POLLS[n] ?? slowDelay(n - POLLS.length);
}

/** ms before read number `n` (from 0): hourly, after two weeks daily. */
export function slowDelay(n: number): number {
  return n < HOURLY_POLLS ? HOUR_MS : 24 * HOUR_MS;
}

/** ms. A POST that is answered later tells of a slow service: far above what it needs for a card. */
export const SLOW_CALL_MS = 3 * SECOND_MS;

/** ms. With less than this left a capture or void, and the reads before it, go before all other calls. */
export const NEAR_DEADLINE_MS = HOUR_MS;

/** After this long without a final answer, an operator is asked; polling continues. */
export const OPERATOR_AFTER_MS = 24 * HOUR_MS;

/** A parked event is retried for as long as the service would have resent it. */
export const GIVEN_UP_AFTER_MS = 24 * HOUR_MS;

/** ms: longest time until a corrected key is noticed while the service rejects our credentials. */
export const REJECTED_LOOK_MS = 15 * MINUTE_MS;

/**
 * ms between attempts while the service rejects our credentials: slow enough to spare the service, fast enough to
 * notice a corrected key within minutes.
 */
export function parkedDelay(n: number): number {
  return Math.min(REJECTED_LOOK_MS, 15 * SECOND_MS * 2 ** Math.min(n, 10));
}

/** About a day of {@link parkedDelay}. */
const PARKED = 100;

/** Like {@link parkedDelay} for states that may last for years: hourly after a day, and daily after two more weeks. */
export function parkedOrSlowDelay(n: number): number {
  return n < PARKED ? parkedDelay(n) : slowDelay(n - PARKED);
}

/**
 * ms before resending a request whose answer could not be read or believed: 1 s, doubling to 15 min. Each attempt adds
 * a dozen history events, so a 20 h window must not contain a thousand of them.
 */
export function resendDelay(n: number): number {
  return Math.min(15 * MINUTE_MS, SECOND_MS * 2 ** Math.min(n, 10));
}

/** Waits between the POSTs repeated after `provider_network_error`: 4 more within 10 minutes. */
export const NETWORK_ERROR_REPOSTS_MS = [15 * SECOND_MS, 45 * SECOND_MS, 3 * MINUTE_MS, 6 * MINUTE_MS];
/** A `provider_network_error` that lasts this long counts as a decline. */
export const NETWORK_ERROR_BELIEVED_AFTER_MS = HOUR_MS;
/** `provider_error` is believed after one more read, made after this long. */
export const PROVIDER_ERROR_READ_AFTER_MS = 5 * SECOND_MS;
/** Where the service offers no such read, the POST is repeated this long after that is known. */
export const PROVIDER_ERROR_REPOST_AFTER_MS = SECOND_MS;

/** The service forgets an idempotency key after 24 h; 4 h are reserved for clock differences and calls in progress. */
export const KEY_WINDOW_MS = 20 * HOUR_MS;
/** `encrypted_cvv` is valid for 3 h; a charge with one may not be sent later than this. */
export const CVV_WINDOW_MS = 2.5 * HOUR_MS;

/** Epoch ms after which no POST of this operation may be sent (money rule 4). `anchor` is epoch ms. */
export function postUntil(anchor: number, carriesCvv: boolean): number {
  return anchor + (carriesCvv ? CVV_WINDOW_MS : KEY_WINDOW_MS);
}

/**
 * ms by which the clocks of a worker and of the engine may differ. A window that is not much longer is kept by the engine
 * alone: the worker, which looks at its own clock, would send nothing.
 */
export const WINDOW_MARGIN_MS = 180_000;
