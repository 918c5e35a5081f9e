import type { DeliverEventCall } from '../src/contract/activity-calls.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { WIRE_DETAILS } from '../src/contract/names.js';
import type { EventDelivery } from '../src/contract/parked-event.js';
import { ownerFrom, routeEvent, type RoutePorts } from '../src/domain/event-routes.js';
import { ProviderError } from '../src/provider/index.js';
import { type ActivityDeps, providerFor } from './deps.js';
import { readOptions } from './read-call.js';

/**
 * Finds the flow of an event as the webhook handler did on arrival: of a parked event, and of one that the flow which
 * received it doesn't know. The signal's request id is the event's hash, so an event that was delivered after all is
 * not delivered twice.
 * Rejects when the engine does not answer. Returns `unclaimed` when the service does not, to be retried later.
 */
export async function deliverEvent(deps: ActivityDeps, { event, except }: DeliverEventCall): Promise<EventDelivery> {
  const { engine } = deps;
  const ports: RoutePorts = {
    deliver: (workflowId, sent) => engine.deliver(workflowId, sent),
    endedFlow: (workflowId) => engine.endedFlow(workflowId),
    flowOfPayment: (paymentId) => engine.flowOfPayment(paymentId),
    async ownerOfPayment({ businessUnit, paymentId }) {
      try {
        const { data } = await providerFor(deps, businessUnit).getPayment(paymentId, readOptions());
        return ownerFrom(data.additionalDetails?.[WIRE_DETAILS.workflowId]);
      } catch (error) {
        // As in the webhook handler: an unsigned event of a payment that the service does not show (yet) is forged.
        if (!event.trusted && error instanceof ProviderError && error.failureType === FAILURE_TYPES.notFound)
          return 'foreign';
        throw error;
      }
    },
  };
  return await routeEvent(event, ports, except);
}
