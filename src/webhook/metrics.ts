import { Counter, Histogram, type Registry } from 'prom-client';
import type { Rejection } from './read-request.js';
import type { UnusableField } from './transaction-event.js';

/** `late`: its flow had ended. `notFound`: no flow of that reference was started (yet). `unavailable`: not known. */
export type EventResult = 'delivered' | 'late' | 'unrouted' | 'notFound' | 'unavailable' | 'overloaded';

export interface WebhookMetrics {
  received(): void;
  rejected(reason: Rejection | 'cutOff' | 'error'): void;
  verified(event: { eventType: string; version: string; previousKey: boolean; created: string }): void;
  unusable(field: UnusableField): void;
  finished(event: { eventType: string; version: string; result: EventResult; seconds: number }): void;
}

// Closed lists, so that no sender can make series without end.
const RESOURCES = 'payment|authorization|charge|capture|refund|void|credit|risk-analysis';
const KNOWN_TYPE = new RegExp(`^payment\\.(${RESOURCES})\\.(create|update)$`);
const KNOWN_VERSIONS: ReadonlySet<string> = new Set(['1.2.0', '1.3.0']);

/** Registers the handler's metrics in `registry`. Throws when they are there already. */
export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry];
  const received = new Counter({
    name: 'holdfast_webhook_received_total',
    help: 'Requests to the webhook address, whatever became of them',
    registers,
  });
  const rejected = new Counter({
    name: 'holdfast_webhook_rejected_total',
    help: 'Requests refused before any event was read from them, by reason',
    labelNames: ['reason'],
    registers,
  });
  const verified = new Counter({
    name: 'holdfast_webhook_verified_total',
    help: 'Events whose signature fits, by type, version and the key that made it (current or previous)',
    labelNames: ['type', 'version', 'key'],
    registers,
  });
  const unusable = new Counter({
    name: 'holdfast_webhook_unusable_fields_total',
    help: 'Signed values that could not be used and were left out of their event, by field',
    labelNames: ['field'],
    registers,
  });
  const events = new Counter({
    name: 'holdfast_webhook_events_total',
    help: 'Verified events by what became of them, type and version',
    labelNames: ['result', 'type', 'version'],
    registers,
  });
  const lag = new Histogram({
    name: 'holdfast_webhook_lag_seconds',
    help: 'From the creation of an event at the service to its arrival here',
    buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400],
    registers,
  });
  const duration = new Histogram({
    name: 'holdfast_webhook_delivery_seconds',
    help: 'Time taken to make a verified event durable, by result',
    labelNames: ['result'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  return {
    received: () => received.inc(),
    rejected: (reason) => rejected.inc({ reason }),
    verified: ({ eventType, version, previousKey, created }) => {
      verified.inc({ ...labels(eventType, version), key: previousKey ? 'previous' : 'current' });
      const age = (Date.now() - Date.parse(created)) / 1000;
      // The service's clock may be ahead of ours.
      if (Number.isFinite(age)) lag.observe(Math.max(0, age));
    },
    unusable: (field) => unusable.inc({ field }),
    finished: ({ eventType, version, result, seconds }) => {
      events.inc({ ...labels(eventType, version), result });
      duration.observe({ result }, seconds);
    },
  };
}

function labels(eventType: string, version: string): { type: string; version: string } {
  return {
    type: KNOWN_TYPE.test(eventType) ? eventType : 'other',
    version: KNOWN_VERSIONS.has(version) ? version : 'other',
  };
}
