import { LRUCache } from 'lru-cache';
import type { EventSink } from '../contract/engine-port.js';
import type { TransactionEvent } from '../contract/messages.js';
import { answer, rejecter, type WebhookLogger, type WebhookResponse } from './answers.js';
import { keyRings, prove, type WebhookUnit } from './key-rings.js';
import type { EventResult, WebhookMetrics } from './metrics.js';
import { createPaymentOwners, type FindOwner, type PaymentDetails, route, type Routed } from './route.js';
import { readProven, type ProvenEvent } from './transaction-event.js';
import { readRequest, type WebhookRequest } from './read-request.js';
import { senderCheck } from '../security/senders.js';
import { traced } from './trace.js';
import { createUnsignedLimit } from './legacy.js';

export type { WebhookLogger, WebhookResponse } from './answers.js';

export interface WebhookDeps {
  /** Events of the other environment are refused even with a valid signature. */
  environment: 'test' | 'live';
  units: Iterable<WebhookUnit>;
  sink: EventSink;
  /** Reads the flow of a payment from the payment service, for events that do not name it. */
  paymentDetails: PaymentDetails;
  metrics: WebhookMetrics;
  logger: WebhookLogger;
  /** Address of the payment service. Required for units with `legacyWebhooks`: their events may only point there. */
  apiBaseUrl?: string;
  /** Addresses and ranges that may send events. Default: any. See `SERVICE_SENDERS`. */
  allowedSenders?: readonly string[];
  /** Time limit in ms for Temporal; after it the event is refused and sent again. Default 5000. */
  deliveryTimeoutMs?: number;
  /** Time limit in ms for reading a payment from the payment service. Default 1000. */
  lookUpTimeoutMs?: number;
  /** Maximum number of concurrent deliveries; further events are refused. Default 256. */
  maxInFlight?: number;
}

export type WebhookHandler = (request: WebhookRequest) => Promise<WebhookResponse>;

/** Number of recent events whose repeats are counted as duplicates. */
const REMEMBERED_EVENTS = 10_000;

/**
 * Creates the handler, which maps a request to an answer for any HTTP server. A 2xx means that Temporal has stored the
 * event or that no flow needs it; without a 2xx the service sends it again for 24 h.
 * Throws when a unit has an empty key, two units share an app id (a signature would prove nothing), a unit accepts
 * legacy webhooks without `apiBaseUrl`, or an allowed sender is not an address.
 */
export function createWebhookHandler(deps: WebhookDeps): WebhookHandler {
  const { environment, apiBaseUrl, metrics, logger, maxInFlight = 256 } = deps;
  const context = { rings: keyRings(deps.units, apiBaseUrl), environment, apiBaseUrl };
  const maySend = deps.allowedSenders === undefined ? undefined : senderCheck(deps.allowedSenders);
  const reject = rejecter(metrics, logger);
  const findOwner = createPaymentOwners(deps.paymentDetails, deps.lookUpTimeoutMs);
  const withinLimit = createUnsignedLimit();
  const seen = new LRUCache<string, true>({ max: REMEMBERED_EVENTS });
  let inFlight = 0;

  const take = async (proven: ProvenEvent): Promise<Taken> => {
    const { event } = proven;
    if (event === undefined) return { result: 'unrouted' };
    if (inFlight >= maxInFlight || (!proven.signed && !withinLimit(event))) return { result: 'overloaded' };
    inFlight += 1;
    const taken = await deliver(deps, findOwner, proven.signed, event).finally(() => (inFlight -= 1));
    // Mark the event as seen only once it is durable: after a 503 the same event is not a repeat.
    if (taken.result !== 'unavailable') seen.set(event.hash, true);
    return taken;
  };

  return async (raw) => {
    metrics.received(raw.headers);
    if (maySend?.(raw.sender) === false) return reject('sender');
    const read = readRequest(raw);
    if (!read.ok) return reject(read.rejection, read.message);
    const proof = prove(read.request, context);
    if (!proof.ok) return reject(proof.rejection, proof.message);

    const proven = readProven(read.request, proof);
    const { eventType, version, event } = proven;
    metrics.verified(proven);
    for (const field of proven.unusable) metrics.unusable(field);
    if (event !== undefined && seen.get(event.hash) === true) metrics.duplicate({ eventType, version });

    const started = performance.now();
    const taken = await traced(proven, raw.headers, take);
    metrics.finished({ eventType, version, result: taken.result, seconds: (performance.now() - started) / 1000 });
    log(logger, proven, read.request.requestId, taken);
    return answer(taken.result);
  };
}

type Taken = Omit<Routed, 'result'> & { result: EventResult };

async function deliver(
  deps: WebhookDeps,
  findOwner: FindOwner,
  signed: boolean,
  event: TransactionEvent,
): Promise<Taken> {
  try {
    return await within(deps.deliveryTimeoutMs ?? 5000, route(event, signed, { sink: deps.sink, findOwner }));
  } catch (err) {
    deps.logger.warn({ err, eventHash: event.hash }, 'Temporal did not take an event');
    return { result: 'unavailable' };
  }
}

/** Logs ids and types only: no body, header or amount. The field names are in the logger's allow-list. */
function log(logger: WebhookLogger, proven: ProvenEvent, requestId: string | undefined, taken: Taken): void {
  const { eventType, version, unit: businessUnit, unusable, event } = proven;
  const { result, workflowId, reason } = taken;
  const eventHash = event?.hash;
  const eventId = event?.eventId;
  const reference = event?.reconciliationId;
  const paymentId = event?.paymentId;
  const transactionId = event?.transactionId;
  const of = { eventType, version, requestId, businessUnit, eventId, eventHash, paymentId, transactionId, reference };
  const fields = Object.assign(of, { result, workflowId, reason });
  if (taken.result === 'delivered' || taken.result === 'late') logger.info(fields, 'Webhook event');
  else logger.warn(fields, 'Webhook event');
  if (unusable.length > 0) logger.warn({ eventHash, reference, paths: unusable }, 'Webhook event with unusable fields');
}

/** Rejects after `ms`. A later result is ignored: the sender repeats the event, and repeats are harmless. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, rejectLate) => {
    timer = setTimeout(() => rejectLate(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
