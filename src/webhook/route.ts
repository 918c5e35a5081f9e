import type { TransactionEvent } from '../contract/messages.js';
import { paymentWorkflowId } from '../contract/names.js';

/**
 * The references a payment flow can have: a merchant's own, and with `.` those of a subscription's billing attempts
 * (`<subscription>.<period>.<attempt>`).
 */
const FLOW_REFERENCE = /^[A-Za-z0-9_.-]{1,70}$/;

/**
 * Workflow id of the flow an event belongs to, by arithmetic on what it carries. Undefined when it carries nothing to
 * go by: payment events and voids have no reconciliation id, and one of another form was never ours.
 */
export function routeOf(event: TransactionEvent): string | undefined {
  const reference = event.reconciliationId;
  if (reference === undefined || !FLOW_REFERENCE.test(reference)) return undefined;
  return paymentWorkflowId(reference);
}
