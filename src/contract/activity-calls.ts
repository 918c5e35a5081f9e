import type { PaymentDisputed } from './disputes.js';
import type { TransactionEvent } from './messages.js';
import type { BuyerInput, PaymentInput } from './payment-input.js';
import type { ListedKind } from './records.js';

/**
 * Business unit whose credentials a call uses. Another worker may configure the same unit name with another app id or
 * environment. The payment doesn't exist there, so a lost capture would look like a refused one.
 */
export interface UnitCall {
  businessUnit: string;
  /** Environment and app id of the payment (see `PaymentRecord`), once known. A worker with others sends nothing. */
  madeUnder?: string | undefined;
}

/** Fields of every POST with an idempotency key. */
export interface KeyedCall extends UnitCall {
  /** See `idempotency.ts`. */
  key: string;
  /** Epoch ms. The activity refuses to send after this (money rule 4). */
  postUntil: number;
  /**
   * True if, as far as the workflow knows, an earlier attempt under this key may have reached the service. A 4xx is
   * then not believed (money rule 5).
   */
  mayHaveLeft: boolean;
  /** Epoch ms. From then on it goes before all others of its unit, whatever its activity's priority was when it was scheduled. */
  urgentFrom?: number;
  /** A reset keeps this id but changes the run id, so the activity can detect a reset run. */
  originalRunId: string;
}

/** Requirements on the unit. The activity checks them, before it sends anything. */
export interface PaymentTerms {
  /** The payment is risk-analysed, so it is created under the unit's risk unit. */
  risk?: true;
  /** The payment uses or stores a card on file: needs API version 1.2.0 or later. */
  storedCard?: true;
  /** ms after the authorization. Refused if the unit's holds are too short for it. */
  captureDeadlineMs?: number;
  /** The flow's own address for notifications. Refused if nothing may be sent there. */
  notifyUrl?: string;
}

export interface CreatePaymentCall extends KeyedCall {
  payment: Omit<PaymentInput, 'reference' | 'businessUnit'>;
  additionalDetails: Record<string, string>;
  /** Epoch ms: when a read last showed the hold as held which this payment replaces. No run before has made it then. */
  heldAt?: number | undefined;
  /** What the unit must support for the rest of the flow; undefined if a plain charge is enough. */
  terms?: PaymentTerms;
}

export interface GetTransactionCall extends UnitCall {
  paymentId: string;
  /** Currency of the payment. API version 1.0.0 sends decimal amounts without a currency. */
  currency: string;
  transactionId: string;
}

export interface PaymentCall extends UnitCall {
  /** The caller is a reset run. The answer repeats this, so that a replay uses the value at the time of the call. */
  afterReset?: true;
  paymentId: string;
}

export interface ListTransactionsCall extends PaymentCall {
  currency: string;
}

export interface PaymentAndTransactionsCall extends ListTransactionsCall {
  /** Lists that are not asked for, since the service has refused them. */
  without: readonly ListedKind[];
}

/** Fields of every call that creates a transaction. */
export interface CreateTransactionCall extends KeyedCall {
  paymentId: string;
  /** Currency of the payment. API version 1.0.0 sends decimal amounts without a currency. */
  currency: string;
  /** Voids and risk analyses don't send one. */
  reconciliationId?: string;
  additionalDetails: Record<string, string>;
  /**
   * Transactions of this kind that belong to other operations, read before the first POST. A reset run adopts one of
   * them only if it echoes the key.
   */
  knownTransactionIds?: string[];
  /** Transaction ids that a read listed just before the first POST, whoever created them. */
  notedTransactionIds?: string[];
  /** In a reset run: nothing is sent that the run before, which was cancelled, has not sent. */
  unlessCancelled?: true;
  /** In a reset run: if the service shows the payment as captured, nothing is sent and nothing is adopted. */
  unlessCaptured?: true;
}

export interface CreateChargeCall extends CreateTransactionCall {
  reconciliationId: string;
  charge: Omit<BuyerInput, 'redirectTimeLimit'>;
}

