/**
 * What the sandbox remembers. Records are never changed in place: a changed one replaces the old one in its
 * table, so that a request that fails halfway leaves memory as it was. Times are epoch milliseconds of the
 * sandbox's own clock, amounts are integer minor units.
 */

export type Environment = 'test' | 'live';
export type ResultStatus = 'Succeed' | 'Failed' | 'Pending';
export type PaymentStatus = 'Initialized' | 'Pending' | 'Authorized' | 'Captured' | 'Refunded' | 'Voided';
export type MoneyKind = 'authorization' | 'capture' | 'charge' | 'credit' | 'refund' | 'void';
export type TransactionKind = MoneyKind | 'risk-analysis';
export type TokenState = 'valid' | 'created' | 'used' | 'assigned';
export type JsonObject = Record<string, unknown>;

/** How a business unit's side of the service behaves where the documentation leaves a choice open. */
export interface Profile {
  /** Two POSTs share an idempotency key only on one path (`path`), or anywhere in the business unit (`unit`). */
  key_scope: 'path' | 'unit';
  /** Whether a replayed key still has to pass the checks of payment state and token. */
  state_checks: 'after_key_lookup' | 'before_key_lookup';
  /** What a second request meets while the first with its key is still being served. */
  same_key_in_flight: 'wait' | 'conflict';
  /** Lists leave out transactions younger than this. */
  list_lag_ms: number;
  echo_reconciliation_id: boolean;
  echo_additional_details: boolean;
  /** Replays a stored `provider_network_error` instead of asking the provider again. */
  replay_network_errors: boolean;
  /**
   * Whether the provider refuses to capture more than was authorized, or to refund more than was captured; or takes no
   * notice of the amount that a capture or refund names, and moves the whole.
   */
  sums: 'unchecked' | 'strict' | 'ignored';
  /** Whether a hold's end is seen on the payment, or only by a capture that fails. */
  expired_hold: 'voids_payment' | 'fails_capture';
  /** Whether a payment whose hold was voided or has expired takes another authorization. */
  reauthorization: 'refused' | 'allowed';
  /**
   * Whether what a capture has left of the hold can be voided; it is then offered as a next action. `cancels`: it is
   * offered as well, and gives back what was captured too.
   */
  partial_capture_void: 'refused' | 'allowed' | 'cancels';
  /**
   * Whether a charge, credit or capture that pends can be voided; `Void` is then offered as a next action. `too_late`:
   * the void succeeds, and what pends ends as it would have without it.
   */
  pending_void: 'refused' | 'allowed' | 'too_late';
  /** Whether the provider declines a later card-on-file transaction that does not name this card's consent. */
  consent_ids: 'unchecked' | 'strict';
  /** Under which name `provider_data` carries the consent id, which can differ by provider. */
  consent_id_field: string;
  /** What `POST /payments` under a used key does; by default what was observed at each API version. */
  repeated_payment: 'by_version' | 'first_answer' | 'updates';
  /** Where the interface's description differs from what was observed: which of both is done. */
  reading: 'observed' | 'interface';
  /** Whether it has the calls and fields that are known by observation only, or nothing but what the interface names. */
  offers: 'all' | 'interface';
}

export interface BusinessUnit {
  appId: string;
  privateKey: string;
  publicKey: string;
  accountId: string;
  providerConfigurationId: string;
  created: number;
  /** May send full card details (`untokenized` cards). */
  saqD: boolean;
  profile: Profile;
}

/** The fields of a payment that its creator chose; replaced as a whole by PUT. */
export interface PaymentContent {
  amount: number;
  currency: string;
  customer_id?: string | undefined;
  additional_details?: Record<string, string> | undefined;
  statement_soft_descriptor?: string | undefined;
  order?: JsonObject | undefined;
  shipping_address?: JsonObject | undefined;
  billing_address?: JsonObject | undefined;
  addendums?: JsonObject | undefined;
}

