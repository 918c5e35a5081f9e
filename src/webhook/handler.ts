import { type EventSink, LONGEST_WAIT_MS } from '../contract/engine-port.js';
import type { TransactionEvent } from '../contract/messages.js';
import type { RouteHints } from '../domain/event-routes.js';
import { answer, rejecter, type WebhookLogger, type WebhookResponse } from './answers.js';
import { keyRings, prove, type WebhookUnit } from './key-rings.js';
import type { EventResult, WebhookMetrics } from './metrics.js';
import {
  createFirstFlows,
  createPaymentOwners,
  type FindOwner,
  type PaymentDetails,
  route,
  type Routed,
} from './route.js';
import { DisputeHeldBack, passOnDispute } from './disputes.js';
import { readProven, type ProvenEvent } from './transaction-event.js';
import { readRequest, type WebhookRequest } from './read-request.js';
import { senderCheck } from '../security/senders.js';
import { traced } from './trace.js';
import { createUnsignedLimit } from './legacy.js';
import { createPlaces } from '../domain/places.js';
import { Recent } from './bounded.js';
import { createAwaitEnd, PAYMENT_UPDATE, type WaitEnd } from './await-end.js';

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
  /**
   * Maximum number of concurrent deliveries, half of them for any one of several units; further events are refused.
   * Default 256.
   */
  maxInFlight?: number;
  /**
   * How long in ms an event that most likely echoes a reply may wait for the end of its flow, at most 3000; 0: not at
   * all. Default 3000.
   */
  waitForEndMs?: number;
  /** Aborted when the server stops: events that wait are delivered at once. */
  stopping?: AbortSignal;
  /**
   * Whether the flow that one event of a payment names is asked first for a later event that names none. Default true;
   * false after a restore from a backup.
   */
  remembersFlows?: boolean;
}

export interface WebhookHandler {
  (request: WebhookRequest): Promise<WebhookResponse>;
  /** The answer to a sender that may not send events; undefined for all others. Ask before the body is read. */
  refusal?(request: Omit<WebhookRequest, 'rawBody'>): WebhookResponse | undefined;
}

const PAYMENT_CREATED = 'payment.payment.create';

/** Number of recent events whose repeats are counted as duplicates. */
const REMEMBERED_EVENTS = 10_000;

/**
 * Creates the handler, which maps a request to an answer for any HTTP server. A 2xx means that Temporal has stored the
 * event or that no flow needs it; without a 2xx the service sends it again for 24 h.
 * Throws when a unit has an empty key, two units share an app id (a signature would prove nothing), a unit accepts
 * legacy webhooks without `apiBaseUrl`, an allowed sender is not an address, or `waitForEndMs` is out of range.
 */
