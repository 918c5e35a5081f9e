import type { KeyedCall } from './activity-calls.js';
import type { BuyerInput } from './payment-input.js';

/** What every call that makes a transaction carries beside its own fields. */
export interface CreateTransactionCall extends KeyedCall {
  paymentId: string;
  /** Of the payment: API version 1.0.0 writes decimals and names no currency beside them. */
  currency: string;
  /** Voids and risk analyses have none on the wire. */
  reconciliationId?: string;
  additionalDetails: Record<string, string>;
  /**
   * Ids of transactions of this kind that belong to other intents, noted before the first POST. A run made
   * by a reset never takes one of them for its own, unless it echoes the key.
   */
  knownTransactionIds?: string[];
  /** Ids that a read showed just before the first POST, whoever made them. */
  notedTransactionIds?: string[];
  /** In a run made by a reset: it is not sent, and none adopted, where the payment is shown as captured. */
  unlessCaptured?: true;
}

export interface CreateChargeCall extends CreateTransactionCall {
  reconciliationId: string;
  charge: Omit<BuyerInput, 'redirectTimeLimit'>;
}

export interface CreateAuthorizationCall extends CreateTransactionCall {
  reconciliationId: string;
  authorization: CreateChargeCall['charge'] & {
    authorizationType?: 'pre_authorization' | 'final_authorization';
  };
}

/** Funds to a card, without relation to an earlier transaction. */
export interface CreateCreditCall extends CreateTransactionCall {
  reconciliationId: string;
  credit: Pick<BuyerInput, 'paymentMethod' | 'cardOnFile'>;
}

export interface CreateCaptureCall extends CreateTransactionCall {
  /** Minor units. Without `amount` the whole; needed from the second capture of a payment on. */
  capture: { amount?: number };
  /** Not optional: a payment may have several, and a lone one that is not known is taken for ours after a reset. */
  knownTransactionIds: string[];
}

export interface CreateRefundCall extends CreateTransactionCall {
  /** Minor units. Without `amount` the whole; `captureId` is needed where a payment has several captures. */
  refund: { amount?: number; captureId?: string; reason?: string };
  /** Not optional, as for captures. */
  knownTransactionIds: string[];
}

export type CreateVoidCall = Omit<CreateTransactionCall, 'reconciliationId'>;

/** What a risk provider may be told beyond the payment itself. */
export interface RiskDetails {
  productDescExtra1?: string | undefined;
  productDescExtra2?: string | undefined;
  productDescExtra3?: string | undefined;
  /** `yyyy/mm/dd`. */
  payerBirthday?: string | undefined;
}

/** Since API version 1.3.0. The card is named by its token only. */
export interface CreateRiskAnalysisCall extends Omit<CreateTransactionCall, 'reconciliationId'> {
  riskAnalysis: {
    /** What is to follow, such as `charge`. */
    transactionType?: string;
    paymentMethod?: { type: 'tokenized'; token: string };
    clientIpAddress?: string;
    sessionId?: string;
    deviceId?: string;
    /** By the risk provider's identifier, which ends in `_risk`. */
    providerSpecificData?: Record<string, { additionalDetails?: RiskDetails | undefined }>;
  };
}
