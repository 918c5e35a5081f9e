import type { EventSink } from '../contract/engine-port.js';
import type { TransactionEvent } from '../contract/messages.js';
import type { EventDelivery } from '../contract/parked-event.js';
import { routeEvent } from '../domain/event-routes.js';
import type { EventResult } from './metrics.js';
import type { FindOwner } from './payment-owners.js';

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
  { sink, findOwner }: { sink: EventSink; findOwner: FindOwner },
): Promise<Routed> {
  const delivery = await routeEvent(event, {
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
  });
  if (delivery.result !== 'unclaimed') return delivery;
  const { reason } = delivery;
  if (!proven && reason === 'lookUpFailed') return { result: 'unavailable', reason };
  await sink.park({ event, reason });
  return { result: 'parked', reason, ...flowOf(delivery) };
}

function flowOf({ workflowId }: Extract<EventDelivery, { result: 'unclaimed' }>): { workflowId?: string } {
  return workflowId === undefined ? {} : { workflowId };
}
