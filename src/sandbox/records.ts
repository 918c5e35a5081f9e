/**
 * What the sandbox remembers. Records are never changed in place: a changed one replaces the old one in its
 * table, so that a request that fails halfway leaves memory as it was. Times are epoch milliseconds of the
 * sandbox's own clock, amounts are integer minor units.
 */

export type Environment = 'test' | 'live';
export type ResultStatus = 'Succeed' | 'Failed' | 'Pending';
export type PaymentStatus = 'Initialized' | 'Pending' | 'Authorized' | 'Captured' | 'Refunded' | 'Voided';
export type TransactionKind = 'charge';
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
}

export interface TransactionResult {
  status: ResultStatus;
  category?: string;
  sub_category?: string;
  description?: string;
}

/** How and when a pending transaction ends on its own. */
export interface Settlement {
  at: number;
  result: TransactionResult;
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
}

export type MockOutcome = 'succeed' | 'failed' | 'pending_succeed' | 'pending_failed' | 'invalid_card';

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
  resource: 'payment' | 'token' | TransactionKind;
  resourceId: string;
  status: number;
}

export interface WebhookEndpoint {
  id: string;
  url: string;
  version: '1.2.0' | '1.3.0';
  appIds: readonly string[];
  env: Environment;
  /** Event types; `*` stands for any run of characters. */
  events: readonly string[];
  /** Event type pattern to the fields (dotted paths) left out of `data`. */
  filters: Readonly<Record<string, readonly string[]>>;
  created: number;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'given_up' | 'lost' | 'cancelled';

/** One event on its way to one endpoint. The body is kept beside it on disk. */
export interface Delivery {
  id: string;
  endpointId: string;
  /** Fixed when the event was made: a changed endpoint does not redirect what is already under way. */
  url: string;
  version: string;
  appId: string;
  env: Environment;
  eventType: string;
  eventId: string;
  paymentId: string;
  transactionId?: string;
  reconciliationId?: string;
  requestId: string;
  created: number;
  status: DeliveryStatus;
  attempts: number;
  /** How many more times it is sent although it was acknowledged (fault `repeat_event`). */
  repeats: number;
  nextAt: number;
  lastStatus?: number;
  lastError?: string;
}

export type FaultAction =
  'drop_reply' | 'refuse' | 'status' | 'delay' | 'garbage' | 'result' | 'lose_event' | 'repeat_event' | 'delay_event';

/** A planted misbehaviour, as the control API takes and shows it. */
export interface Fault {
  id: string;
  action: FaultAction;
  method?: string | undefined;
  path?: string | undefined;
  reconciliation_id?: string | undefined;
  status?: number | string | undefined;
  retry_after_s?: number | undefined;
  category?: string | undefined;
  sub_category?: string | undefined;
  delay_ms?: number | undefined;
  probability: number;
  /** How often it still fires; absent: for ever. */
  times?: number | undefined;
  after?: boolean | undefined;
  /** How often it has fired. */
  fired: number;
}
