import { HOUR } from './schedules.js';

/** The service forgets an idempotency key after 24 h; 4 h are reserved for clock differences and calls in progress. */
export const KEY_WINDOW_MS = 20 * HOUR;
/** `encrypted_cvv` is valid for 3 h; a charge with one may not be sent later than this. */
export const CVV_WINDOW_MS = 2.5 * HOUR;

/** Epoch ms after which no POST of this operation may be sent (money rule 4). `anchor` is epoch ms. */
export function postUntil(anchor: number, carriesCvv: boolean): number {
  return anchor + (carriesCvv ? CVV_WINDOW_MS : KEY_WINDOW_MS);
}
