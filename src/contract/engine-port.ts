import type { TellSubscriptionCall } from './activity-calls.js';
import type { HandOver } from './notifications.js';
import type { TransactionEvent, Outcome } from './messages.js';
import type { CountedOutgoing, CountOutgoing } from './outgoing.js';
import type { ParkedEventInput } from './parked-event.js';
import type { PaymentRecord, SentBefore } from './records.js';
import type { ReferenceClaim } from './reference-book.js';
import type { RefundState } from './subscription-result.js';

/** `ended`: the flow closed before the event came. `notFound`: no flow has this id. */
export type Delivery = 'delivered' | 'ended' | 'notFound';

/** Summary of a closed workflow. */
export interface EndedFlow {
  /** Search attributes `PaymentStatus` and `PaymentId`. */
  status?: string;
  paymentId?: string;
  /** The flow's result; undefined if it has none or this process lacks the decryption key. */
  result?: unknown;
}

/** Engine operations for routing an event. Implemented in `src/client`. */
export interface EventPort {
  /** Resolves once the event is durable, or can never be. Rejects if that is not known: deliver it again. */
  deliver(workflowId: string, event: TransactionEvent): Promise<Delivery>;
  /** undefined if the flow is open. */
  endedFlow(workflowId: string): Promise<EndedFlow | undefined>;
  /** Workflow id of the flow that shows this payment as its own. For services that don't echo who created it. */
  flowOfPayment(paymentId: string): Promise<string | undefined>;
}

/** ms that an event may wait for the end of its flow. That comes with the service's reply, which an event can overtake. */
export const LONGEST_WAIT_MS = 3_000;

/** An `AbortSignal`, a type that workflows don't have. */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A payment that an event calls charged back. */
export interface DisputedPayment {
  paymentId: string;
  businessUnit: string;
  /** As the service says of the payment, or else the event; that of the payment's flow goes before it. */
  currency?: string;
  /** Workflow id of that flow, and its reference; undefined if no flow is known that has made it. */
  madeBy?: string;
  paymentReference?: string;
  /** Of the event. */
  hash: string;
}

/** Destination of the webhook handler's verified events. */
export interface EventSink extends EventPort {
  /**
   * Waits until the flow ends. undefined if it is open after `ms` or once `stopping` is aborted, or if no flow has this
   * id.
   */
  awaitEnd(workflowId: string, ms: number, stopping?: StopSignal): Promise<EndedFlow | undefined>;
  /**
   * Keeps an event that has no flow now in workflow `parkedEvent`. Resolves once it is durable; `known` if it already
   * was.
   */
  park(input: ParkedEventInput): Promise<'parked' | 'known'>;
  /**
   * Has the flow of the payment's commands look into a chargeback, and starts it if none is open. Of a payment that no flow
   * is known to have made nothing is kept, unless there have been commands to it (`unknown`), nor of one of which neither
   * the event nor a flow names a currency.
   */
  disputed(payment: DisputedPayment): Promise<'passedOn' | 'unknown' | 'noCurrency'>;
}

/**
 * Engine operations for activities. Implemented in `src/client` and passed in by `workers`, so that activities don't
 * depend on a Temporal client.
 */
/** A run that has told its end. */
export interface ToldEnd {
  runId: string;
  /** It was an attempt to bill, and its subscription was told. */
  ofAttempt: boolean;
  /** A transaction by which a person has said that the money was taken, or `of unknown id`. */
  saidTaken?: string;
  /** Temporal no longer keeps it, so that nobody knows what it told. */
  isForgotten?: true;
}

