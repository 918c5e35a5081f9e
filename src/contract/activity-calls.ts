import type { PaymentInput } from './payment-input.js';

/**
 * Where the service of a business unit is asked. The name of a unit may mean another app id on another worker, or the other
 * environment: there the payment is not to be found, and a lost capture would look like one that is refused.
 */
export interface UnitCall {
  businessUnit: string;
  /** Where the flow's payment was made (see `PaymentRecord`), once that is known; a worker that asks elsewhere sends nothing. */
  madeUnder?: string | undefined;
}

/** Travels with every POST that carries an idempotency key. */
export interface KeyedCall extends UnitCall {
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

/** Checked where the units are configured, before anything is sent. */
export interface PaymentTerms {
  /** To be risk-analysed: the payment is created under the unit's risk unit. */
  risk?: true;
  /** A card on file is used, or is to be put there: API version 1.2.0 or later. */
  storedCard?: true;
  /** ms after the authorization; a unit whose holds are shorter can't wait that long. */
  captureDeadlineMs?: number;
}

export interface CreatePaymentCall extends KeyedCall {
  payment: Omit<PaymentInput, 'reference' | 'businessUnit'>;
  additionalDetails: Record<string, string>;
  /** What the unit has to offer for what follows; absent where a charge alone does. */
  terms?: PaymentTerms;
}

export interface GetTransactionCall extends UnitCall {
  paymentId: string;
  /** Of the payment: API version 1.0.0 writes decimals and names no currency beside them. */
  currency: string;
  transactionId: string;
}

export interface PaymentCall extends UnitCall {
  /** A run made by a reset asks. It comes back in the answer, so that a replay decides by what was so when it was asked. */
  afterReset?: true;
  paymentId: string;
}

export interface ListTransactionsCall extends PaymentCall {
  currency: string;
}