export interface Payment {
  id: string;
  appId: string;
  env: Environment;
  created: number;
  modified: number;
  status: PaymentStatus;
  content: PaymentContent;
  /** The provider's id, the same for every transaction of one payment. */
  externalId: string;
  /** In the order of their creation. */
  transactionIds: readonly string[];
  /** When the provider lets go of the funds that the latest authorization holds. */
  holdUntil?: number;
}

export interface TransactionResult {
  status: ResultStatus;
  category?: string;
  sub_category?: string;
  description?: string;
  /** What pends is shown under this word, which no interface names. */
  shownAs?: string;
}

/** How and when a pending transaction ends on its own. */
export interface Settlement {
  at: number;
  result: TransactionResult;
}

interface Redirection {
  id: string;
  created: number;
  merchantSiteUrl: string;
}

export interface Transaction {
  id: string;
  kind: TransactionKind;
  paymentId: string;
  appId: string;
  env: Environment;
  created: number;
  amount: number;
  currency: string;
  result: TransactionResult;
  providerData: JsonObject;
  /** The request that made it; webhooks name it. */
  requestId: string;
  /** Where the payment goes back to when the transaction fails. */
  paymentStatusBefore: PaymentStatus;
  paymentMethod?: JsonObject;
  /** Details of the payment method, shown by GET only. */
  paymentMethodDetails?: JsonObject;
  tokenId?: string;
  /** Outcome the mock provider gives this card or method. */
  trigger: MockOutcome;
  settlement?: Settlement;
  idempotencyKey?: string;
  reconciliationId?: string;
  additionalDetails?: Record<string, string>;
  threeDSecureAttributes?: JsonObject;
  installments?: JsonObject;
  ipAddress?: string;
  redirection?: Redirection;
  /** Shown once it has succeeded: later transactions with the stored card name it. */
  consentId?: string;
  /** Of a refund: the capture it gives back, and why. */
  captureId?: string;
  reason?: string;
  /** Of a risk analysis: what the request said, shown again by its answers. */
  echo?: JsonObject;
}

/** What the mock provider makes of a transaction; `late` pends for a day, `refused` is what it can't do. */
export type MockOutcome =
  'succeed' | 'failed' | 'pending_succeed' | 'pending_succeed_late' | 'pending_failed' | 'invalid_card' | 'refused';

/** A card token. The card number itself is never kept: only what the mock provider and the answers need. */
export interface Token {
  token: string;
  appId: string;
  env: Environment;
  created: number;
  state: TokenState;
  fingerprint: string;
  trigger: MockOutcome;
  card: CardFields;
  additionalDetails?: Record<string, string>;
  billingAddress?: JsonObject;
  /** The customer it is stored with. */
  customerId?: string;
  /** Its first card-on-file transaction was declined. */
  consentDeclined?: boolean;
}

/** A merchant's customer. A deleted one keeps its reference only: a look-up by that differs from one never used. */
export interface Customer {
  id: string;
  appId: string;
  env: Environment;
  created: number;
  modified: number;
  reference: string;
  deleted: boolean;
  content: CustomerContent;
  /** Tokens of the stored cards, in the order of their storing. */
  tokens: readonly string[];
}

interface CustomerContent {
  first_name?: string | undefined;
  last_name?: string | undefined;
  email?: string | undefined;
  additional_details?: Record<string, string> | undefined;
  shipping_address?: JsonObject | undefined;
}

export interface CardFields {
  holder_name: string;
  last_4_digits: string;
  bin_number: string;
  pass_luhn_validation: boolean;
  vendor: string;
  issuer: string;
  card_type: string;
  level: string;
  country_code: string;
  expiration_date?: string;
}

/** What an idempotency key stands for. The first answer is kept beside it on disk, as text. */
export interface RememberedKey {
  scope: string;
  expires: number;
  resource: 'payment' | 'token' | 'customer' | TransactionKind;
  resourceId: string;
  status: number;
  /** API version of the stored answer. */
  version?: string;
}
