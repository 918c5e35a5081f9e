import type { TransactionEvent } from '../../src/contract/messages.js';
import { classifyEvent, resourceOf } from '../../src/domain/transitions.js';
import { type FlowState, ignore } from '../flow/state.js';

/**
 * Handles an event while our transaction is not known yet; true if it warrants a read. A signed event that names a
 * transaction of our kind on our payment is evidence that the operation was executed: its absence can't be proven any
 * more, whatever a list says.
 */
export function handleEvent(flow: FlowState, event: TransactionEvent): boolean {
  const verdict = classifyEvent(event, flow);
  if (verdict.verdict === 'ignore') {
    if (flow.paymentId === undefined && revealsPayment(flow, event)) flow.revealed = event;
    else ignore(flow, verdict.reason);
    return false;
  }
  const ofOurKind = resourceOf(event.eventType) === flow.kind;
  if (ofOurKind && event.transactionId !== undefined && flow.otherTransactionIds.includes(event.transactionId)) {
    ignore(flow, 'otherTransaction');
    return false;
  }
  if (event.trusted && event.transactionId !== undefined && ofOurKind) {
    flow.hintedTransactionId = event.transactionId;
    if (event.status !== undefined && event.status !== 'Pending') flow.hintedBy = event;
  }
  return true;
}

/**
 * True if a signed event shows our own reference on a transaction of our kind: a lost task created and charged that
 * payment.
 */
export function revealsPayment(flow: FlowState, event: TransactionEvent): boolean {
  return (
    event.trusted &&
    event.businessUnit === flow.businessUnit &&
    event.reconciliationId === flow.reference &&
    resourceOf(event.eventType) === flow.kind
  );
}
