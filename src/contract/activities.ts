import type {
  CreateAuthorizationCall,
  CreateCaptureCall,
  CreateChargeCall,
  CreateCreditCall,
  CreateCustomerCall,
  CreatePaymentCall,
  CreateRefundCall,
  CreateRiskAnalysisCall,
  CreateTransactionCall,
  CreateVoidCall,
  CustomerCall,
  DeliverEventCall,
  FindCustomerCall,
  ListPaymentMethodsCall,
  GetTransactionCall,
  KeyedCall,
  ListTransactionsCall,
  PaymentAndTransactionsCall,
  PaymentCall,
  PaymentMethodCall,
  StorePaymentMethodCall,
  TellSubscriptionCall,
  TokenCall,
} from './activity-calls.js';
import type { OutgoingAnswer, OutgoingCall } from './outgoing.js';
import type { EventDelivery } from './parked-event.js';
import type { ActionsBefore, PaymentCreator } from './payment-actions.js';
import type {
  CustomerRecord,
  PaymentAndTransactions,
  PaymentMethodRecord,
  PaymentRecord,
  RiskAnalysisRecord,
  SentBefore,
  TransactionRecord,
} from './records.js';

/**
 * All activities of the payment workflows: one per call of the payment service, plus look-ups in the engine. They fail
 * only with the types of `FAILURE_TYPES`. Histories store the activity names: add names, never rename one.
 *
 * `createToken` must never be an activity: its input holds a card number, which would be written to a history.
 */
export interface PaymentActivities extends TransactionActivities, EngineLookUps {
  createPayment(call: CreatePaymentCall): Promise<PaymentRecord>;
  getPayment(call: PaymentCall): Promise<PaymentRecord>;
  /** The payment first, and then its lists: what they leave out is at least as new as its state. */
  getPaymentAndTransactions(call: PaymentAndTransactionsCall): Promise<PaymentAndTransactions>;

  createCustomer(call: CreateCustomerCall): Promise<CustomerRecord>;
  getCustomer(call: CustomerCall): Promise<CustomerRecord>;
  /** undefined if no customer has the reference now: it was deleted, or it never existed. */
  findCustomer(call: FindCustomerCall): Promise<CustomerRecord | undefined>;
  storePaymentMethod(call: StorePaymentMethodCall): Promise<PaymentMethodRecord>;
  getPaymentMethod(call: PaymentMethodCall): Promise<PaymentMethodRecord>;
  listPaymentMethods(call: ListPaymentMethodsCall): Promise<PaymentMethodRecord[]>;
  /** `NotFound` only if no earlier attempt can have left: after a lost reply, a 404 means that the card was deleted. */
  deletePaymentMethod(call: PaymentMethodCall): Promise<void>;
  getToken(call: TokenCall): Promise<PaymentMethodRecord>;

  /** Counts a credit or refund before it is sent, and says whether it may be. Retried until the counter answers. */
  countOutgoing(call: OutgoingCall): Promise<OutgoingAnswer>;

  /** Tells the subscription that has made a payment that it is disputed. Retried until it is told, or gone. */
  tellSubscription(call: TellSubscriptionCall): Promise<'told' | 'gone'>;

  /** Finds the flow that an event belongs to and delivers the event to it, with the event's hash as request id. */
  deliverEvent(call: DeliverEventCall): Promise<EventDelivery>;
}

/**
 * Order of the calls to the payment service, by the server in its queues and by each worker: 1 goes first. `deadline`:
 * a capture or void with less than an hour left. `buyer`: somebody waits at a checkout. `command`: a caller waits for a
 * capture, void or refund, or a step cannot go on without a read. `other`: captures and voids that nobody waits for, and
 * bills. `poll`: reads of what pends.
 */
export const CALL_PRIORITIES = { deadline: 1, buyer: 2, command: 3, other: 4, poll: 5 } as const;
export type CallPriority = (typeof CALL_PRIORITIES)[keyof typeof CALL_PRIORITIES];

/** Names of the activities that carry an idempotency key. */
export type KeyedActivity = {
  [Name in keyof PaymentActivities]: Parameters<PaymentActivities[Name]>[0] extends KeyedCall ? Name : never;
}[keyof PaymentActivities];

