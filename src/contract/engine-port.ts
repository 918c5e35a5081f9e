import type { TransactionEvent } from './messages.js';
import type { Outcome } from './outcomes.js';
import type { ParkedEventInput } from './parked-event.js';
import type { PaymentRecord } from './transaction.js';

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

/** Where the webhook handler puts a verified event. */
export interface EventSink extends EventPort {
  /**
   * Keeps an event that has no flow now in workflow `parkedEvent`. Resolves once it is durable; `known` when it
   * already was.
   */
  park(input: ParkedEventInput): Promise<'parked' | 'known'>;
}

/**
 * What activities may ask of the engine. Implemented in `src/client`, handed in by `workers`, so that
 * activities depend on no Temporal client.
 */
export interface EnginePort extends EventPort {
  /** Run id of another run under this workflow id, if there ever was one. */
  earlierRun(workflowId: string, ownRunId: string): Promise<string | undefined>;
  /** True for a run that a reset has made: another one has already done some of this. */
  madeByReset(workflowId: string, ownRunId: string): Promise<boolean>;
  /** The payment that an earlier run under this workflow id created under the key (or its first one), as its history tells. */
  earlierPayment(workflowId: string, ownRunId: string, key?: string): Promise<PaymentRecord | undefined>;
  /**
   * What the latest run under this workflow id that has completed has left; before the own one, where that is given.
   * @throws Error while nothing but a list that lags could tell
   */
  latestResult(workflowId: string, ownRunId?: string): Promise<LatestResult>;
  /** True while a flow of this id runs. */
  isOpen(workflowId: string): Promise<boolean>;
  /** True when the run is still in the first try of its first workflow task: nothing can have left before. */
  inFirstTry(workflowId: string, runId: string): Promise<boolean>;
  /** True when the run's history holds a failed or timed-out workflow task. */
  taskWasLost(workflowId: string, runId: string): Promise<boolean>;
  /** How a payment flow stands, whoever has started it. */
  readFlow(workflowId: string): Promise<FlowReading>;
  /**
   * Refunds a payment by the reference of the flow that made it, or by its id once that flow is not kept any more; the same
   * `commandId` does it once.
   */
  refund(call: RefundOfPayment): Promise<RefundReading>;
}

/** What the latest run under a workflow id that has completed has left. */
export interface LatestResult {
  /** Undefined where none has completed. */
  result: unknown;
  workflowType?: string;
  /** False when a later run has left none: it was terminated, has failed, or is not kept any more. */
  ofLatestRun: boolean;
}

export type FlowReading =
  /** There is none, or none any more. */
  | { state: 'absent' }
  | { state: 'open' }
  | { state: 'ended'; outcome: Outcome }
  /** It failed with a typed failure, or was cancelled before it sent anything: no money moved. */
  | { state: 'refused'; why: string }
  /** Terminated: nobody has followed the payment to its end. */
  | { state: 'lost'; why: string };

export interface RefundOfPayment {
  /** Reference of the payment. */
  payment: string;
  /** As the service knows it, where that was told. */
  paymentId: string | undefined;
  currency: string;
  businessUnit: string;
  commandId: string;
  amount: number | undefined;
}

export type RefundReading = { refused: string } | { status: string; transactionId?: string; amount?: number };
