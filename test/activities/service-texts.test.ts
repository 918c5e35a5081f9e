import { describe, expect, test } from 'vitest';
import { readPaymentRecord, serviceTexts, transactionRecord } from '../../activities/records.js';
import { paymentSchema } from '../../src/provider/resources/payments.js';
import { transactionSchema } from '../../src/provider/resources/transactions.js';

const MEGABYTE = 'x'.repeat(1_000_000);
const ID = '11111111-1111-4111-8111-111111111111';

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

describe('an answer of a megabyte', () => {
  const transaction = {
    id: ID,
    amount: 6_000,
    currency: 'USD',
    reconciliation_id: MEGABYTE,
    capture_id: MEGABYTE,
    additional_details: { holdfast_key: MEGABYTE },
    result: { status: 'Failed', category: MEGABYTE, sub_category: MEGABYTE, description: MEGABYTE },
    redirection: { url: `https://acs.example/${MEGABYTE}` },
    provider_data: { provider_name: MEGABYTE, response_code: MEGABYTE, network_transaction_id: MEGABYTE },
  };
  const payment = {
    id: ID,
    amount: 6_000,
    currency: MEGABYTE,
    status: MEGABYTE,
    additional_details: { holdfast_workflow_id: MEGABYTE },
    possible_next_actions: Array.from({ length: 1_000 }, () => ({ action: MEGABYTE })),
  };

  test('about a transaction can be recorded, whichever text is so long, and says how it ended', () => {
    const record = transactionRecord(transactionSchema.parse(transaction), MEGABYTE);
    expect(record).toMatchObject({ transactionId: ID, status: 'Failed', amount: 6_000 });
    expect(record).not.toHaveProperty('redirectUrl');
    expect(JSON.stringify(record).length).toBeLessThan(32_768);
  });

  test('about a payment as well', () => {
    const record = readPaymentRecord({ data: paymentSchema.parse(payment), requestId: MEGABYTE } as never);
    expect(record).toMatchObject({ paymentId: ID, amount: 6_000 });
    expect(JSON.stringify(record).length).toBeLessThan(32_768);
  });

  test('that is one id is none', () => {
    expect(transactionSchema.safeParse({ ...transaction, id: MEGABYTE }).success).toBe(false);
  });

  test('keeps an address to send the buyer to whole', () => {
    const url = `https://acs.example/${'a'.repeat(8_000)}`;
    const wire = { ...transaction, redirection: { url } };
    expect(transactionRecord(transactionSchema.parse(wire), undefined)).toMatchObject({ redirectUrl: url });
  });
});
