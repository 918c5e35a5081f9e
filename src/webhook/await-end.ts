import { setMaxListeners } from 'node:events';
import type { EventSink } from '../contract/engine-port.js';
import type { TransactionEvent } from '../contract/messages.js';
import { paymentActionsWorkflowId, referenceOfWorkflowId } from '../contract/names.js';
import type { RouteHints } from '../domain/event-routes.js';
import { Recent } from './bounded.js';
import { createPlaces } from '../domain/places.js';

const MOST_WAITING = 1_000;
/** Flows that an event has waited for in vain: they pend, or hold money, and their later events wait no more. */
const REMEMBERED_FLOWS = 10_000;

/** It says that something has become of the payment, most often of its own operation. */
export const PAYMENT_UPDATE = 'payment.payment.update';

/** Counts what an event has waited for; `full`: it did not wait, because too many did. */
export type WaitEnd = 'ended' | 'open' | 'full' | 'released';

interface AwaitEndDeps {
  sink: Pick<EventSink, 'awaitEnd'>;
  /** Workflow id of the flow that the event belongs to first, if that is known. */
  findFlow: (event: TransactionEvent) => Promise<string | undefined>;
  /** ms; 0: no event waits. At most `LONGEST_WAIT_MS`. */
  waitMs: number;
  /** How many business units there are: of several none may have more than half of the events that wait. */
  units: number;
  /** Aborted when the handler stops: events that wait are delivered at once. */
  stopping?: AbortSignal | undefined;
  count: (end: WaitEnd) => void;
}

/**
 * Lets an event that most likely echoes the reply of its own operation wait for the end of its flow. Delivered into the
 * first task of a flow it would make the engine run that task, with its calls, again; once the flow has ended it is only
 * compared. Nothing is correct only because of the wait: an event that waits in vain is delivered as all others.
 */
export function createAwaitEnd({ sink, findFlow, waitMs, units, stopping, count }: AwaitEndDeps) {
  // Each event that waits listens for the stop.
  if (stopping !== undefined) setMaxListeners(0, stopping);
  const takeRoom = createPlaces(MOST_WAITING, units);
  // A hint only: a service that sends the events of a payment in order would hold back the one that ends its flow behind
  // each that waits.
  const longer = new Recent<string, true>(REMEMBERED_FLOWS);
  const underWay = new Map<string, ReturnType<EventSink['awaitEnd']>>();

  // The events of one payment come together: one question serves all that wait while it is under way, and none later.
  const askOnce = (workflowId: string): ReturnType<EventSink['awaitEnd']> => {
    const known = underWay.get(workflowId);
    if (known !== undefined) return known;
    const asked = sink.awaitEnd(workflowId, waitMs, stopping).finally(() => underWay.delete(workflowId));
    underWay.set(workflowId, asked);
    return asked;
  };

  const wait = async (workflowId: string): Promise<Waited> => {
    if (longer.get(workflowId) === true) return { first: workflowId };
    const ended = await askOnce(workflowId);
    if (ended === undefined) longer.set(workflowId, true);
    count(ended !== undefined ? 'ended' : stopping?.aborted === true ? 'released' : 'open');
    return { first: workflowId, ...(ended !== undefined && { ended }) };
  };

  return async (event: TransactionEvent): Promise<Waited> => {
    if (waitMs === 0 || stopping?.aborted === true || !mayEcho(event)) return {};
    const giveBack = takeRoom(event.businessUnit);
    if (giveBack === undefined) {
      count('full');
      return {};
    }
    try {
      const workflowId = await findFlow(event);
      // The sink looks at `stopping` once more: it may have come while the flow was looked for.
      return workflowId !== undefined && makesPayment(workflowId) ? await wait(workflowId) : {};
    } catch {
      // Only an optimisation has failed: the delivery that follows says whether Temporal can be reached.
      count('open');
      return {};
    } finally {
      giveBack();
    }
  };
}

/** For the routing of the event: the flow that is asked first, and how it has ended. */
type Waited = Pick<RouteHints, 'first' | 'ended'>;

/** Operations by whose reply a flow may end in its first task. */
const CREATED = /^payment\.(?:charge|authorization|credit)\.create$/;

/** An event that is not signed as a whole proves nothing, and waits for nothing. */
function mayEcho({ eventType, trusted }: TransactionEvent): boolean {
  return trusted && (CREATED.test(eventType) || eventType === PAYMENT_UPDATE);
}

/** Not the flow of the commands to a payment, which stays open for days. */
function makesPayment(workflowId: string): boolean {
  return referenceOfWorkflowId(workflowId) !== undefined && !workflowId.startsWith(paymentActionsWorkflowId(''));
}
