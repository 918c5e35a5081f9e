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
  GetTransactionCall,
  KeyedCall,
  ListTransactionsCall,
  PaymentCall,
  PaymentMethodCall,
  StorePaymentMethodCall,
  TokenCall,
} from './activity-calls.js';
import type { EventDelivery } from './parked-event.js';
import type { PaymentActionsResult, PaymentCreator } from './payment-actions.js';
import type { CustomerRecord, PaymentMethodRecord } from './records.js';
import type { PaymentRecord, RiskAnalysisRecord, TransactionRecord } from './transaction.js';

/**
 * What workflows ask of the world: one activity for each call of the payment service that a workflow makes, failing only
 * with the types of `failure-types.ts`, and look-ups in the engine itself. Histories keep the names: one may be added, none
 * changed.
 *
 * `createToken` must never be one: a card number in its input would be in a history.
 */
export interface PaymentActivities extends TransactionActivities, EngineLookUps {
  createPayment(call: CreatePaymentCall): Promise<PaymentRecord>;
  getPayment(call: PaymentCall): Promise<PaymentRecord>;

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

  /** Looks for the flow that an event belongs to, and hands it over under the event's own request id. */
  deliverEvent(call: DeliverEventCall): Promise<EventDelivery>;
}

/** Names of the activities that carry an idempotency key. */
export type KeyedActivity = {
  [Name in keyof PaymentActivities]: Parameters<PaymentActivities[Name]>[0] extends KeyedCall ? Name : never;
}[keyof PaymentActivities];

/** Look-ups in the engine about the flow that asks, or about the one that made its payment. */
export interface EngineLookUps {
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
}

/** The result of a flow, of whichever type, as a caller was told it. */
export type EarlierResult = Readonly<Record<string, unknown>>;

/** One kind of transaction: what its POST takes, what flows keep of it, and the name of its list. */
export interface TransactionOperation<
  Plural extends string = string,
  Call extends CreateTransactionCall = CreateTransactionCall,
  Kept extends TransactionRecord = TransactionRecord,
> {
  plural: Plural;
  call: Call;
  record: Kept;
}

/** Each kind has a row in `activities/transactions.ts` as well. */
export interface TransactionOperations {
  /** Locks funds. */
  Authorization: TransactionOperation<'Authorizations', CreateAuthorizationCall>;
  /** Moves money at once. */
  Charge: TransactionOperation<'Charges', CreateChargeCall>;
  /** Moves what an authorization locked: the whole, where no amount is named. */
  Capture: TransactionOperation<'Captures', CreateCaptureCall>;
  /** Cancels what is not final yet. */
  Void: TransactionOperation<'Voids', CreateVoidCall>;
  /** Gives back what was captured. */
  Refund: TransactionOperation<'Refunds', CreateRefundCall>;
  /** Sends money to a card, without relation to an earlier transaction. */
  Credit: TransactionOperation<'Credits', CreateCreditCall>;
  /** Moves no money, but is asked for, retried and looked for in the same way. */
  RiskAnalysis: TransactionOperation<'RiskAnalyses', CreateRiskAnalysisCall, RiskAnalysisRecord>;
}

/** `POST`, `GET` and list of each kind: `createCharge`, `getCharge`, `listCharges`. A `Failed` transaction is an answer. */
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
