import { WIRE_DETAILS } from '../src/contract/names.js';
import type { PaymentRecord, TransactionRecord } from '../src/contract/transaction.js';
import type { Payment, ProviderAnswer, Transaction } from '../src/provider/index.js';
import { starCardNumbers } from '../src/domain/card-numbers.js';

/** What flows rely on, and no more: a history is no place for raw answers. */
export function paymentRecord({ data, requestId }: ProviderAnswer<Payment>): PaymentRecord {
  return {
    paymentId: data.id,
    amount: data.amount,
    currency: data.currency,
    status: data.status,
    ...(requestId !== undefined && { requestId }),
  };
}

export function transactionRecord(data: Transaction, requestId: string | undefined): TransactionRecord {
  const holdfastKey = data.additionalDetails?.[WIRE_DETAILS.key];
  return {
    transactionId: data.id,
    status: data.status,
    ...(data.category !== undefined && { category: data.category }),
    ...(data.subCategory !== undefined && { subCategory: data.subCategory }),
    // A provider's own words: the one field that could carry a card number into a history.
    ...(data.description !== undefined && { description: starCardNumbers(data.description) }),
    ...(data.amount !== undefined && { amount: data.amount }),
    ...(data.currency !== undefined && { currency: data.currency }),
    ...(data.reconciliationId !== undefined && { reconciliationId: data.reconciliationId }),
    ...(holdfastKey !== undefined && { holdfastKey }),
    ...(data.providerName !== undefined && { provider: data.providerName }),
    ...(data.responseCode !== undefined && { responseCode: data.responseCode }),
    ...(data.redirection !== undefined && { redirectUrl: data.redirection.url }),
    ...(requestId !== undefined && { requestId }),
  };
}
