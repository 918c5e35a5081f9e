import type { EventSink } from '../contract/engine-port.js';
import type { TransactionEvent } from '../contract/messages.js';
import { referenceOfWorkflowId } from '../contract/names.js';
import type { FindOwner } from './route.js';

/**
 * Has the flow of the payment's commands look into a chargeback, whether or not the flow that made the payment has
 * ended, or is still kept.
 * Rejects when Temporal or the service did not answer: the event is sent again.
 */
export async function passOnDispute(sink: EventSink, findOwner: FindOwner, event: TransactionEvent): Promise<void> {
  const { businessUnit, paymentId, currency, hash } = event;
  const owner = await findOwner(event, true);
  if (owner === undefined) throw new Error('the service has no such payment');
  const madeBy = owner === 'foreign' ? await sink.flowOfPayment(paymentId) : owner.workflowId;
  const paymentReference = madeBy === undefined ? undefined : referenceOfWorkflowId(madeBy);
  await sink.disputed({
    paymentId,
    businessUnit,
    ...(currency !== undefined && { currency }),
    ...(madeBy !== undefined && { madeBy }),
    ...(paymentReference !== undefined && { paymentReference }),
    hash,
  });
}
