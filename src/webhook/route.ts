import { LRUCache } from 'lru-cache';
import type { EventSink } from '../contract/engine-port.js';
import { currencySchema } from '../contract/fields.js';
import type { TransactionEvent } from '../contract/messages.js';
import { paymentActionsWorkflowId, WIRE_DETAILS } from '../contract/names.js';
import type { EventDelivery } from '../contract/parked-event.js';
import {
  ownerFrom,
  type PaymentOwner,
  routeEvent,
  type RouteHints,
  type RoutePorts,
  routesOf,
} from '../domain/event-routes.js';
import { PAYMENT_UPDATE } from './await-end.js';
import { atMost, Recent } from './bounded.js';
import type { EventResult } from './metrics.js';

export interface Routed {
  result: Extract<EventResult, 'delivered' | 'late' | 'foreign' | 'parked' | 'unavailable'>;
  workflowId?: string;
  /** Reason why the event was parked. */
  reason?: string;
}

/**
 * Delivers or parks an event, so that it is durable. Rejects when Temporal does not answer.
 * An unsigned event is parked only if the service confirms its payment: anybody can send one, and parking costs.
 */
export async function route(
  event: TransactionEvent,
  proven: boolean,
  { sink, findOwner, hints }: { sink: EventSink; findOwner: FindOwner; hints?: RouteHints },
): Promise<Routed> {
  const ports: RoutePorts = {
    deliver: (workflowId, sent) => sink.deliver(workflowId, sent),
    endedFlow: (workflowId) => sink.endedFlow(workflowId),
    flowOfPayment: (paymentId) => sink.flowOfPayment(paymentId),
    async ownerOfPayment(sent) {
      const owner = await findOwner(sent);
      if (owner !== undefined) return owner;
      // For a payment that the service does not show (yet), a signed event is parked and an unsigned one is dropped.
      if (!proven) return 'foreign';
      throw new Error('the service has no such payment');
    },
  };
  const delivery = await routeEvent(event, ports, hints);
  if (delivery.result !== 'unclaimed') return delivery;
  const { reason } = delivery;
  if (!proven && reason === 'lookUpFailed') return { result: 'unavailable', reason };
  await sink.park({ event, reason });
  return { result: 'parked', reason, ...flowOf(delivery) };
}

function flowOf({ workflowId }: Extract<EventDelivery, { result: 'unclaimed' }>): { workflowId?: string } {
  return workflowId === undefined ? {} : { workflowId };
}

/** What the service shows of a payment. */
export interface PaymentRead {
  /** Its `additional_details`: empty if there are none. */
  details: Readonly<Record<string, string>>;
  /** A dispute that no signed event tells of can't be passed on without, once Temporal has forgotten the payment's flow. */
  currency?: string;
}

/**
 * Reads a payment from the service, or its `additional_details` alone; undefined if the service has no such payment.
 * Rejects when the service does not answer within `timeoutMs`.
 */
export type PaymentDetails = (
  payment: { businessUnit: string; paymentId: string; isDisputed?: boolean },
  timeoutMs: number,
) => Promise<PaymentRead | Readonly<Record<string, string>> | undefined>;

/** `currency`: that of the payment, where the service has shown it. */
type FoundOwner = Exclude<PaymentOwner, 'foreign'> & { currency?: string };

/** @param isDisputed it is asked for whatever the limit of its unit: nothing else may ever tell of the dispute */
export type FindOwner = (event: TransactionEvent, isDisputed?: boolean) => Promise<FoundOwner | 'foreign' | undefined>;

const REMEMBERED_PAYMENTS = 10_000;
/** ms that an answer is cached. */
const KEEP_MS = 600_000;

/**
 * Reads each payment from the service once, even for concurrent events of it. After `timeoutMs` without an answer the
 * event is parked, and the parked event's flow looks for the owner.
 */
export function createPaymentOwners(details: PaymentDetails, timeoutMs = 1000): FindOwner {
  const owners = new LRUCache<string, FoundOwner | 'foreign', Parameters<PaymentDetails>[0]>({
    ...atMost(REMEMBERED_PAYMENTS),
    ttl: KEEP_MS,
    ttlResolution: 0,
    // Look the clock up at each call, because tests replace it.
    perf: { now: () => performance.now() },
    fetchMethod: async (_key, _stale, { context }) => {
      const found = await details(context, timeoutMs);
      // Neither `undefined` nor a failure is cached: the payment may become known as ours a moment later.
      return found && ownerOf(found);
    },
  });
  return ({ businessUnit, paymentId }, isDisputed = false) =>
    owners.fetch(`${businessUnit} ${paymentId}`, { context: { businessUnit, paymentId, isDisputed } });
}

function ownerOf(found: NonNullable<Awaited<ReturnType<PaymentDetails>>>): FoundOwner | 'foreign' {
  const { details, currency: shown } = isRead(found) ? found : { details: found, currency: undefined };
  const owner = ownerFrom(details[WIRE_DETAILS.workflowId]);
  const currency = currencySchema.safeParse(shown).data;
  return owner === 'foreign' || currency === undefined ? owner : { ...owner, currency };
}

/** A merchant may name a detail `details`, which is a text then. */
function isRead(found: PaymentRead | Readonly<Record<string, string>>): found is PaymentRead {
  return typeof found['details'] === 'object';
}

/** The flow that created a payment, as far as this handler knows it: the place to ask first, and never an answer. */
export interface FirstFlows {
  /** `note`: it is remembered. Only signed events may be noted. */
  of(event: TransactionEvent, options?: { note: boolean }): string | undefined;
}

/** Remembers which flow the first operation of a payment named, for events of the payment itself, which name none. */
export function createFirstFlows(): FirstFlows {
  const flows = new Recent<string, string>(REMEMBERED_PAYMENTS);
  const keyOf = ({ businessUnit, paymentId }: TransactionEvent): string => `${businessUnit} ${paymentId}`;
  const named = (event: TransactionEvent): string | undefined => {
    const [first] = routesOf(event);
    return first === paymentActionsWorkflowId(event.paymentId) ? undefined : first;
  };
  return {
    of(event, { note } = { note: false }) {
      const first = named(event);
      if (first === undefined) return event.eventType === PAYMENT_UPDATE ? flows.get(keyOf(event)) : undefined;
      if (note && event.trusted) flows.set(keyOf(event), first);
      return first;
    },
  };
}
