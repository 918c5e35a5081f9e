import type { Environment } from './records.js';

/** Webhook endpoints and deliveries: like all records, they are never changed in place. */

/** Up to 1.0.1 events are unsigned and only link the changed resource; from 1.2.0 on they are signed and contain it. */
export type WebhookVersion = '1.0.0' | '1.0.1' | '1.2.0' | '1.3.0';

export interface WebhookEndpoint {
  id: string;
  url: string;
  version: WebhookVersion;
  appIds: readonly string[];
  env: Environment;
  /** Event types; `*` matches any characters. */
  events: readonly string[];
  /** Fields (dotted paths) omitted from `data`, by event type pattern. */
  filters: Readonly<Record<string, readonly string[]>>;
  created: number;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'given_up' | 'lost' | 'cancelled';

/** Delivery of one event to one endpoint. The body is stored beside it on disk. */
export interface Delivery {
  id: string;
  endpointId: string;
  /** Fixed when the event is created: changing the endpoint does not redirect deliveries in progress. */
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
  /** How many more times it is sent after acknowledgement (fault `repeat_event`). */
  repeats: number;
  nextAt: number;
  /** A receiver has taken it, also if it was sent again since. */
  wasTaken?: boolean;
  /** When it was last sent again by hand. */
  resentAt?: number;
  lastStatus?: number;
  lastError?: string;
}