export interface EnginePort extends EventPort {
  /** Run id of another run under this workflow id, if one ever existed. */
  earlierRun(workflowId: string, ownRunId: string): Promise<string | undefined>;
  /** When the flow's first run started (epoch ms); undefined if that is no longer kept. */
  startedAt(workflowId: string, runId: string): Promise<number | undefined>;
  /** True for a run that a reset made: an earlier run has already done part of this work. */
  madeByReset(workflowId: string, ownRunId: string): Promise<boolean>;
  /** What this run claims a reference with: read from the run itself, so it never lags. */
  claimOf(workflowId: string, runId: string): Promise<ReferenceClaim>;
  /** The payment that an earlier run created under `key`, or its first one; read from that run's history. */
  earlierPayment(workflowId: string, ownRunId: string, key?: string): Promise<PaymentRecord | undefined>;
  /** When the runs before this one first sent each call of their holds. */
  sentBefore(workflowId: string, ownRunId: string): Promise<SentBefore>;
  /**
   * Run id of a run that this one neither was made of nor continues, and that has sent money: a run was reset twice.
   * undefined also where this run has looked at the service since its reset.
   */
  siblingThatSent(workflowId: string, ownRunId: string): Promise<string | undefined>;
  /**
   * Another run of this flow that has told its caller that it took nothing, or its end to the subscription whose attempt to
   * bill it is.
   * @param subscription the one whose attempt it is by its reference
   */
  toldEnd(workflowId: string, ownRunId: string, subscription: string | undefined): Promise<ToldEnd | undefined>;
  /**
   * Result of the latest completed run under this workflow id, before `ownRunId` if given.
   * @throws Error while only the visibility list, which lags, could answer
   */
  latestResult(workflowId: string, ownRunId?: string): Promise<LatestResult>;
  /** Events of the payment that wait for a person, since they contradict how their flow has ended. */
  parkedEvents(paymentId: string): Promise<TransactionEvent[]>;
  /** True while a flow with this id is open. */
  isOpen(workflowId: string): Promise<boolean>;
  /** True while an open flow shows its end, which it is handing over to whoever tells the merchant. */
  handsOver(workflowId: string): Promise<boolean>;
  /** True if the run is still in the first attempt of its first workflow task: nothing can have been sent before. */
  inFirstTry(workflowId: string, runId: string): Promise<boolean>;
  /** True if the run's history holds a failed or timed-out workflow task, up to event `through` if that is given. */
  taskWasLost(workflowId: string, runId: string, through?: number): Promise<boolean>;
  /** State of a payment flow, whoever started it. */
  readFlow(workflowId: string): Promise<FlowReading>;
  /**
   * Refunds a payment, found by the reference of the flow that created it, or by its id if that flow is no longer kept.
   * A repeated `commandId` refunds once.
   */
  refund(call: RefundOfPayment): Promise<RefundReading>;
  /** Tells the subscription that made a payment. `gone`: it has ended, or is no longer kept. */
  tellSubscription(call: TellSubscriptionCall): Promise<'told' | 'gone'>;
  /** Counts in a day of a business unit. `dayIsOver`: the flow that counted that day has closed. */
  countOutgoing(day: OutgoingDay, asked: CountOutgoing): Promise<CountedOutgoing | 'dayIsOver'>;
  /** Gives notifications to the flow that sends them. The same may be given again: it is sent once. */
  handOver(call: HandOver): Promise<void>;
}

/** `day`: `YYYY-MM-DD` in UTC. */
export interface OutgoingDay {
  businessUnit: string;
  day: string;
}

/** Result of the latest completed run under a workflow id. */
export interface LatestResult {
  /** undefined if no run has completed. */
  result: unknown;
  workflowType?: string;
  /** Of the run that has completed, as its search attributes show it. */
  businessUnit?: string;
  /** False if a later run has no result: it was terminated, has failed, or is no longer kept. */
  ofLatestRun: boolean;
}

/** `token`: of the card that it was started with, if it names a stored one. */
export type FlowReading =
  /** No flow has this id, or it is no longer kept. `later`: the lowest number of a later payment of the same bill that is. */
  | { state: 'absent'; later?: number }
  | { state: 'open' }
  | { state: 'ended'; outcome: Outcome; token?: string }
  /** Failed with a typed failure, or was cancelled before it sent anything: no money moved. */
  | { state: 'refused'; why: string }
  /**
   * Terminated before the payment's outcome was known, or refused because another flow has used the reference.
   * `paymentId`: the payment that it shows as its own.
   */
  | { state: 'lost'; why: string; paymentId?: string; token?: string };

export interface RefundOfPayment {
  /** Reference of the payment. */
  payment: string;
  /** The service's payment id, if known. */
  paymentId: string | undefined;
  currency: string;
  businessUnit: string;
  commandId: string;
  amount: number | undefined;
  who?: string;
  why?: string;
  /** The second yes that a refund of a disputed payment needs. */
  confirmDisputed?: true;
}

export type RefundReading = { refused: string } | RefundState;

/**
 * If the workflow task's start event number is 5 or less, it is the first attempt of the first task: a failed or
 * timed-out attempt adds three events before the next one starts, and early messages add at most two.
 */
export const FIRST_TASK_MAX_EVENTS = 5;
