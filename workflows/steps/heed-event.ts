import type { TransactionEvent } from '../../src/contract/messages.js';
import { judgeEvent, resourceOf } from '../../src/domain/transitions.js';
import type { FlowState } from '../flow/state.js';
import { ignore } from '../flow/state.js';

/**
 * An event while our transaction is not known yet: true when it is worth a read. One that names a
 * transaction of our kind on our payment is evidence that the operation took place, so that its absence
 * can't be proven any more, whatever a list says.
 */
export function heedEvent(flow: FlowState, event: TransactionEvent): boolean {
  const verdict = judgeEvent(event, flow);
  if (verdict.verdict === 'ignore') {
    ignore(flow, verdict.reason);
    return false;
  }
  if (event.trusted && event.transactionId !== undefined && resourceOf(event.eventType) === flow.kind) {
    flow.hintedTransactionId = event.transactionId;
  }
  return true;
}
