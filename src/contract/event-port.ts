import type { TransactionEvent } from './messages.js';

/** `ended`: the flow had closed before the event came. `notFound`: no flow of this id is known. */
export type Delivery = 'delivered' | 'ended' | 'notFound';

/** What is left to see of a flow that has closed. */
export interface EndedFlow {
  /** Search attributes `PaymentStatus` and `PaymentId`. */
  status?: string;
  paymentId?: string;
  /** As the flow returned it; absent when it has none, or this process lacks the key to read it. */
  result?: unknown;
}

/** What routing an event asks of the engine. Implemented in `src/client`. */
export interface EventPort {
  /** Resolves once the event is durable, or can never be. Rejects when that is not known: send it again. */
  deliver(workflowId: string, event: TransactionEvent): Promise<Delivery>;
  /** Undefined when the flow runs after all. */
  endedFlow(workflowId: string): Promise<EndedFlow | undefined>;
  /** Workflow id of the flow that shows this payment as its own; for a service that does not say who made it. */
  flowOfPayment(paymentId: string): Promise<string | undefined>;
}
