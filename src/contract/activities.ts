import type { Outcome } from './outcomes.js';
import type { CreatePaymentCall, GetTransactionCall, ListTransactionsCall, PaymentCall } from './activity-calls.js';
import type {
  CreateCustomerCall,
  CustomerCall,
  FindCustomerCall,
  PaymentMethodCall,
  StorePaymentMethodCall,
  TokenCall,
} from './customer-calls.js';
import type { EventPort } from './event-port.js';
import type { TransactionEvent } from './messages.js';
import type { EventDelivery } from './parked-event.js';
import type { CustomerRecord, PaymentMethodRecord } from './records.js';
import type { PaymentActionsResult, PaymentCreator } from './payment-actions.js';
import type { PaymentRecord, RiskAnalysisRecord, TransactionRecord } from './transaction.js';
import type {
  CreateAuthorizationCall,
  CreateCaptureCall,
  CreateChargeCall,
  CreateCreditCall,
  CreateRefundCall,
  CreateRiskAnalysisCall,
  CreateVoidCall,
} from './transaction-calls.js';

export type * from './activity-calls.js';
export type * from './customer-calls.js';
export type * from './event-port.js';
export type * from './transaction-calls.js';

/**
 * What workflows ask of the world: one activity for each call of the payment service that a workflow makes, failing only
 * with the types of `failure-types.ts`, and look-ups in the engine itself. Histories keep the names: one may be added, none
 * changed.
 *
 * `createToken` must never be one: a card number in its input would be in a history.
 */
export interface PaymentActivities {
  createPayment(call: CreatePaymentCall): Promise<PaymentRecord>;
  getPayment(call: PaymentCall): Promise<PaymentRecord>;

  createAuthorization(call: CreateAuthorizationCall): Promise<TransactionRecord>;
  getAuthorization(call: GetTransactionCall): Promise<TransactionRecord>;
  listAuthorizations(call: ListTransactionsCall): Promise<TransactionRecord[]>;
  createCharge(call: CreateChargeCall): Promise<TransactionRecord>;
  getCharge(call: GetTransactionCall): Promise<TransactionRecord>;
  listCharges(call: ListTransactionsCall): Promise<TransactionRecord[]>;
  createCapture(call: CreateCaptureCall): Promise<TransactionRecord>;
  getCapture(call: GetTransactionCall): Promise<TransactionRecord>;
  listCaptures(call: ListTransactionsCall): Promise<TransactionRecord[]>;
  createVoid(call: CreateVoidCall): Promise<TransactionRecord>;
  getVoid(call: GetTransactionCall): Promise<TransactionRecord>;
  listVoids(call: ListTransactionsCall): Promise<TransactionRecord[]>;
  createRefund(call: CreateRefundCall): Promise<TransactionRecord>;
  getRefund(call: GetTransactionCall): Promise<TransactionRecord>;
  listRefunds(call: ListTransactionsCall): Promise<TransactionRecord[]>;
  createCredit(call: CreateCreditCall): Promise<TransactionRecord>;
  getCredit(call: GetTransactionCall): Promise<TransactionRecord>;
  listCredits(call: ListTransactionsCall): Promise<TransactionRecord[]>;
  createRiskAnalysis(call: CreateRiskAnalysisCall): Promise<RiskAnalysisRecord>;
  getRiskAnalysis(call: GetTransactionCall): Promise<RiskAnalysisRecord>;
  listRiskAnalyses(call: ListTransactionsCall): Promise<RiskAnalysisRecord[]>;

  createCustomer(call: CreateCustomerCall): Promise<CustomerRecord>;
  getCustomer(call: CustomerCall): Promise<CustomerRecord>;
  /** Undefined when no customer has the reference now, whether it was deleted or never was. */
  findCustomer(call: FindCustomerCall): Promise<CustomerRecord | undefined>;
  storePaymentMethod(call: StorePaymentMethodCall): Promise<PaymentMethodRecord>;
  getPaymentMethod(call: PaymentMethodCall): Promise<PaymentMethodRecord>;
  listPaymentMethods(call: CustomerCall): Promise<PaymentMethodRecord[]>;
  /** `NotFound` while no earlier attempt can have left only: after a lost reply it says that the earlier one worked. */
  deletePaymentMethod(call: PaymentMethodCall): Promise<void>;
  getToken(call: TokenCall): Promise<PaymentMethodRecord>;

  /**
   * Run id of an earlier run under this flow's workflow id, if there ever was one (money rule 1). Fails with `InvalidInput`
   * where it was started in clear and the workers refuse that.
   */
  findEarlierRun(start?: { inClear: boolean }): Promise<string | undefined>;
  /** The payment that an earlier run of this flow (before a reset) created under the key, or its first one. */
  findEarlierPayment(key?: string): Promise<PaymentRecord | undefined>;
  /** What the latest closed run under this flow's workflow id left behind (`paymentActions`). */
  findEarlierActions(): Promise<PaymentActionsResult | undefined>;
  /** What a run of this flow has ended with from which a reset has made this one, as far as it is kept. */
  findEarlierResult(): Promise<EarlierResult | undefined>;
  /** The flow that made a payment: whether it still runs, and what it was commanded to do. */
  findCreator(workflowId: string): Promise<PaymentCreator>;
  /**
   * True when a workflow task of this run, or of the one named, failed or timed out: its local tries may have been made
   * before. True as well when that run is not kept any more.
   */
  taskWasLost(runId?: string): Promise<boolean>;
  /** Looks for the flow that an event belongs to, and hands it over under the event's own request id. */
  deliverEvent(call: DeliverEventCall): Promise<EventDelivery>;
}

/** The result of a flow, of whichever type, as a caller was told it. */
export type EarlierResult = Readonly<Record<string, unknown>>;

export interface DeliverEventCall {
  event: TransactionEvent;
  /** The flow that asks: it has the event already. */
  except?: string;
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
