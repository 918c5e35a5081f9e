import type { TransactionEvent } from './messages.js';
import type { BuyerInput, PaymentInput } from './payment-input.js';

/**
 * Where the service of a business unit is asked. The name of a unit may mean another app id on another worker, or the other
 * environment: there the payment is not to be found, and a lost capture would look like one that is refused.
 */
export interface UnitCall {
  businessUnit: string;
  /** Where the flow's payment was made (see `PaymentRecord`), once that is known; a worker that asks elsewhere sends nothing. */
  madeUnder?: string | undefined;
}

/** Travels with every POST that carries an idempotency key. */
export interface KeyedCall extends UnitCall {
  /** See `idempotency-key.ts`. */
  key: string;
  /** Epoch ms. The activity refuses to send later than this (money rule 4). */
  postUntil: number;
  /**
   * True when an earlier attempt under this key may already have reached the service, as far as the
   * workflow can know. Then a 4xx is not believed (money rule 5).
   */
  mayHaveLeft: boolean;
  /** Survives a reset while the run id changes: that is how the activity knows that it is in a reset run. */
  originalRunId: string;
}

/** Checked where the units are configured, before anything is sent. */
export interface PaymentTerms {
  /** To be risk-analysed: the payment is created under the unit's risk unit. */
  risk?: true;
  /** A card on file is used, or is to be put there: API version 1.2.0 or later. */
  storedCard?: true;
  /** ms after the authorization; a unit whose holds are shorter can't wait that long. */
  captureDeadlineMs?: number;
}

export interface CreatePaymentCall extends KeyedCall {
  payment: Omit<PaymentInput, 'reference' | 'businessUnit'>;
  additionalDetails: Record<string, string>;
  /** What the unit has to offer for what follows; absent where a charge alone does. */
  terms?: PaymentTerms;
}

export interface GetTransactionCall extends UnitCall {
  paymentId: string;
  /** Of the payment: API version 1.0.0 writes decimals and names no currency beside them. */
  currency: string;
  transactionId: string;
}

export interface PaymentCall extends UnitCall {
  /** A run made by a reset asks. It comes back in the answer, so that a replay decides by what was so when it was asked. */
  afterReset?: true;
  paymentId: string;
}

export interface ListTransactionsCall extends PaymentCall {
  currency: string;
}

/** What every call that makes a transaction carries beside its own fields. */
export interface CreateTransactionCall extends KeyedCall {
  paymentId: string;
  /** Of the payment: API version 1.0.0 writes decimals and names no currency beside them. */
  currency: string;
  /** Voids and risk analyses have none on the wire. */
  reconciliationId?: string;
  additionalDetails: Record<string, string>;
  /**
   * Ids of transactions of this kind that belong to other intents, noted before the first POST. A run made
   * by a reset never takes one of them for its own, unless it echoes the key.
   */
  knownTransactionIds?: string[];
  /** Ids that a read showed just before the first POST, whoever made them. */
  notedTransactionIds?: string[];
  /** In a run made by a reset: it is not sent, and none adopted, where the payment is shown as captured. */
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

/** Funds to a card, without relation to an earlier transaction. */
export interface CreateCreditCall extends CreateTransactionCall {
  reconciliationId: string;
  credit: Pick<BuyerInput, 'paymentMethod' | 'cardOnFile'>;
}

export interface CreateCaptureCall extends CreateTransactionCall {
  /** Minor units. Without `amount` the whole; needed from the second capture of a payment on. */
  capture: { amount?: number };
  /** Not optional: a payment may have several, and a lone one that is not known is taken for ours after a reset. */
  knownTransactionIds: string[];
}

export interface CreateRefundCall extends CreateTransactionCall {
  /** Minor units. Without `amount` the whole; `captureId` is needed where a payment has several captures. */
  refund: { amount?: number; captureId?: string; reason?: string };
  /** Not optional, as for captures. */
  knownTransactionIds: string[];
}

export type CreateVoidCall = Omit<CreateTransactionCall, 'reconciliationId'>;

/** What a risk provider may be told beyond the payment itself. */
interface RiskDetails {
  productDescExtra1?: string | undefined;
  productDescExtra2?: string | undefined;
  productDescExtra3?: string | undefined;
  /** `yyyy/mm/dd`. */
  payerBirthday?: string | undefined;
}

/** Since API version 1.3.0. The card is named by its token only. */
export interface CreateRiskAnalysisCall extends Omit<CreateTransactionCall, 'reconciliationId'> {
  riskAnalysis: {
    /** What is to follow, such as `charge`. */
    transactionType?: string;
    paymentMethod?: { type: 'tokenized'; token: string };
    clientIpAddress?: string;
    sessionId?: string;
    deviceId?: string;
    /** By the risk provider's identifier, which ends in `_risk`. */
    providerSpecificData?: Record<string, { additionalDetails?: RiskDetails | undefined }>;
  };
}

export interface CustomerCall extends UnitCall {
  customerId: string;
}

export interface FindCustomerCall extends UnitCall {
  customerReference: string;
  /** A card is to be stored with it: refused with `InvalidInput` where the unit can't store any. */
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

/** Personal data: it goes to the service and into the (encrypted) history once, and comes back in no answer. */
interface CustomerContent {
  /** The merchant's own; it can't be changed later. */
  customerReference: string;
  firstName?: string | undefined;
  lastName?: string | undefined;
  /** Needed for network tokens. */
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
  /** The flow that asks: it has the event already. */
  except?: string;
}
