import type { DeliverEventCall } from '../src/contract/activity-calls.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { WIRE_DETAILS } from '../src/contract/names.js';
import type { EventDelivery } from '../src/contract/parked-event.js';
import type { RoutePorts } from '../src/domain/event-routes.js';
import { ownerFrom, routeEvent } from '../src/domain/event-routes.js';
import { ProviderError } from '../src/provider/index.js';
import type { ActivityDeps } from './deps.js';
import { providerFor } from './deps.js';
import { readOptions } from './read-call.js';

/**
 * Looks for the flow of an event, as the webhook handler did when it came: for one that is parked, and for one that the
 * flow which took it does not know. The signal carries the event's hash as
 * its request id, so that an event which was delivered after all is not delivered twice.
 * Fails when the engine did not answer; what the service does not say is `unclaimed`, and asked again later.
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
        // As in the webhook handler: of a payment that the service does not show (yet) an unsigned event is a lie.
        if (!event.trusted && error instanceof ProviderError && error.failureType === FAILURE_TYPES.notFound)
          return 'foreign';
        throw error;
      }
    },
  };
  return await routeEvent(event, ports, except);
}