export interface CreateAuthorizationCall extends CreateTransactionCall {
  reconciliationId: string;
  authorization: CreateChargeCall['charge'] & {
    authorizationType?: 'pre_authorization' | 'final_authorization';
  };
}

/** Sends money to a card without an earlier payment. */
export interface CreateCreditCall extends CreateTransactionCall {
  reconciliationId: string;
  credit: Pick<BuyerInput, 'paymentMethod' | 'cardOnFile'>;
}

export interface CreateCaptureCall extends CreateTransactionCall {
  /** Minor units; default the whole amount. Required from the payment's second capture on. */
  capture: { amount?: number };
  /** Asked for by the deadline of the hold: no brake stops it. */
  atDeadline?: true;
  /** Required: a payment may have several, and after a reset a single capture missing here would be adopted. */
  knownTransactionIds: string[];
}

export interface CreateRefundCall extends CreateTransactionCall {
  /** Minor units; default the whole amount. `captureId` is required if the payment has several captures. */
  refund: { amount?: number; captureId?: string; reason?: string };
  /** Required, as for captures. */
  knownTransactionIds: string[];
}

export interface CreateVoidCall extends Omit<CreateTransactionCall, 'reconciliationId'> {
  /** It makes room for a new authorization, and a brake that stops that one stops it too: the hold would be lost. */
  toReauthorize?: true;
}

/** Details for the risk provider beyond the payment itself. */
interface RiskDetails {
  productDescExtra1?: string | undefined;
  productDescExtra2?: string | undefined;
  productDescExtra3?: string | undefined;
  /** `yyyy/mm/dd`. */
  payerBirthday?: string | undefined;
}

/** Since API version 1.3.0. Identifies the card by its token only. */
export interface CreateRiskAnalysisCall extends Omit<CreateTransactionCall, 'reconciliationId'> {
  riskAnalysis: {
    /** The operation that follows the analysis, such as `charge`. */
    transactionType?: string;
    paymentMethod?: { type: 'tokenized'; token: string };
    clientIpAddress?: string;
    sessionId?: string;
    deviceId?: string;
    /** Keyed by the risk provider's identifier, which ends in `_risk`. */
    providerSpecificData?: Record<string, { additionalDetails?: RiskDetails | undefined }>;
  };
}

export interface CustomerCall extends UnitCall {
  customerId: string;
}

export interface ListPaymentMethodsCall extends CustomerCall {
  /** The merchant's own: it tells a customer who was deleted from a read that is not offered. */
  customerReference?: string;
}

export interface FindCustomerCall extends UnitCall {
  customerReference: string;
  /** The caller stores a card for this customer: `InvalidInput` if the unit can't store cards. */
  forCards?: true;
}

/** Country codes are ISO 3166-1 alpha-3. */
interface CustomerAddress {
  country?: string;
  state?: string;
  city?: string;
  line1?: string;
  line2?: string;
  zipCode?: string;
  title?: string;
  firstName?: string;
  lastName?: string;
  phone?: string;
  email?: string;
}

/** Personal data. Sent to the service and written to the (encrypted) history once; no answer returns it. */
interface CustomerContent {
  /** The merchant's id of the customer; it can't be changed later. */
  customerReference: string;
  firstName?: string | undefined;
  lastName?: string | undefined;
  /** Required for network tokens. */
  email?: string | undefined;
  shippingAddress?: CustomerAddress;
}

export interface CreateCustomerCall extends KeyedCall {
  customer: CustomerContent;
  additionalDetails?: Record<string, string>;
}

export interface PaymentMethodCall extends CustomerCall {
  token: string;
}

/** Since API version 1.2.0. The token must be less than 24 h old. */
export interface StorePaymentMethodCall extends KeyedCall {
  customerId: string;
  token: string;
}

export interface TokenCall extends UnitCall {
  token: string;
}

export interface DeliverEventCall {
  event: TransactionEvent;
  /** Workflow id of the calling flow, which already has the event. */
  except?: string;
  /** It was parked so long ago that a list of the engine shows whose the payment is. */
  isListed?: boolean;
}

export interface TellSubscriptionCall extends PaymentDisputed {
  /** Its reference. */
  subscription: string;
}
