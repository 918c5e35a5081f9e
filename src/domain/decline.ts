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
