import { LRUCache } from 'lru-cache';
import type { TransactionEvent } from '../contract/messages.js';
import { WIRE_DETAILS } from '../contract/names.js';
import { ownerFrom, type PaymentOwner } from '../domain/event-routes.js';

/**
 * `additional_details` of a payment as the service has it, empty when there are none; undefined when the service says
 * that there is no such payment. Rejects when it does not answer within `timeoutMs`.
 */
export type PaymentDetails = (
  payment: { businessUnit: string; paymentId: string },
  timeoutMs: number,
) => Promise<Readonly<Record<string, string>> | undefined>;

export type FindOwner = (event: TransactionEvent) => Promise<PaymentOwner | undefined>;

const REMEMBERED_PAYMENTS = 10_000;
/** ms for which an answer stands. */
const KEEP_MS = 600_000;

/**
 * Asks the service once for each payment, however many of its events come at the same time. Later than `timeoutMs` the
 * event is parked, and looked after there.
 */
export function createPaymentOwners(details: PaymentDetails, timeoutMs = 1000): FindOwner {
  const owners = new LRUCache<string, PaymentOwner, Parameters<PaymentDetails>[0]>({
    max: REMEMBERED_PAYMENTS,
    ttl: KEEP_MS,
    ttlResolution: 0,
    // The clock of this moment: tests replace it.
    perf: { now: () => performance.now() },
    fetchMethod: async (_key, _stale, { context }) => {
      const found = await details(context, timeoutMs);
      // Neither `undefined` nor a failure is remembered: the payment may be ours a moment later.
      return found && ownerFrom(found[WIRE_DETAILS.workflowId]);
    },
  });
  return ({ businessUnit, paymentId }) =>
    owners.fetch(`${businessUnit} ${paymentId}`, { context: { businessUnit, paymentId } });
}
