import type { Environment } from './records.js';

/** Webhook endpoints and deliveries: kept like every record, never changed in place. */

/** Up to 1.0.1 events are unsigned and only point at what changed; from 1.2.0 on they are signed and carry it. */
export type WebhookVersion = '1.0.0' | '1.0.1' | '1.2.0' | '1.3.0';

export interface WebhookEndpoint {
  id: string;
  url: string;
  version: WebhookVersion;
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
  version: WebhookVersion;
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
