import type { Retryable } from '../contract/charge.js';
import type { DeclineKind, DeclineTable } from '../contract/declines.js';

const RETRYABLE: Readonly<Record<Exclude<DeclineKind, 'unknown'>, Retryable>> = {
  soft: 'newReference',
  hard: 'newCard',
  merchant: 'nobody',
};

/** The schemes forbid another try of such a card: no table of a unit counts for it. */
const DENIED = 'transaction_denied_by_cardholder';
/** Beside `lost_stolen_card` providers have names of their own for the same, which nobody has listed. A lost connection is none. */
const SAYS_LOST_OR_STOLEN = /stolen|pick_?up|^lost(?:_card|_or_|$)|card_(?:\w+_)?lost/;

/** Sub-categories that say something about the card, whatever category they come with. */
const SUB_CATEGORIES: ReadonlyMap<string, DeclineKind> = new Map([['invalid_card_cvv', 'hard']]);

/** No bank has judged such a payment, so no table may call it hard: it is tried again without using up a retry. */
const NOT_JUDGED = 'provider_network_error';

/** The categories of a decline by the service's interface. */
const CATEGORIES: ReadonlyMap<string, DeclineKind> = new Map([
  ['payment_method_declined', 'soft'],
  ['payment_method_error', 'hard'],
  ['payment_method_not_supported', 'hard'],
  ['provider_error', 'soft'],
  ['provider_request_error', 'soft'],
  ['two_way_authentication_failed', 'soft'],
  ['provider_authentication_error', 'merchant'],
  ['request_not_supported_by_provider', 'merchant'],
  ['blocked_by_decision_engine', 'merchant'],
]);
export const DECLINE_CATEGORIES: readonly string[] = [...CATEGORIES.keys()];

/** True if the sub-category says that the schemes forbid another try of the card. */
export function isForGood(subCategory: string): boolean {
  return subCategory === DENIED || SAYS_LOST_OR_STOLEN.test(subCategory);
}

/**
 * How a declined payment may be retried: with the same card under a new reference (soft decline), with another card
 * only (hard decline), or not until someone changes something. Sub-categories come with any category, so they are
 * checked first.
 * @param consents this was the card's first card-on-file transaction. A card whose first one was declined must be
 *   neither stored nor used again, even after a soft decline.
 * @param table what the payment's business unit says beyond the built-in table
 */
export function retryableBy(
  category: string,
  subCategory: string | undefined,
  consents = false,
  table: DeclineTable = {},
): Retryable {
  if (subCategory !== undefined && isForGood(subCategory)) return 'newCard';
  const known: DeclineKind =
    (subCategory === undefined ? undefined : kindIn(table.subCategories, SUB_CATEGORIES, subCategory)) ??
    (category === NOT_JUDGED ? 'soft' : kindIn(table.categories, CATEGORIES, category)) ??
    'unknown';
  const retryable = RETRYABLE[known === 'unknown' ? (table.unknown ?? 'soft') : known];
  return consents && retryable === 'newReference' ? 'newCard' : retryable;
}

/** The service chooses the names: one such as `constructor` must not be found on an object's prototype. */
function kindIn(
  ofUnit: Readonly<Record<string, DeclineKind>> | undefined,
  builtIn: ReadonlyMap<string, DeclineKind>,
  name: string,
): DeclineKind | undefined {
  return ofUnit !== undefined && Object.hasOwn(ofUnit, name) ? ofUnit[name] : builtIn.get(name);
}
