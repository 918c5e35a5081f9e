import type { TransactionStatus } from './statuses.js';

/** Kinds of transaction that exist under a payment, as the ledger and the event types name them. */
export const TRANSACTION_KINDS = ['charge', 'authorization', 'capture', 'void', 'refund', 'credit'] as const;
export type TransactionKind = (typeof TRANSACTION_KINDS)[number];

/** A payment as an activity returns it: what flows rely on, never the raw answer. */
export interface PaymentRecord {
  paymentId: string;
  /** Minor units. */
  amount: number;
  currency: string;
  /** `unknown` where the service does not say. */
  status: string;
  requestId?: string;
  /** Environment and app id of the worker that made or read it, such as `live/shop-1`. */
  madeUnder?: string;
  /**
   * ms that the call took, set only by a local try. Measured there because the workflow's own clock
   * stands still during a task; the flow uses it to keep both local tries inside its first task.
   */
  localMs?: number;
  /** Only where terms were asked for: the unit that the payment was created under. */
  businessUnit?: string;
  /** Only there: how long its provider holds an authorization, in ms. */
  holdMs?: number;
  /** What the service offers to do next, such as `Capture` and `Void`; only where it was read. */
  nextActions?: string[];
  /** By the unit's setting, the rest of a hold may be voided after a partial capture; only where it was read. */
  voidAfterPartialCapture?: true;
  /** Of the flow that made it, as the service echoes it; only where it was read. */
  holdfastWorkflowId?: string;
  /** A run made by a reset has read it. */
  afterReset?: true;
}

/** Something to show the buyer, such as a voucher to pay in cash with. */
export interface TransactionDocument {
  href?: string;
  descriptor?: string;
  contentType?: string;
  /** At most 1 KB: longer ones are left out. */
  content?: string;
}

/** The card that a transaction was made with, as a receipt shows it. */
export interface TransactionCard {
  /** Its brand, such as `VISA`. */
  vendor?: string;
  last4Digits?: string;
  /** `MM/YYYY`. */
  expirationDate?: string;
}

/** What the provider says of a transaction, for people and books: no flow decides by it. */
export interface TransactionDetails {
  /** ISO 8601 UTC. */
  createdAt?: string;
  /** The provider's own words. */
  description?: string;
  authorizationCode?: string;
  /** The provider's own id of this transaction. */
  providerTransactionId?: string;
  externalId?: string;
  documents?: TransactionDocument[];
  card?: TransactionCard;
  additionalInformation?: Record<string, string>;
  /** What was left out, since it holds card data or is too long, such as `documents.0.content`. */
  omitted?: string[];
}

/** A transaction as an activity returns it. `raw_response` and card data are left out on purpose. */
export interface TransactionRecord {
  transactionId: string;
  status: TransactionStatus;
  /** The word of the service for it, where that is none of these: it is taken for `Pending`. */
  unknownStatus?: string;
  category?: string;
  subCategory?: string;
  description?: string;
  /** Texts of the service that were left out, by name: card data was found in them. */
  omitted?: string[];
  /** Minor units. Absent where the service does not say (void). */
  amount?: number;
  /** Often absent on the wire. */
  currency?: string;
  reconciliationId?: string;
  /** Our idempotency key as echoed in `additional_details`, where the service echoes it. */
  holdfastKey?: string;
  provider?: string;
  responseCode?: string;
  redirectUrl?: string;
  /** Refunds only: which capture was given back. */
  captureId?: string;
  /** Consent id for card on file; kept whole even where it reads like a card number. */
  consentTransactionId?: string;
  details?: TransactionDetails;
  requestId?: string;
}

/** A risk analysis. `status` follows the decision: `Succeed` approve, `Pending` review, `Failed` decline. */
export interface RiskAnalysisRecord extends TransactionRecord {
  decision?: 'approve' | 'review' | 'decline';
  score?: number;
}
