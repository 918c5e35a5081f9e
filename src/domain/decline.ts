import type { Retryable } from '../contract/charge.js';

const HARD_SUB_CATEGORIES = new Set(['lost_stolen_card', 'transaction_denied_by_cardholder']);
const CARD_SUB_CATEGORIES = new Set(['invalid_card_cvv']);
const NEVER = new Set([
  'provider_authentication_error',
  'request_not_supported_by_provider',
  'blocked_by_decision_engine',
]);
const OTHER_CARD = new Set(['payment_method_error', 'payment_method_not_supported']);

/**
 * How a declined payment may be retried: with the same card under a new reference (soft decline), with another card
 * only (hard decline), or not until someone changes something. Sub-categories come with any category, so they are
 * checked first. `consents`: this was the card's first card-on-file transaction. A card whose first one was declined
 * must be neither stored nor used again, even after a soft decline.
 */
export function retryableBy(category: string, subCategory: string | undefined, consents = false): Retryable {
  if (subCategory !== undefined && HARD_SUB_CATEGORIES.has(subCategory)) return 'newCard';
  if (subCategory !== undefined && CARD_SUB_CATEGORIES.has(subCategory)) return 'newCard';
  if (NEVER.has(category)) return 'nobody';
  if (OTHER_CARD.has(category)) return 'newCard';
  return consents ? 'newCard' : 'newReference';
}

/** A declined payment, confirmed or not. `at`: epoch ms. */
export interface DeclinedTry {
  token: string;
  at: number;
}

/** The lowest limit of the card schemes: each further attempt on a declined card within 30 days costs a fine. */
const MOST_DECLINES = 15;
const WINDOW_MS = 30 * 86_400_000;
/** Over all cards of the subscription. */
const KEPT_TRIES = 200;

/** The declines that still count at `now`, oldest first. */
export function declinedTriesAt(tries: readonly DeclinedTry[] | undefined, now: number): DeclinedTry[] {
  return (tries ?? []).filter(({ at }) => at > now - WINDOW_MS).slice(-KEPT_TRIES);
}

/** When the card may be charged again (epoch ms); undefined if it may be charged now. */
export function cardFreeAt(tries: readonly DeclinedTry[] | undefined, token: string, now: number): number | undefined {
  const card = token.toLowerCase();
  const ofCard = declinedTriesAt(tries, now).filter((one) => one.token.toLowerCase() === card);
  const oldest = ofCard.at(-MOST_DECLINES);
  return oldest === undefined ? undefined : oldest.at + WINDOW_MS;
}
