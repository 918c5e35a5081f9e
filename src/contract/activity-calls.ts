import type { ParsedChargeInput } from './charge.js';

/** Travels with every POST that carries an idempotency key. */
export interface KeyedCall {
  businessUnit: string;
  /** See `idempotency-key.ts`. */
  key: string;
  /** Epoch ms. The activity refuses to send later than this (money rule 4). */
  postUntil: number;
  /**
   * True when an earlier attempt under this key may already have reached the service, as far as the
   * workflow can know. Then a 4xx is not believed (money rule 5).
   */
  mayHaveLeft: boolean;
  /** Survives a reset while the run id changes: that is how the activity knows that it is in a reset run. */
  originalRunId: string;
}

export interface CreatePaymentCall extends KeyedCall {
  payment: Pick<ParsedChargeInput, 'amount' | 'currency' | 'statementSoftDescriptor' | 'customerId' | 'order'>;
  additionalDetails: Record<string, string>;
}

export interface GetTransactionCall {
  businessUnit: string;
  paymentId: string;
  /** Of the payment: API version 1.0.0 writes decimals and names no currency beside them. */
  currency: string;
  transactionId: string;
}

/** A read of what belongs to the whole business unit. */
export interface UnitCall {
  businessUnit: string;
}

export interface PaymentCall extends UnitCall {
  paymentId: string;
}

export interface ListTransactionsCall extends PaymentCall {
  currency: string;
}

export interface GetRedirectionCall extends PaymentCall {
  redirectionId: string;
}

export interface UpdatePaymentCall extends PaymentCall {
  /** PUT replaces the payment: every field is sent again. */
  payment: CreatePaymentCall['payment'];
  additionalDetails: Record<string, string>;
}
