import fc from 'fast-check';
import type { TransactionEvent } from '../../src/contract/messages.js';
import type { TransactionRecord } from '../../src/contract/records.js';

export const OURS = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';

/** An event of a charge that succeeded. */
export const SUCCEEDED_EVENT: TransactionEvent = {
  hash: 'ab',
  eventType: 'payment.charge.update',
  created: '2027-01-31T10:00:00Z',
  businessUnit: 'default',
  paymentId: 'pay-1',
  transactionId: 'txn-1',
  reconciliationId: 'order-1001',
  status: 'Succeed',
  trusted: true,
};

/** Categories a result can have, by the interface of the payment service, and one that nobody knows yet. */
export const FINAL_CATEGORIES = [
  'provider_authentication_error',
  'provider_error',
  'provider_request_error',
  'payment_method_error',
  'payment_method_not_supported',
  'payment_method_declined',
  'request_not_supported_by_provider',
  'two_way_authentication_failed',
  'blocked_by_decision_engine',
  'a_category_of_tomorrow',
] as const;
export const SUB_CATEGORIES = [
  'insufficient_funds',
  'lost_stolen_card',
  'invalid_card_cvv',
  'transaction_denied_by_cardholder',
  'declined_by_issuing_bank',
] as const;

/** A field that an answer or event may leave out. */
function maybe<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined });
}

function recordOf(fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<TransactionRecord> {
  return fc.record(fields).map((all) => {
    const present = Object.entries(all).filter(([, value]) => value !== undefined);
    return Object.fromEntries(present) as unknown as TransactionRecord;
  });
}

const common = {
  transactionId: fc.constant(OURS),
  amount: maybe(fc.constant(1095)),
  currency: maybe(fc.constant('USD')),
  provider: maybe(fc.constantFrom('MockProcessor', 'Other')),
  requestId: maybe(fc.uuid()),
};
const subCategory = maybe(fc.constantFrom(...SUB_CATEGORIES));
const description = maybe(fc.constantFrom('The payment method was declined.', 'Unable to reach the provider network.'));

export const pendingRecord = recordOf({ ...common, status: fc.constant('Pending'), redirectUrl: maybe(fc.webUrl()) });
export const succeededRecord = recordOf({ ...common, status: fc.constant('Succeed') });
export const unconfirmedRecord = recordOf({
  ...common,
  status: fc.constant('Failed'),
  category: fc.constant('provider_network_error'),
  subCategory,
  description,
});
const failedRecord = recordOf({
  ...common,
  status: fc.constant('Failed'),
  category: fc.constantFrom(...FINAL_CATEGORIES),
  subCategory,
  description,
});

export const finalRecord = fc.oneof(succeededRecord, failedRecord);
export const openRecord = fc.oneof(pendingRecord, unconfirmedRecord);
export const anyRecord = fc.oneof(finalRecord, openRecord);
