/**
 * Records of the sandbox. They are never changed in place: a changed record replaces the old one in its table, so that
 * a request that fails halfway leaves memory unchanged. Times are epoch milliseconds of the sandbox's own clock,
 * amounts are integer minor units.
 */

export type Environment = 'test' | 'live';
export type ResultStatus = 'Succeed' | 'Failed' | 'Pending';
export type PaymentStatus = 'Initialized' | 'Pending' | 'Authorized' | 'Captured' | 'Refunded' | 'Voided';
export type MoneyKind = 'authorization' | 'capture' | 'charge' | 'credit' | 'refund' | 'void';
export type TransactionKind = MoneyKind | 'risk-analysis';
export type TokenState = 'valid' | 'created' | 'used' | 'assigned';
export type JsonObject = Record<string, unknown>;

/** How the service behaves for a business unit where the documentation leaves a choice open. */
export interface Profile {
  /** Scope of an idempotency key: one path (`path`), or the whole business unit (`unit`). */
  key_scope: 'path' | 'unit';
  /** Whether a replayed key still has to pass the checks of payment state and token. */
  state_checks: 'after_key_lookup' | 'before_key_lookup';
  /** Whether a second request waits or is refused while the first with its key is in progress. */
  same_key_in_flight: 'wait' | 'conflict';
  /** Lists leave out transactions younger than this. */
  list_lag_ms: number;
  /** A payment, and lists, are shown as they were so long ago; a younger transaction is a 404. */
  reads_lag_ms: number;
  echo_reconciliation_id: boolean;
  echo_additional_details: boolean;
  /** Replays a stored `provider_network_error` instead of calling the provider again. */
  replay_network_errors: boolean;
  /** Whether a key that was answered `provider_error` is answered so again, or its provider is asked again. */
  provider_errors: 'replayed' | 'asked_again';
  /**
   * `strict`: the provider refuses to capture more than was authorized, or to refund more than was captured. `ignored`:
   * it ignores the amount that a capture or refund names, and moves the whole.
   */
  sums: 'unchecked' | 'strict' | 'ignored';
  /** Whether a hold's end shows on the payment, or only by a capture that fails. */
  expired_hold: 'voids_payment' | 'fails_capture';
  /** Whether a payment whose hold was voided or has expired accepts another authorization. */
  reauthorization: 'refused' | 'allowed';
  /**
   * Whether a payment that was authorized or charged takes another authorization or charge under another key, also with
   * the token that the first one has used up.
   */
  second_charge: 'refused' | 'allowed';
  /** Whether a payment takes another refund while one of its refunds pends. */
  beside_pending: 'refused' | 'allowed';
  /**
   * Whether the rest of a hold can be voided after a partial capture; `Void` is then offered as a next action.
   * `cancels`: such a void also cancels the capture.
   */
  partial_capture_void: 'refused' | 'allowed' | 'cancels';
  /**
   * Whether a pending charge, credit or capture can be voided; `Void` is then offered as a next action. `too_late`: the
   * void succeeds, but the pending transaction ends as it would have without it.
   */
  pending_void: 'refused' | 'allowed' | 'too_late';
  /** Whether the provider declines a later card-on-file transaction that does not name this card's consent. */
  consent_ids: 'unchecked' | 'strict';
  /** Field of `provider_data` that holds the consent id; it can differ by provider. */
  consent_id_field: string;
  /** What `POST /payments` under a used key does; by default as observed at each API version. */
  repeated_payment: 'by_version' | 'first_answer' | 'updates';
  /** Which applies where the interface description differs from what was observed. */
  reading: 'observed' | 'interface';
  /** `interface`: only calls and fields in the interface description. `all`: also those known by observation only. */
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

/** The fields of a payment that its creator chose; PUT replaces them as a whole. */
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
  /** Ordered by creation. */
  transactionIds: readonly string[];
  /** When the provider releases the funds of the latest authorization. */
  holdUntil?: number;
  /** The card holder has had this much taken back. */
  dispute?: { id: string; created: number; amount: number };
}

export interface TransactionResult {
  status: ResultStatus;
  category?: string;
  sub_category?: string;
  description?: string;
  /** Status word that is shown instead of `Pending`, unknown to the interface description. */
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
  /** When its present status was reached, unless that is `Pending`. */
  settled?: number;
  /** Id of the request that created it; webhooks carry it. */
  requestId: string;
  /** Status of the payment when it was made. */
  paymentStatusBefore: PaymentStatus;
  paymentMethod?: JsonObject;
  /** Details of the payment method, shown by GET only. */
  paymentMethodDetails?: JsonObject;
  tokenId?: string;
  /** Outcome the mock provider gives this card or method. */
  trigger: MockOutcome;
  settlement?: Settlement;
  /** Ended by hand after a failure that may have moved money: its key shows it as it is now. */
  answersAnew?: boolean;
  /** It has pended before it ended. */
  pended?: true;
  idempotencyKey?: string;
  reconciliationId?: string;
  additionalDetails?: Record<string, string>;
  threeDSecureAttributes?: JsonObject;
  installments?: JsonObject;
  ipAddress?: string;
  redirection?: Redirection;
  /** Shown once the transaction has succeeded: later transactions with the stored card name it. */
  consentId?: string;
  /** Of a refund: the capture that it reverses, and the reason. */
  captureId?: string;
  reason?: string;
  /** Of a risk analysis: fields of the request that its answers repeat. */
  echo?: JsonObject;
}

/** Outcome of a transaction at the mock provider; `late` is pending for a day, `refused` is an impossible request. */
export type MockOutcome =
  'succeed' | 'failed' | 'pending_succeed' | 'pending_succeed_late' | 'pending_failed' | 'invalid_card' | 'refused';

/** A card token. The card number is never stored, only what the mock provider and the answers need. */
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
  /** Id of the customer that it is stored with. */
  customerId?: string;
  /** Its first card-on-file transaction was declined. */
  consentDeclined?: boolean;
}

/** A merchant's customer. A deleted one keeps only its reference, since look-ups tell it from an unused reference. */
export interface Customer {
  id: string;
  appId: string;
  env: Environment;
  created: number;
  modified: number;
  reference: string;
  deleted: boolean;
  content: CustomerContent;
  /** Tokens of the stored cards, in the order in which they were stored. */
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

/** The resource of an idempotency key. The first answer is stored beside it on disk, as text. */
export interface RememberedKey {
  scope: string;
  expires: number;
  resource: 'payment' | 'token' | 'customer' | TransactionKind;
  resourceId: string;
  status: number;
  /** API version of the stored answer. */
  version?: string;
}
