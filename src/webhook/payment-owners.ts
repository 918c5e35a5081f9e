import { LRUCache } from 'lru-cache';
import type { TransactionEvent } from '../contract/messages.js';
import { WIRE_DETAILS } from '../contract/names.js';
import { ownerFrom, type PaymentOwner } from '../domain/event-routes.js';

/**
 * Reads `additional_details` of a payment from the service: empty if there are none, undefined if the service has no
 * such payment. Rejects when the service does not answer within `timeoutMs`.
 */
export type PaymentDetails = (
  payment: { businessUnit: string; paymentId: string },
  timeoutMs: number,
) => Promise<Readonly<Record<string, string>> | undefined>;

export type FindOwner = (event: TransactionEvent) => Promise<PaymentOwner | undefined>;

const REMEMBERED_PAYMENTS = 10_000;
/** ms that an answer is cached. */
const KEEP_MS = 600_000;

/**
 * Reads each payment from the service once, even for concurrent events of it. After `timeoutMs` without an answer the
 * event is parked, and the parked event's flow looks for the owner.
 */
export function createPaymentOwners(details: PaymentDetails, timeoutMs = 1000): FindOwner {
  const owners = new LRUCache<string, PaymentOwner, Parameters<PaymentDetails>[0]>({
    max: REMEMBERED_PAYMENTS,
    ttl: KEEP_MS,
    ttlResolution: 0,
    // Look the clock up at each call, because tests replace it.
    perf: { now: () => performance.now() },
    fetchMethod: async (_key, _stale, { context }) => {
      const found = await details(context, timeoutMs);
      // Neither `undefined` nor a failure is cached: the payment may become known as ours a moment later.
      return found && ownerFrom(found[WIRE_DETAILS.workflowId]);
    },
  });
  return ({ businessUnit, paymentId }) =>
    owners.fetch(`${businessUnit} ${paymentId}`, { context: { businessUnit, paymentId } });
}
