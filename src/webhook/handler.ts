import type { EventSink } from '../client/event-sink.js';
import type { TransactionEvent } from '../contract/messages.js';
import { keyRings, prove, type WebhookUnit } from './key-rings.js';
import type { EventResult, WebhookMetrics } from './metrics.js';
import { readRequest, type Rejection, type WebhookRequest } from './read-request.js';
import { routeOf } from './route.js';
import { readEvent } from './transaction-event.js';

export interface WebhookLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface WebhookDeps {
  /** Events of the other environment are refused, whatever signed them. */
  environment: 'test' | 'live';
  units: Iterable<WebhookUnit>;
  sink: EventSink;
  metrics: WebhookMetrics;
  logger: WebhookLogger;
  /** How long Temporal may take before the sender is asked to come again, in ms. Default 5000. */
  deliveryTimeoutMs?: number;
  /** Deliveries under way at once before further ones are sent away. Default 256. */
  maxInFlight?: number;
}

export interface WebhookResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: { result: string } | { error: string };
}

export type WebhookHandler = (request: WebhookRequest) => Promise<WebhookResponse>;

const REJECTION_STATUS: Readonly<Record<Rejection, 400 | 401 | 413>> = {
  tooLarge: 413,
  unreadable: 400,
  shape: 400,
  headers: 400,
  version: 400,
  noSignature: 401,
  environment: 401,
  unknownApp: 401,
  badSignature: 401,
};

const RETRY_AFTER_SECONDS: Readonly<Record<'notFound' | 'unavailable' | 'overloaded', string>> = {
  notFound: '60',
  unavailable: '5',
  overloaded: '5',
};

/**
 * Makes the handler: request in, answer out, over any HTTP server. A 2xx means that Temporal holds the event, or that
 * no flow will ever want it; without a 2xx the service sends it again for 24 h.
 * Throws when a unit has an empty key or two units share an app id, since then a signature would prove nothing.
 */
export function createWebhookHandler(deps: WebhookDeps): WebhookHandler {
  const rings = keyRings(deps.units);
  const reject = rejecter(deps);
  const maxInFlight = deps.maxInFlight ?? 256;
  let inFlight = 0;

  return async (raw) => {
    const { metrics } = deps;
    metrics.received();
    const read = readRequest(raw);
    if (!read.ok) return reject(read.rejection, read.message);
    const proven = prove(read.request, rings, deps.environment);
    if (!proven.ok) return reject(proven.rejection);

    const { version, requestId } = read.request;
    const eventType = read.request.values[0] ?? '';
    const { event, unusable, created } = readEvent(read.request.values, proven.unit);
    metrics.verified({ eventType, version, previousKey: proven.keyIndex > 0, created });
    for (const field of unusable) metrics.unusable(field);

    const started = performance.now();
    let result: EventResult;
    if (inFlight >= maxInFlight) {
      result = 'overloaded';
    } else {
      inFlight += 1;
      result = await deliver(deps, event).finally(() => (inFlight -= 1));
    }
    metrics.finished({ eventType, version, result, seconds: (performance.now() - started) / 1000 });
    logResult(deps.logger, result, { eventType, version, requestId, businessUnit: proven.unit }, unusable, event);
    return answer(result);
  };
}

/** Refusals cost a sender nothing, so one line per reason and second is all they can make us write. All are counted. */
function rejecter({ metrics, logger }: WebhookDeps): (reason: Rejection, message?: string) => WebhookResponse {
  const quietUntil = new Map<Rejection, number>();
  const unlogged = new Map<Rejection, number>();
  return (reason, message = '') => {
    metrics.rejected(reason);
    const now = performance.now();
    const silenced = unlogged.get(reason) ?? 0;
    if (now < (quietUntil.get(reason) ?? 0)) {
      unlogged.set(reason, silenced + 1);
    } else {
      quietUntil.set(reason, now + 1000);
      unlogged.set(reason, 0);
      // `count`: how many this line stands for.
      logger.warn({ reason, count: silenced + 1 }, 'Webhook refused');
    }
    const status = REJECTION_STATUS[reason];
    // One text for every 401: a forger must not learn how far a request came.
    return { status, headers: {}, body: { error: status === 401 ? 'not authorized' : message } };
  };
}

async function deliver(deps: WebhookDeps, event: TransactionEvent | undefined): Promise<EventResult> {
  const workflowId = event === undefined ? undefined : routeOf(event);
  if (event === undefined || workflowId === undefined) return 'unrouted';
  try {
    const delivery = await within(deps.deliveryTimeoutMs ?? 5000, deps.sink.deliver(workflowId, event));
    return delivery === 'ended' ? 'late' : delivery;
  } catch (err) {
    deps.logger.warn({ err, eventHash: event.hash, workflowId }, 'Temporal did not take an event');
    return 'unavailable';
  }
}

function answer(result: EventResult): WebhookResponse {
  switch (result) {
    case 'delivered':
    case 'late':
    case 'unrouted':
      return { status: 200, headers: {}, body: { result } };
    case 'notFound':
    case 'unavailable':
    case 'overloaded':
      return { status: 503, headers: { 'retry-after': RETRY_AFTER_SECONDS[result] }, body: { error: 'send it again' } };
    default:
      return result satisfies never;
  }
}

/** Ids and types only: no body, no header, no amount. The names are those that the logger lets through. */
function logResult(
  logger: WebhookLogger,
  result: EventResult,
  seen: { eventType: string; version: string; requestId: string | undefined; businessUnit: string },
  unusable: readonly string[],
  event: TransactionEvent | undefined,
): void {
  const { hash: eventHash, paymentId, transactionId, reconciliationId: reference } = event ?? {};
  const fields = { result, ...seen, eventHash, paymentId, transactionId, reference };
  if (result === 'delivered') logger.info(fields, 'Webhook event');
  else logger.warn(fields, 'Webhook event');
  if (unusable.length > 0) logger.warn({ eventHash, reference, paths: unusable }, 'Webhook event with unusable fields');
}

/** Rejects after `ms`. What comes later is ignored: the sender has been told to come again, and repeats are harmless. */
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
