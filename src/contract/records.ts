import type { DeclineTable } from './declines.js';
import type { TransactionStatus } from './statuses.js';

/** Kinds of transaction of a payment, named as in the ledger and in event types. */
export const TRANSACTION_KINDS = ['charge', 'authorization', 'capture', 'void', 'refund', 'credit'] as const;
export type TransactionKind = (typeof TRANSACTION_KINDS)[number];

/** Kinds that belong to one payment, in the order in which they are made. */
export const LISTED_KINDS = [
  'authorization',
  'charge',
  'capture',
  'refund',
  'void',
] as const satisfies TransactionKind[];
export type ListedKind = (typeof LISTED_KINDS)[number];

/** Kind of a line of a statement: money that a card holder has had taken back. No transaction of ours. */
export const CHARGEBACK = 'chargeback';

/** A payment as activities return it: the fields that flows use, never the raw answer. */
export interface PaymentRecord {
  paymentId: string;
  /** Minor units. */
  amount: number;
  currency: string;
  /** `unknown` if the service doesn't say. */
  status: string;
  requestId?: string;
  /** Environment and app id of the worker that created or read it, such as `live/shop-1`. */
  madeUnder?: string;
  /**
   * Duration of the call in ms, set only by a local attempt. Measured there because the workflow's clock stands still
   * during a task; the flow uses it to keep both local attempts inside its first task.
   */
  localMs?: number;
  /** Only if the call had terms: the unit under which the payment was created. */
  businessUnit?: string;
  /** Only if the call had terms: how long the unit's provider holds an authorization, in ms. */
  holdMs?: number;
  /** Operations that the service offers next, such as `Capture` and `Void`. Set by reads only. */
  nextActions?: string[];
  /** By the unit's setting, the rest of a hold may be voided after a partial capture. Set by reads only. */
  voidAfterPartialCapture?: true;
  /** Workflow id of the flow that created it, as echoed by the service. Set by reads only. */
  holdfastWorkflowId?: string;
  /** A reset run read this. */
  afterReset?: true;
  /** By the reference book, an earlier flow of the same reference and input, which Temporal may have forgotten, made it. */
  ofEarlierFlow?: true;
  /** A restore may have lost what the flow did before this was read, and before `doubtUntil` (epoch ms). */
  afterRestore?: true;
  doubtUntil?: number;
  /** Its business unit has endpoints for notifications. */
  notifies?: true;
  /** Only if its business unit has a table of declines. */
  declines?: DeclineTable;
  /** Its business unit limits what it sends to cards. */
  limitsOutgoing?: true;
  /** The service shows a chargeback of it. Set by reads only. */
  disputed?: true;
}

/** What the runs before a reset have sent and been told for the holds of a flow. Only histories tell that. */
export interface SentBefore {
  /** When each call was sent first (epoch ms), by the operation and the sequence of its key, such as `void:2`. */
  firstSent: Readonly<Record<string, number>>;
  /** The commands that they accepted, by their ids: when first (epoch ms), and whether they were answered. */
  commands: Readonly<Record<string, { name: string; at: number; answered: boolean }>>;
  /** One of them was to be cancelled. */
  cancelled: boolean;
  /** One of them has told how it ended. */
  hasEnded?: true;
  /** False if no history of such a run is kept: then nothing is known. */
  isKept: boolean;
}

/** A document for the buyer, such as a voucher for paying in cash. */
export interface TransactionDocument {
  href?: string;
  descriptor?: string;
  contentType?: string;
  /** At most 1 KB: longer ones are left out. */
  content?: string;
}

/** The card of a transaction, as shown on a receipt. */
export interface TransactionCard {
  /** Its brand, such as `VISA`. */
  vendor?: string;
  last4Digits?: string;
  /** `MM/YYYY`. */
  expirationDate?: string;
}

/**
 * The provider's details of a transaction, for people and bookkeeping. No flow decides by them, but for one: after a reset
 * a hold that is found lasts since it was created.
 */
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
  /** Names of parts that were left out because they hold card data or are too long, such as `documents.0.content`. */
  omitted?: string[];
}

/** A transaction as activities return it. `raw_response` and card data are left out on purpose. */
export interface TransactionRecord {
  transactionId: string;
  status: TransactionStatus;
  /** The service's status if it is none of these; `status` is then `Pending`. */
  unknownStatus?: string;
  category?: string;
  subCategory?: string;
  description?: string;
  /** Names of the service's texts that were left out because they contain card data. */
  omitted?: string[];
  /** Minor units. undefined if the service doesn't say (void). */
  amount?: number;
  /** The service often omits it. */
  currency?: string;
  reconciliationId?: string;
  /** Our idempotency key, if the service echoes it in `additional_details`. */
  holdfastKey?: string;
  provider?: string;
  responseCode?: string;
  redirectUrl?: string;
  /** Refunds only: the refunded capture. */
  captureId?: string;
  /** Consent id for card on file. Never masked, even if it looks like a card number. */
  consentTransactionId?: string;
  details?: TransactionDetails;
  requestId?: string;
  /**
   * It may end otherwise yet: an earlier try under its key has had no answer, and the service may ask its provider again when that
   * one arrives. Set where nothing else is final.
   */
  earlierTryOpen?: true;
  /** Authorizations and risk analyses only: a restore may have lost what the flow did before this was sent or read. */
  afterRestore?: true;
}

/** A payment, and the lists of its transactions that the service has answered. */
export interface PaymentAndTransactions {
  payment: PaymentRecord;
  lists: Partial<Record<ListedKind, TransactionRecord[]>>;
  /** ms after which those that are missing may be asked for again. */
  retryAfterMs?: number;
}

/** A risk analysis. `status` corresponds to the decision: `Succeed` approve, `Pending` review, `Failed` decline. */
export interface RiskAnalysisRecord extends TransactionRecord {
  decision?: 'approve' | 'review' | 'decline';
  score?: number;
}

/** A customer as activities return it: its ids, without personal data. */
export interface CustomerRecord {
  customerId: string;
  /** The merchant's own id of the customer. */
  customerReference: string;
  /** Network tokens need an e-mail address. */
  hasEmail?: true;
  requestId?: string;
}

/**
 * A token or stored card as activities return it: enough to charge it and to distinguish it. The holder's name and
 * address are left out on purpose.
 */
export interface PaymentMethodRecord {
  token: string;
  /** `credit_card`, `card_cvv_code` or `billing_agreement`; other values are possible. */
  tokenType?: string;
  /** `created`, `used`, `assigned`, `valid`; other values are possible. undefined before API version 1.2.0. */
  state?: string;
  /** Equal fingerprints mean equal card numbers. */
  fingerprint?: string;
  binNumber?: string;
  last4Digits?: string;
  /** `MM/YYYY`. */
  expirationDate?: string;
  vendor?: string;
  cardType?: string;
  /** The issuer's country, ISO 3166-1 alpha-3. */
  countryCode?: string;
  issuer?: string;
  /** Level of card benefits, such as `CORPORATE`. */
  level?: string;
  /** True if the card number has a valid check digit. */
  passesLuhn?: boolean;
  /** When the service created the token or stored the card: ISO 8601 UTC. */
  createdAt?: string;
  customerId?: string;
  requestId?: string;
}
