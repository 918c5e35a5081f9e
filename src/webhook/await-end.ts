import type { EndedFlow, EventSink } from '../contract/engine-port.js';
import type { TransactionEvent } from '../contract/messages.js';

const MOST_WAITING = 1_000;

/** It says that something has become of the payment, most often of its own operation. */
export const PAYMENT_UPDATE = 'payment.payment.update';

/** Counts what an event has waited for; `full`: it did not wait, because too many did. */
export type WaitEnd = 'ended' | 'open' | 'full' | 'released';

interface AwaitEndDeps {
  sink: Pick<EventSink, 'awaitEnd'>;
  /** ms; 0: no event waits. At most `LONGEST_WAIT_MS`. */
  waitMs: number;
  /** Aborted when the handler stops: events that wait are delivered at once. */
  stopping?: AbortSignal | undefined;
  count: (end: WaitEnd) => void;
}

/**
 * Lets an event that most likely echoes the reply of its own operation wait for the end of its flow. Delivered into the
 * first task of a flow it would make the engine run that task, with its calls, again; once the flow has ended it is only
 * compared. Nothing is correct only because of the wait: an event that waits in vain is delivered as all others.
 * @returns undefined if the event did not wait, or the flow has not ended
 */
export function createAwaitEnd({ sink, waitMs, stopping, count }: AwaitEndDeps) {
  let waiting = 0;
  return async (event: TransactionEvent, workflowId: string): Promise<EndedFlow | undefined> => {
    if (waitMs === 0 || stopping?.aborted === true || !mayEcho(event)) return undefined;
    if (!workflowId.startsWith('payment-') || workflowId.startsWith('payment-actions-')) return undefined;
    if (waiting >= MOST_WAITING) {
      count('full');
      return undefined;
    }
    waiting += 1;
    try {
      const flow = await sink.awaitEnd(workflowId, waitMs, stopping);
      const released = (stopping?.aborted as boolean | undefined) === true;
      count(flow !== undefined ? 'ended' : released ? 'released' : 'open');
      return flow;
    } catch {
      // Only an optimisation has failed: the delivery that follows says whether Temporal can be reached.
      count('open');
      return undefined;
    } finally {
      waiting -= 1;
    }
  };
}

/** Operations by whose reply a flow may end in its first task. */
const CREATED = /^payment\.(?:charge|authorization|credit)\.create$/;

/** An event that is not signed as a whole proves nothing, and waits for nothing. */
function mayEcho({ eventType, trusted }: TransactionEvent): boolean {
  return trusted && (CREATED.test(eventType) || eventType === PAYMENT_UPDATE);
}
