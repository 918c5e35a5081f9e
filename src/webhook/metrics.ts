import Fastify, { type FastifyInstance } from 'fastify';
import { Counter, type CounterConfiguration, Histogram, type Registry } from 'prom-client';
import type { WaitEnd } from './await-end.js';
import { type Rejection, REJECTION_STATUS } from './read-request.js';
import type { UnusableField } from './transaction-event.js';

/**
 * `late`: the flow had ended and agrees with the event. `foreign`: the payment was not created by Holdfast, `foreignDisputed`:
 * and is charged back. `parked`: kept until its flow is found. `unrouted`: the event is of no use to any flow. `unavailable`: the outcome is not known.
 */
export type EventResult =
  'delivered' | 'late' | 'foreign' | 'foreignDisputed' | 'parked' | 'unrouted' | 'unavailable' | 'overloaded';

export interface EventKind {
  eventType: string;
  version: string;
}

export interface WebhookMetrics {
  /** Counts every request; type and version come from its headers. */
  received(headers: Readonly<Record<string, unknown>>): void;
  rejected(reason: Rejection | 'cutOff' | 'error'): void;
  /** `keyIndex` is undefined for unsigned (legacy) events. */
  verified(event: EventKind & { unit: string; keyIndex: number | undefined; created: string }): void;
  /** This process has already accepted the same event. */
  duplicate(event: EventKind): void;
  unusable(field: UnusableField): void;
  /** An event has waited for the end of its flow, or should have. */
  waited(end: WaitEnd): void;
  finished(event: EventKind & { result: EventResult; seconds: number }): void;
}

// Closed lists, so that a sender can't create unlimited series.
const RESOURCES = 'payment|authorization|charge|capture|refund|void|credit|risk-analysis';
const KNOWN_TYPE = new RegExp(`^payment\\.(${RESOURCES})\\.(create|update)$`);
const KNOWN_VERSIONS: ReadonlySet<string> = new Set(['1.0.0', '1.0.1', '1.2.0', '1.3.0']);

/** Registers the handler's metrics in `registry`. Throws when they are already registered. */
export function createWebhookMetrics(registry: Registry): WebhookMetrics {
  const registers = [registry];
  const countReceived = counted({
    name: 'holdfast_webhook_received_total',
    help: 'Requests to the webhook address, whatever became of them, by type and version as their headers say',
    labelNames: ['type', 'version'],
    registers,
  });
  const rejected = new Counter({
    name: 'holdfast_webhook_rejected_total',
    help: 'Requests refused before any event was read from them, by reason',
    labelNames: ['reason'],
    registers,
  });
  const countVerified = counted({
    name: 'holdfast_webhook_verified_total',
    help: 'Events that were believed, by type, version and the key that signed them (current, previous, none)',
    labelNames: ['type', 'version', 'key'],
    registers,
  });
  const countKeyed = counted({
    name: 'holdfast_webhook_key_uses_total',
    help: 'Events by business unit and key that signed them: current, previous-1 for the first of previousPrivateKeys...',
    labelNames: ['business_unit', 'key'],
    registers,
  });
  const duplicates = new Counter({
    name: 'holdfast_webhook_duplicates_total',
    help: 'Events that this process had taken before, by type and version',
    labelNames: ['type', 'version'],
    registers,
  });
  const unusable = new Counter({
    name: 'holdfast_webhook_unusable_fields_total',
    help: 'Signed values that could not be used and were left out of their event, by field',
    labelNames: ['field'],
    registers,
  });
  const waited = new Counter({
    name: 'holdfast_webhook_waited_total',
    help: 'Events that waited for the end of their flow, by how that ended: ended, open, released (the handler stopped), full (too many waited)',
    labelNames: ['end'],
    registers,
  });
  const countFinished = counted({
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
  // An increase is not seen of a series that begins with its first event.
  for (const reason of [...Object.keys(REJECTION_STATUS), 'cutOff', 'error']) rejected.inc({ reason }, 0);
  return {
    received: ({ 'event-type': eventType, version }) => countReceived(labels(eventType, version)),
    rejected: (reason) => rejected.inc({ reason }),
    verified: ({ eventType, version, unit, keyIndex, created }) => {
      const { type, version: known } = labels(eventType, version);
      countVerified({ type, version: known, key: keyClass(keyIndex) });
      if (keyIndex !== undefined)
        countKeyed({ business_unit: unit, key: keyIndex === 0 ? 'current' : `previous-${keyIndex}` });
      const age = (Date.now() - Date.parse(created)) / 1000;
      // The age is negative if the service's clock is ahead of ours.
      if (Number.isFinite(age)) lag.observe(Math.max(0, age));
    },
    duplicate: ({ eventType, version }) => duplicates.inc(labels(eventType, version)),
    unusable: (field) => unusable.inc({ field }),
    waited: (end) => waited.inc({ end }),
    finished: ({ eventType, version, result, seconds }) => {
      const { type, version: known } = labels(eventType, version);
      countFinished({ type, version: known, result });
      duration.observe({ result }, seconds);
    },
  };
}

/**
 * A counter that is brought up to date whenever it is read, because each change of one costs more than all else that
 * happens to most events. Only for labels from closed lists.
 */
function counted<Label extends string>(config: CounterConfiguration<Label>): (values: Record<Label, string>) => void {
  const uncounted = new Map<string, { values: Record<Label, string>; count: number }>();
  new Counter<Label>({
    ...config,
    collect() {
      for (const { values, count } of uncounted.values()) this.inc(values, count);
      uncounted.clear();
    },
  });
  return (values) => {
    const key = Object.values(values).join(' ');
    const known = uncounted.get(key);
    if (known === undefined) uncounted.set(key, { values, count: 1 });
    else known.count += 1;
  };
}

function labels(eventType: unknown, version: unknown): { type: string; version: string } {
  return {
    type: typeof eventType === 'string' && KNOWN_TYPE.test(eventType) ? eventType : 'other',
    version: typeof version === 'string' && KNOWN_VERSIONS.has(version) ? version : 'other',
  };
}

function keyClass(keyIndex: number | undefined): string {
  if (keyIndex === undefined) return 'none';
  return keyIndex === 0 ? 'current' : 'previous';
}

/**
 * `GET /metrics` on a separate port, because the webhook port is open to the payment service, which must not see the
 * metrics. Not yet listening.
 */
export function createMetricsServer(registry: Registry): FastifyInstance {
  const app = Fastify({ logger: false, forceCloseConnections: true });
  app.get('/metrics', async (_request, reply) => {
    const text = await registry.metrics();
    return reply.header('content-type', registry.contentType).send(text);
  });
  return app;
}
