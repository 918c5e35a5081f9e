import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { Retryable } from '../../src/contract/charge.js';
import { retryableBy } from '../../src/domain/decline.js';
import { FINAL_CATEGORIES } from './records.js';

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

  test.each<[string, Retryable]>([
    ['provider_request_error', 'newReference'],
    ['provider_error', 'newReference'],
    ['payment_method_error', 'newCard'],
    ['payment_method_not_supported', 'newCard'],
    ['provider_authentication_error', 'nobody'],
    ['request_not_supported_by_provider', 'nobody'],
    ['blocked_by_decision_engine', 'nobody'],
  ])(
    'after %s is told by the category alone where the sub-category says nothing of the card',
    (category, retryable) => {
      for (const subCategory of [undefined, 'insufficient_funds', 'declined_by_issuing_bank', 'of_tomorrow']) {
        expect(retryableBy(category, subCategory)).toBe(retryable);
      }
    },
  );

  test('is anybody with a new reference after a category that nobody knows yet', () => {
    const unknown = fc.string().filter((category) => !(FINAL_CATEGORIES as readonly string[]).includes(category));
    fc.assert(
      fc.property(unknown, (category) => {
        expect(retryableBy(category, undefined)).toBe('newReference');
      }),
    );
  });
});
