import type { Fault } from './fault-record.js';
import type { Environment, Profile } from './records.js';
import type { DeliveryStatus, WebhookVersion } from './webhook-records.js';

/** Requests and answers of the control API. */

export interface FaultInput {
  action: Fault['action'];
  method?: string;
  path?: string;
  reconciliation_id?: string;
  status?: number | string;
  retry_after_s?: number;
  category?: string;
  sub_category?: string;
  shown_as?: string;
  documents?: Fault['documents'];
  delay_ms?: number;
  probability?: number;
  times?: number;
  after?: boolean;
}

export interface EndpointInput {
  id?: string;
  url: string;
  version?: WebhookVersion;
  app_id?: string;
  app_ids?: readonly string[];
  env?: Environment;
  events?: readonly string[];
  filters?: readonly string[] | Readonly<Record<string, readonly string[]>>;
}

export interface UnitInput {
  app_id: string;
  private_key?: string;
  public_key?: string;
  account_id?: string;
  saq_d?: boolean;
  profile?: Partial<Profile>;
}

export interface UnitView {
  app_id: string;
  /** The key itself in the answer that created or changed the unit, otherwise `set`. */
  private_key: string;
  public_key: string;
  account_id: string;
  saq_d: boolean;
  profile: Profile;
}

export interface DeliveryView {
  id: string;
  status: DeliveryStatus;
  attempts: number;
  event_type: string;
  event_id: string;
  url: string;
  version: string;
  app_id: string;
  env: Environment;
  payment_id: string;
  transaction_id: string | null;
  reconciliation_id: string | null;
  request_id: string;
  created: string;
  next_at: string | null;
  last_status: number | null;
  last_error: string | null;
}

export interface Health {
  status: 'ok';
  now: string;
  clock_offset_ms: number;
  pending_ms: number;
  resend_first_ms: number;
  event_delay_ms: number;
  hold_ms: number;
  event_order: 'kept' | 'parallel';
  payments: number;
  transactions: number;
  faults: number;
  deliveries: number;
}

export interface CardInput {
  cardNumber: string;
  holderName?: string;
  expirationDate?: string;
  cvv?: string;
  publicKey?: string;
  apiVersion?: string;
  env?: Environment;
  idempotencyKey?: string;
}