export function createWebhookHandler(deps: WebhookDeps): WebhookHandler {
  const { environment, apiBaseUrl, metrics, logger, sink, stopping, maxInFlight = 256 } = deps;
  const units = [...deps.units];
  const context = { rings: keyRings(units, apiBaseUrl), environment, apiBaseUrl };
  const maySend = deps.allowedSenders === undefined ? undefined : senderCheck(deps.allowedSenders);
  const reject = rejecter(metrics, logger);
  const findOwner = createPaymentOwners(deps.paymentDetails, deps.lookUpTimeoutMs);
  const withinLimit = createUnsignedLimit();
  const seen = new Recent<string, true>(REMEMBERED_EVENTS);
  const flows = createFirstFlows();
  const waitMs = deps.waitForEndMs ?? LONGEST_WAIT_MS;
  if (!(waitMs >= 0 && waitMs <= LONGEST_WAIT_MS))
    throw new RangeError(`waitForEndMs is ${waitMs}, must be 0 to ${LONGEST_WAIT_MS} ms`);
  // The service is asked at most once for a payment, and by the routing anyhow.
  const findFlow = async (event: TransactionEvent): Promise<string | undefined> => {
    const first = flows.of(event);
    if (first !== undefined || event.eventType !== PAYMENT_UPDATE) return first;
    const owner = await findOwner(event);
    return owner === undefined || owner === 'foreign' ? undefined : owner.workflowId;
  };
  const count = (end: WaitEnd): void => metrics.waited(end);
  const awaitEnd = createAwaitEnd({ sink, findFlow, waitMs, units: units.length, stopping, count });
  const takePlace = createPlaces(maxInFlight, units.length);

  const take = async (proven: ProvenEvent): Promise<Taken> => {
    const { event } = proven;
    // No flow has a use for the news that a payment was created: nothing has been done to it yet.
    if (event === undefined || event.eventType === PAYMENT_CREATED) return { result: 'unrouted' };
    if (proven.signed) flows.of(event, { note: deps.remembersFlows !== false });
    const waited = proven.signed ? await awaitEnd(event) : {};
    // Another event may have named it meanwhile, where the service does not say whose the payment is.
    const first = proven.signed ? flows.of(event) : undefined;
    const hints = { ...(first !== undefined && { first }), ...waited };
    const giveBack = takePlace(event.businessUnit);
    if (giveBack === undefined) return { result: 'overloaded' };
    if (!proven.signed && !withinLimit(event)) {
      giveBack();
      return { result: 'overloaded' };
    }
    const taken = await deliver(deps, findOwner, proven, event, hints).finally(giveBack);
    // Mark the event as seen only once it is durable: after a 503 the same event is not a repeat.
    if (taken.result !== 'unavailable') seen.set(event.hash, true);
    return taken;
  };

  const refusal: NonNullable<WebhookHandler['refusal']> = ({ headers, sender }) => {
    if (maySend?.(sender) !== false) return undefined;
    metrics.received(headers);
    return { ...reject('sender', { address: sender }), headers: { connection: 'close' } };
  };

  const handle = async (raw: WebhookRequest): Promise<WebhookResponse> => {
    const refused = refusal(raw);
    if (refused !== undefined) return refused;
    metrics.received(raw.headers);
    const read = readRequest(raw);
    if (!read.ok) return reject(read.rejection, { message: read.message });
    const proof = prove(read.request, context);
    if (!proof.ok) {
      const { rejection, message } = proof;
      return reject(rejection, { message, ...(rejection === 'unknownApp' && { appId: read.request.appId }) });
    }

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
  return Object.assign(handle, { refusal });
}

/** `dispute`: no flow is known to have made the payment that is disputed. */
type Taken = Omit<Routed, 'result'> & { result: EventResult; dispute?: 'unknown' };

async function deliver(
  deps: WebhookDeps,
  findOwner: FindOwner,
  { signed, disputed }: ProvenEvent,
  event: TransactionEvent,
  hints: RouteHints,
): Promise<Taken> {
  try {
    const { sink } = deps;
    const routed = async (): Promise<Taken> => {
      // First, since it may need no answer of the service: money must not wait for what is known of a dispute.
      const taken = await route(event, signed, { sink, findOwner, hints });
      if (disputed !== true || (await passOnDispute(sink, findOwner, { event, signed })) !== 'unknown') return taken;
      return { ...taken, dispute: 'unknown', result: taken.result === 'foreign' ? 'foreignDisputed' : taken.result };
    };
    return await within(deps.deliveryTimeoutMs ?? 5000, routed());
  } catch (err) {
    const why = err instanceof DisputeHeldBack ? err.message : 'Temporal did not take an event';
    deps.logger.warn({ err, eventHash: event.hash }, why);
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
  const isPlain = ['delivered', 'late'].includes(result) || (result === 'unrouted' && event !== undefined);
  if (isPlain) logger.info(fields, 'Webhook event');
  else logger.warn(fields, 'Webhook event');
  if (taken.dispute !== undefined)
    logger.warn({ eventHash, businessUnit, paymentId }, 'A disputed payment that no flow is known to have made');
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