/** Engine look-ups about the calling flow, or about the flow that created its payment. */
export interface EngineLookUps {
  /**
   * Run id of an earlier run under this flow's workflow id, if one ever existed (money rule 1). Where none did, fails
   * with `InvalidInput` if the flow's start input is not encrypted and the workers refuse unencrypted input.
   */
  findEarlierRun(start?: { inClear: boolean }): Promise<string | undefined>;
  /** The payment that an earlier run (before a reset) created under `key`; without `key`, its first payment. */
  findEarlierPayment(key?: string): Promise<PaymentRecord | undefined>;
  /** When the runs before this one (before a reset) first sent each call of their holds. */
  findSentBefore(): Promise<SentBefore>;
  /** Whether another run that a reset made has sent money, which this run knows nothing of. */
  findSiblingThatSent(): Promise<SiblingThatSent>;
  /**
   * Result of the latest completed run under this flow's workflow id (`paymentActions`), and what {@link findCreator} says
   * of `creator`, the workflow id of the flow that created the payment, if it is given.
   */
  findActionsBefore(creator?: string): Promise<ActionsBefore>;
  /** Result of the run from which a reset made this one; undefined if it is no longer kept. */
  findEarlierResult(): Promise<EarlierResult | undefined>;
  /** The flow that created a payment: whether it is open, and which commands it executed. */
  findCreator(workflowId: string): Promise<PaymentCreator>;
  /**
   * True if a workflow task of this run, or of `runId`, failed or timed out: its local attempts may have been sent.
   * Also true if that run is no longer kept.
   * @param through number of the last event that counts; undefined: all
   * @param heldAt epoch ms: it is asked about what follows a hold that a read has shown as held then, and which a restore that was
   * over by then has not lost
   */
  taskWasLost(runId?: string, through?: number, heldAt?: number): Promise<boolean>;
}

export interface SiblingThatSent {
  /** Run id of the run that asked: a reset copies the answer. */
  asked: string;
  /** Run id. */
  sibling?: string;
}

/** Result of a flow of any type, as its caller received it. */
export type EarlierResult = Readonly<Record<string, unknown>>;

/** One kind of transaction: the POST's input, the record that flows keep, and the name of its list. */
export interface TransactionOperation<
  Plural extends string = string,
  Call extends CreateTransactionCall = CreateTransactionCall,
  Kept extends TransactionRecord = TransactionRecord,
> {
  plural: Plural;
  call: Call;
  record: Kept;
}

/** Each kind also has a row in `activities/transaction-table.ts`. */
export interface TransactionOperations {
  /** Holds money. */
  Authorization: TransactionOperation<'Authorizations', CreateAuthorizationCall>;
  /** Moves money at once. */
  Charge: TransactionOperation<'Charges', CreateChargeCall>;
  /** Captures held money: the whole amount if none is given. */
  Capture: TransactionOperation<'Captures', CreateCaptureCall>;
  /** Cancels a transaction before it settles. */
  Void: TransactionOperation<'Voids', CreateVoidCall>;
  /** Refunds captured money. */
  Refund: TransactionOperation<'Refunds', CreateRefundCall>;
  /** Sends money to a card without an earlier payment. */
  Credit: TransactionOperation<'Credits', CreateCreditCall>;
  /** Moves no money, but is sent, retried and looked up like the others. */
  RiskAnalysis: TransactionOperation<'RiskAnalyses', CreateRiskAnalysisCall, RiskAnalysisRecord>;
}

/** Three activities per kind: `createCharge`, `getCharge`, `listCharges`. A `Failed` transaction is not an error. */
export type TransactionActivities<
  Operations extends { [Name in keyof Operations]: TransactionOperation } = TransactionOperations,
> = {
  [Name in keyof Operations & string as `create${Name}`]: (
    call: Operations[Name]['call'],
  ) => Promise<Operations[Name]['record']>;
} & {
  [Name in keyof Operations & string as `get${Name}`]: (
    call: GetTransactionCall,
  ) => Promise<Operations[Name]['record']>;
} & {
  [Name in keyof Operations & string as `list${Operations[Name]['plural']}`]: (
    call: ListTransactionsCall,
  ) => Promise<Operations[Name]['record'][]>;
};
