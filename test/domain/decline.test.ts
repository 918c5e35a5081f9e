import { describe, expect, test } from 'vitest';
import type { Retryable } from '../../src/contract/charge.js';
import fc from 'fast-check';
import { DECLINE_KINDS, type DeclineTable } from '../../src/contract/declines.js';
import { DECLINE_CATEGORIES, isForGood, retryableBy } from '../../src/domain/decline.js';
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

describe('a table of a business unit', () => {
  const said = (table: DeclineTable, category: string, sub?: string, consents = false): Retryable =>
    retryableBy(category, sub, consents, table);

  test('makes a soft decline hard and a hard one soft, by category or by sub-category', () => {
    const table: DeclineTable = {
      categories: { provider_error: 'hard', payment_method_error: 'soft', blocked_by_decision_engine: 'soft' },
      subCategories: { insufficient_funds: 'hard', invalid_card_cvv: 'soft', expired_card: 'merchant' },
    };
    expect(said(table, 'provider_error')).toBe('newCard');
    expect(said(table, 'payment_method_error')).toBe('newReference');
    expect(said(table, 'blocked_by_decision_engine')).toBe('newReference');
    expect(said(table, 'payment_method_declined')).toBe('newReference');
    expect(said(table, 'payment_method_declined', 'insufficient_funds')).toBe('newCard');
    expect(said(table, 'payment_method_declined', 'expired_card')).toBe('nobody');
    // The sub-category goes first, whatever its category says.
    expect(said(table, 'provider_error', 'invalid_card_cvv')).toBe('newReference');
    expect(said(table, 'payment_method_not_supported')).toBe('newCard');
  });

  test('says how declines count that no table knows, and those that it calls unknown', () => {
    expect(said({}, 'a_category_of_tomorrow')).toBe('newReference');
    expect(said({ unknown: 'hard' }, 'a_category_of_tomorrow')).toBe('newCard');
    expect(said({ unknown: 'merchant' }, 'constructor', '__proto__')).toBe('nobody');
    expect(said({ unknown: 'hard' }, 'payment_method_declined', 'a_sub_category_of_tomorrow')).toBe('newReference');
    expect(said({ unknown: 'hard', categories: { provider_error: 'unknown' } }, 'provider_error')).toBe('newCard');
    expect(said({ categories: { payment_method_error: 'unknown' } }, 'payment_method_error')).toBe('newReference');
  });

  test('leaves a payment that no bank has judged what it is', () => {
    const table: DeclineTable = { unknown: 'hard', categories: { provider_network_error: 'hard' } };
    expect(said(table, 'provider_network_error')).toBe('newReference');
    expect(DECLINE_CATEGORIES).not.toContain('provider_network_error');
  });

  test('knows the very categories that a result can have', () => {
    expect([...DECLINE_CATEGORIES, 'a_category_of_tomorrow'].toSorted()).toEqual([...FINAL_CATEGORIES].toSorted());
  });

  test.each(['stolen_card', 'pickup_card', 'pick_up_card', 'lost_card', 'card_lost', 'lost', 'card_reported_lost'])(
    'a provider’s own name for it, %s, is for good as well',
    (sub) => {
      for (const category of FINAL_CATEGORIES) expect(said({ unknown: 'soft' }, category, sub)).toBe('newCard');
    },
  );

  test('a connection that was lost is no lost card', () => {
    expect(said({}, 'provider_error', 'connection_lost')).toBe('newReference');
    expect(said({}, 'provider_network_error', 'lost_connection')).toBe('newReference');
  });

  test('of any content lets no card be tried again that is lost, stolen or denied by its holder, nor a first one on file', () => {
    const kinds = fc.constantFrom(...DECLINE_KINDS);
    const anyTable: fc.Arbitrary<DeclineTable> = fc.record({
      categories: fc.dictionary(fc.constantFrom(...FINAL_CATEGORIES), kinds),
      subCategories: fc.dictionary(fc.constantFrom(...SUB_CATEGORIES), kinds),
      unknown: fc.constantFrom('soft' as const, 'hard' as const, 'merchant' as const),
    });
    const anySub = fc.constantFrom(undefined, ...SUB_CATEGORIES);
    fc.assert(
      fc.property(
        anyTable,
        fc.constantFrom(...FINAL_CATEGORIES),
        anySub,
        fc.boolean(),
        (table, category, sub, first) => {
          const answer = said(table, category, sub, first);
          if (sub !== undefined && isForGood(sub)) expect(answer).toBe('newCard');
          if (first) expect(answer).not.toBe('newReference');
        },
      ),
    );
  });
});
