import type { TransactionEvent } from '../contract/messages.js';
import { WIRE_DETAILS } from '../contract/names.js';
import { ownerFrom, type PaymentOwner } from '../domain/event-routes.js';
import { BoundedMap } from './bounded-map.js';

/**
 * `additional_details` of a payment as the service has it, empty when there are none; undefined when the service says
 * that there is no such payment. Rejects when it does not answer within `timeoutMs`.
 */
export type PaymentDetails = (
  payment: { businessUnit: string; paymentId: string },
  timeoutMs: number,
) => Promise<Readonly<Record<string, string>> | undefined>;

export interface PaymentOwnersOptions {
  /** Default 1000 ms: later the event is parked, and looked after there. */
  timeoutMs?: number;
  /** Payments remembered. Default 10,000. */
  capacity?: number;
  /** ms for which an answer stands. Default 10 min. */
  keepMs?: number;
}

export type FindOwner = (event: TransactionEvent) => Promise<PaymentOwner | undefined>;

/** Asks the service once for each payment, however many of its events come at the same time. */
export function createPaymentOwners(details: PaymentDetails, options: PaymentOwnersOptions = {}): FindOwner {
  const { timeoutMs = 1000, capacity = 10_000, keepMs = 600_000 } = options;
  const known = new BoundedMap<string, { owner: PaymentOwner; until: number }>(capacity);
  const asked = new Map<string, Promise<PaymentOwner | undefined>>();

  return async ({ businessUnit, paymentId }) => {
    const key = `${businessUnit} ${paymentId}`;
    const remembered = known.get(key);
    if (remembered !== undefined && performance.now() < remembered.until) return remembered.owner;
    const underWay = asked.get(key);
    if (underWay !== undefined) return await underWay;
    const question = details({ businessUnit, paymentId }, timeoutMs).then((found) => {
      if (found === undefined) return undefined;
      const owner = ownerFrom(found[WIRE_DETAILS.workflowId]);
      known.set(key, { owner, until: performance.now() + keepMs });
      return owner;
    });
    asked.set(key, question);
    try {
      return await question;
    } finally {
      asked.delete(key);
    }
  };
}
