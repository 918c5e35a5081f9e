import type { FinalOutcome, Outcome } from '../../src/contract/outcomes.js';
import type { SubscriptionAnswer, SubscriptionEnded } from '../../src/contract/subscription-outcome.js';
import type { HoldfastError } from '../../src/client/index.js';

/** As the ledger calls them; an analysis of risk moves nothing and stands in no ledger. */
export type Movement = 'charge' | 'authorization' | 'credit' | 'capture' | 'void' | 'refund';

/** One thing that a caller asked for, and the last answer to it. */
export interface Operation {
  readonly what: Movement | 'risk';
  readonly commandId?: string;
  /** Of the operation itself. A void has none on the wire. */
  readonly reconciliationId?: string;
  /** How it must end, where that does not depend on who came first. */
  readonly expected: 'succeeded' | 'declined' | 'refused' | 'any';
  /** What was asked for, in minor units, where every answer must name the whole of it. */
  readonly amount?: number;
  answer?: Outcome;
  /** A typed refusal: nothing was done. */
  refusal?: HoldfastError;
}

export type SubscriptionCommand =
  'billNow' | 'cancel' | 'changeCard' | 'changePlan' | 'pause' | 'refundPeriod' | 'resume';

/** A subscription, and what it said of itself in the end. */
export interface SubscriptionRecord {
  readonly reference: string;
  /** Of each period, in minor units. */
  readonly amount: number;
  readonly currency: string;
  /** How many there are to be, unless it is cancelled. */
  readonly periods: number;
  readonly commands: { name: SubscriptionCommand; answer?: SubscriptionAnswer; refusal?: HoldfastError }[];
  ended?: SubscriptionEnded;
}

/** One flow: what was asked of its payment, and how it ended. */
export interface PaymentRecord {
  readonly number: number;
  /** What is done to the payment, as the summary calls it. */
  readonly scenario: string;
  /** Name of the unit whose profile it met. */
  readonly profile: string;
  readonly reference: string;
  /** The unit that it was sent to. */
  businessUnit: string;
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly operations: Operation[];
  readonly begunAt: number;
  endedAt?: number;
  /** Whether it is an analysis of risk alone, which makes a payment but moves nothing. */
  analysisOnly: boolean;
  /** Reference of the payment that the same course of events began with. */
  readonly partOf?: string;
  /** Whether the service has the card on file that was to be put there. */
  cardOnFile?: boolean;
  subscription?: SubscriptionRecord;
  /** Its hold may be let go and made anew, each on a payment of its own. */
  holdsRenewed?: boolean;
  /** Its service offers no reads by which a flow could learn what nobody has told it: there a person ends what is unknown. */
  withoutReads?: true;
  /** Somebody has terminated the flow that made the payment, which then has no outcome. */
  terminated: boolean;
  paymentId?: string;
  /** Of the flow that made the payment. */
  outcome?: FinalOutcome;
  /** What the scenario itself found wrong, one sentence each. */
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
