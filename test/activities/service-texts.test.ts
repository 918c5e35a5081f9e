import { describe, expect, test } from 'vitest';
import { serviceTexts } from '../../activities/service-texts.js';

describe('texts of the service', () => {
  test.each(['card 4111 1111 1111 1111', 'CVV: 123', '４１１１１１１１１１１１１１１１'])(
    'are left out and named where card data is found in them: %s',
    (text) => {
      expect(serviceTexts({ description: text, providerDescription: 'declined' })).toEqual({
        providerDescription: 'declined',
        omitted: ['description'],
      });
    },
  );

  test('stand as they came, an absent one absent', () => {
    const description = 'order 4500000620-248713, tel. +49 1518 9520856';
    expect(serviceTexts({ description, providerDescription: undefined })).toEqual({ description });
  });

  test('are cut to 1 KB, never in the middle of a character', () => {
    for (const letter of ['a', 'é', '€', '😀']) {
      const { description = '' } = serviceTexts({ description: letter.repeat(2_000) });
      expect(Buffer.byteLength(description)).toBeLessThanOrEqual(1_024);
      expect(Buffer.byteLength(description)).toBeGreaterThan(1_020);
      expect(description.replaceAll(letter, '')).toBe('');
    }
    expect(serviceTexts({ description: `${'a'.repeat(2_000)} 4111111111111111` })).toEqual({
      omitted: ['description'],
    });
  });
});
