import type { FinalOutcome, Outcome } from '../../src/contract/messages.js';
import type { SubscriptionAnswer, SubscriptionEnded } from '../../src/contract/subscription-commands.js';
import type { HoldfastError } from '../../src/client/index.js';

/** Kinds of ledger entries. A risk analysis moves no money and has no ledger entry. */
export type Movement = 'charge' | 'authorization' | 'credit' | 'capture' | 'void' | 'refund';

/** One operation that a caller requested, with its last answer. */
export interface Operation {
  readonly what: Movement | 'risk';
  readonly commandId?: string;
  /** Reconciliation id of the operation itself. undefined for a void: its request has no such field. */
  readonly reconciliationId?: string;
  /** The required result, or `any` if the result depends on which of several concurrent requests came first. */
  readonly expected: 'succeeded' | 'declined' | 'refused' | 'any';
  /** Requested amount in minor units, if every answer must state this full amount. */
  readonly amount?: number;
  /** The caller has said that the payment is disputed, and that it is to be refunded all the same. */
  readonly confirmsDispute?: true;
  answer?: Outcome;
  /** A typed refusal: nothing was executed. */
  refusal?: HoldfastError;
}

export type SubscriptionCommand =
  | 'billNow'
  | 'cancel'
  | 'changeCard'
  | 'changePlan'
  | 'changeTerms'
  | 'pause'
  | 'refundPeriod'
  | 'resume'
  | 'setAmount'
  | 'skipPeriod';

/** A subscription and the outcome that it ended with. */
export interface SubscriptionRecord {
  readonly reference: string;
  /** Amount of each period in minor units. */
  readonly amount: number;
  readonly currency: string;
  /** Number of periods unless the subscription is cancelled. */
  readonly periods: number;
  readonly commands: { name: SubscriptionCommand; answer?: SubscriptionAnswer; refusal?: HoldfastError }[];
  ended?: SubscriptionEnded;
}

/** One flow: the operations requested on its payment, and its outcome. */
export interface PaymentRecord {
  readonly number: number;
  /** Name of the scenario in the summary. */
  readonly scenario: string;
  /** Business unit whose service profile applied. */
  readonly profile: string;
  readonly reference: string;
  /** Business unit that the request was sent to. */
  businessUnit: string;
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly operations: Operation[];
  readonly begunAt: number;
  endedAt?: number;
  /** True for a risk analysis without a payment operation: it creates a payment but moves no money. */
  analysisOnly: boolean;
  /** Reference of the first payment of the same scenario. */
  readonly partOf?: string;
  /** Whether the service has the card on file after a flow that was to store it. */
  cardOnFile?: boolean;
  subscription?: SubscriptionRecord;
  /** True if the hold may be released and reauthorized, each time on a new payment. */
  isReauthorized?: boolean;
  /** Set if the service offers no reads, so that an operator has to resolve unknown outcomes. */
  withoutReads?: true;
  /** True if the payment's flow was terminated and so has no outcome. */
  terminated: boolean;
  /** Set if an operator ended an earlier flow of the scenario, so that this one was never started. */
  neverStarted?: true;
  /** Set once a person has released the hold in the service's back office: the flow of the event has no way to know. */
  releasedByHand?: true;
  paymentId?: string;
  /** Outcome of the flow that made the payment. */
  outcome?: FinalOutcome;
  /** Violations that the scenario itself found, one sentence each. */
  readonly violations: string[];
}

export function newPaymentRecord(
  known: Pick<PaymentRecord, 'number' | 'scenario' | 'profile' | 'reference' | 'amount' | 'currency' | 'partOf'>,
): PaymentRecord {
  return {
    ...known,
    businessUnit: known.profile,
    operations: [],
    begunAt: Date.now(),
    analysisOnly: false,
    terminated: false,
    violations: [],
  };
}

const ENDS = new Set<string>([
  'succeeded',
  'declined',
  'notExecuted',
  'captured',
  'voided',
  'expired',
  'approve',
  'review',
  'decline',
  'stored',
  'consentedNotStored',
]);

export function isEnd(outcome: Outcome): outcome is FinalOutcome {
  return ENDS.has(outcome.status);
}
