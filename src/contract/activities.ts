import type { ParsedChargeInput } from './charge.js';
import type { PaymentRecord, TransactionRecord } from './transaction.js';

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

export interface CreateChargeCall extends KeyedCall {
  paymentId: string;
  /** Of the payment: API version 1.0.0 writes decimals and names no currency beside them. */
  currency: string;
  reconciliationId: string;
  charge: Pick<ParsedChargeInput, 'paymentMethod' | 'clientIpAddress' | 'cardOnFile'>;
  additionalDetails: Record<string, string>;
}

export interface GetTransactionCall {
  businessUnit: string;
  paymentId: string;
  currency: string;
  transactionId: string;
}

export interface PaymentCall {
  businessUnit: string;
  paymentId: string;
}

export interface ListTransactionsCall extends PaymentCall {
  currency: string;
}

export interface UpdatePaymentCall extends PaymentCall {
  /** PUT replaces the payment: every field is sent again. */
  payment: CreatePaymentCall['payment'];
  additionalDetails: Record<string, string>;
}

/**
 * What workflows may ask of the world. One activity per call of the payment service, each failing only
 * with the types of `failure-types.ts`; and one look-up in the engine itself.
 */
export interface PaymentActivities {
  createPayment(call: CreatePaymentCall): Promise<PaymentRecord>;
  getPayment(call: PaymentCall): Promise<PaymentRecord>;
  updatePayment(call: UpdatePaymentCall): Promise<PaymentRecord>;
  createCharge(call: CreateChargeCall): Promise<TransactionRecord>;
  getCharge(call: GetTransactionCall): Promise<TransactionRecord>;
  listCharges(call: ListTransactionsCall): Promise<TransactionRecord[]>;
  /** Run id of an earlier run under this flow's workflow id, if there ever was one (money rule 1). */
  findEarlierRun(): Promise<string | undefined>;
  /** The payment that an earlier run of this flow (before a reset) created, if there was one. */
  findEarlierPayment(): Promise<PaymentRecord | undefined>;
  /** True when a workflow task of this run failed or timed out: its local tries may have been made before. */
  taskWasLost(): Promise<boolean>;
}

/**
 * What activities may ask of the engine. Implemented in `src/client`, handed in by `workers`, so that
 * activities depend on no Temporal client.
 */
export interface EnginePort {
  /** Run id of another run under this workflow id, if there ever was one. */
  earlierRun(workflowId: string, ownRunId: string): Promise<string | undefined>;
  /** The payment that an earlier run under this workflow id created, as its history tells. */
  earlierPayment(workflowId: string, ownRunId: string): Promise<PaymentRecord | undefined>;
  /** True when the run is still in the first try of its first workflow task: nothing can have left before. */
  inFirstTry(workflowId: string, runId: string): Promise<boolean>;
  /** True when the run's history holds a failed or timed-out workflow task. */
  taskWasLost(workflowId: string, runId: string): Promise<boolean>;
}
