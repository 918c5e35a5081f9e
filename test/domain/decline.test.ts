import { describe, expect, test } from 'vitest';
import type { Retryable } from '../../src/contract/charge.js';
import { retryableBy } from '../../src/domain/decline.js';
import { FINAL_CATEGORIES, SUB_CATEGORIES } from './records.js';

/** Who may try again where no sub-category says more. */
const BY_CATEGORY: Readonly<Record<(typeof FINAL_CATEGORIES)[number], Retryable>> = {
  provider_authentication_error: 'nobody',
  provider_error: 'newReference',
  provider_request_error: 'newReference',
  payment_method_error: 'newCard',
  payment_method_not_supported: 'newCard',
  payment_method_declined: 'newReference',
  request_not_supported_by_provider: 'nobody',
  two_way_authentication_failed: 'newReference',
  blocked_by_decision_engine: 'nobody',
  a_category_of_tomorrow: 'newReference',
};

describe('who may try a declined charge again', () => {
  test.each<[string, string | undefined, Retryable]>([
    ['payment_method_declined', undefined, 'newReference'],
    ['payment_method_declined', 'insufficient_funds', 'newReference'],
    ['payment_method_declined', 'declined_by_issuing_bank', 'newReference'],
    ['payment_method_declined', 'lost_stolen_card', 'newCard'],
    ['payment_method_declined', 'transaction_denied_by_cardholder', 'newCard'],
    ['payment_method_declined', 'invalid_card_cvv', 'newCard'],
    ['payment_method_error', undefined, 'newCard'],
    ['payment_method_not_supported', undefined, 'newCard'],
    ['provider_error', undefined, 'newReference'],
    ['two_way_authentication_failed', undefined, 'newReference'],
    ['provider_authentication_error', undefined, 'nobody'],
    ['request_not_supported_by_provider', undefined, 'nobody'],
    ['blocked_by_decision_engine', undefined, 'nobody'],
    ['a_category_of_tomorrow', undefined, 'newReference'],
    ['a_category_of_tomorrow', 'a_sub_category_of_tomorrow', 'newReference'],
  ])('after %s / %s: %s', (category, subCategory, retryable) => {
    expect(retryableBy(category, subCategory)).toBe(retryable);
  });

  test.each(['lost_stolen_card', 'transaction_denied_by_cardholder'])(
    'is never the holder of the same card after %s, whatever category it comes with',
    (subCategory) => {
      for (const category of FINAL_CATEGORIES) expect(retryableBy(category, subCategory)).not.toBe('newReference');
    },
  );

  test('is never the holder of the same card where it was the first card-on-file transaction', () => {
    for (const category of FINAL_CATEGORIES) {
      expect(retryableBy(category, undefined, true)).not.toBe('newReference');
      expect(retryableBy(category, 'insufficient_funds', true)).not.toBe('newReference');
    }
    expect(retryableBy('payment_method_declined', 'insufficient_funds', true)).toBe('newCard');
    expect(retryableBy('provider_authentication_error', undefined, true)).toBe('nobody');
  });

  test('is said for every category and sub-category that the service has, the sub-category first', () => {
    const said = (category: string): Retryable[] => SUB_CATEGORIES.map((sub) => retryableBy(category, sub));
    const card = new Set<string>(['lost_stolen_card', 'transaction_denied_by_cardholder', 'invalid_card_cvv']);
    for (const [category, otherwise] of Object.entries(BY_CATEGORY)) {
      expect(said(category)).toEqual(SUB_CATEGORIES.map((sub) => (card.has(sub) ? 'newCard' : otherwise)));
      expect(retryableBy(category, undefined)).toBe(otherwise);
    }
  });
});
