import type { Declined } from './charge.js';
import type { NotExecuted } from './outcome.js';
import type { CardCap } from './declines.js';
import type { FlowReading, RefundOfPayment, RefundReading } from './engine-port.js';
import type { Dunning, Interval, MissedPeriods, OnGivenUp } from './subscription.js';

/**
 * Activities of a subscription. The calendar runs here because time zone rules change with the Node version: a workflow
 * that computed with them would not replay. Times are epoch ms.
 */
export interface BillingActivities {
  openSubscription(call: OpenSubscriptionCall): Promise<OpenedSubscription>;
  planBilling(call: PlanBillingCall): Promise<PlannedBilling>;
  /** Classifies the result of an attempt. Recorded histories hold this name. */
  judgeAttempt(call: ClassifyAttemptCall): Promise<ClassifiedAttempt>;
  resumeBill(call: ResumeBillCall): Promise<DunningDecision>;
  changePlan(call: ChangePlanCall): Promise<ChangedPlan>;
  /** Why nothing could be sent to the address; empty if it can. */
  checkNotify(call: CheckNotifyCall): Promise<{ faults: string[] }>;
  /** State of an attempt whose flow was started by another run. */
  readAttempt(workflowId: string): Promise<FlowReading>;
  refundBill(call: RefundOfPayment): Promise<RefundReading>;
}

export interface OpenSubscriptionCall {
  raw: unknown;
  now: number;
}
/** All faults at once, including those of calendar, card and customer. */
export type OpenedSubscription =
  /** `notifyIsFaulty`: nothing can be sent to its own address. */
  { faults: string[]; notifyIsFaulty?: true; notifies?: true } | { last4Digits?: string; notifies?: true };

interface CheckNotifyCall {
  businessUnit: string;
  url: string;
}

export interface PlanBillingCall {
  plan: BillingPlan;
  /** First period that is neither billed nor missed. */
  from: number;
  now: number;
  policy: MissedPeriods;
  /** Periods to be skipped. */
  skipped?: number[];
  /** The pause that has ended, while any period that came due during it is left. */
  resumed?: Resumed;
  dunning: Dunning | undefined;
  /** Final state of the previous bill. */
  previous: DunningState | undefined;
  /** Last paid period. */
  lastPaid: number | undefined;
  businessUnit?: string;
  /** A run that a reset has made asks. */
  afterReset?: true;
}
export interface PlannedBill {
  period: number;
  date: string;
  endsAt: number;
  state: DunningState;
  step: DunningStep;
}
export interface PlannedBilling {
  /** The bill to send now. If more are due, the flow plans again after this one. */
  bill?: PlannedBill;
  missed?: PeriodRange;
  next?: Period;
  /** If nothing is due: how the bill of `next` opens if no command comes before and it is opened in time. */
  ahead?: { bill: PlannedBill; next?: Period };
  /** Set if no period follows: when the last paid period ends. */
  endsAt?: number;
  /** Set if no period follows: what would come after the plan's last one, paid or not. */
  after?: Period;
  /** Its business unit has endpoints for notifications. */
  notifies?: true;
  /** How often its business unit and the card schemes let a declined card be tried. */
  cardCaps?: CardCap[];
  /** As in the call: the history of what is asked for next must not depend on which run replays this answer. */
  afterReset?: true;
  /** Beside it: id of the run that has asked. */
  run?: string;
}

export interface ClassifyAttemptCall {
  plan: BillingPlan;
  dunning: Dunning | undefined;
  endsAt: number;
  state: DunningState;
  result: AttemptResult;
  now: number;
  businessUnit?: string;
}
/** `cardCaps` as in {@link PlannedBilling}. */
interface ClassifiedAttempt extends DunningDecision {
  cardCaps?: CardCap[];
}
export interface DunningDecision {
  state: DunningState;
  step: DunningStep;
}

export interface ResumeBillCall extends Omit<ClassifyAttemptCall, 'result' | 'businessUnit'> {
  step: DunningStep;
  /** How much of the pause came after the bill's first decline. */
  pausedMs: number;
}

export interface ChangePlanCall {
  plan: BillingPlan;
  /** First period that is neither billed nor missed. */
  from: number;
  now: number;
  interval: BillingPlan['interval'] | undefined;
  billAt: string | undefined;
  afterReset?: true;
  /** It is paused until a person has decided: what is due may be changed too. */
  isInDoubt?: true;
}
/** `first`: the first period under the new plan; undefined if the plan has no period left that is not due. */
export interface ChangedPlan {
  plan: BillingPlan;
  first?: Period;
  /** Without `first`, while it is paused in doubt: the first period that is due and not closed. */
  due?: Period;
  /** As in {@link PlannedBilling}. */
  afterReset?: true;
  run?: string;
}

/** When a subscription bills. Plain data: passed from run to run. */
export interface BillingPlan {
  /** Determines the subscription's position within the jitter. */
  reference: string;
  /** All periods count from this day. Counting from an earlier period instead would drift after short months. */
  anchor: string;
  /** The first period begins this many days after the anchor, and the later ones count from its day. */
  trialDays: number;
  interval: Interval;
  timeZone: string;
  /** Local time, such as 10:00. */
  billAt: string;
  jitterMs: number;
  /** Ends after this many periods. */
  periods?: number;
  /** No period begins on this day or later. */
  endsOn?: string;
  /** Set when the interval changed: it applies from this period on, which begins `skipMonths` after the anchor. */
  since?: { period: number; skipMonths: number };
  /** The earlier plan, which still applies to the periods before this one: they were due when the plan changed. */
  before?: { period: number; plan: BillingPlan };
}

/** One period of a plan. It is billed when it begins and ends when the next one begins. */
export interface Period {
  /** From 1. */
  period: number;
  /** Calendar day. If the time zone skipped that day, the bill is due at the start of the next one. */
  date: string;
  /** Epoch ms, jitter included. */
  dueAt: number;
}

/** Both ends are inclusive. */
export interface PeriodRange {
  first: number;
  last: number;
}

/** A pause that has ended. Its policy applies only to periods that came due before its end. */
export interface Resumed {
  /** Epoch ms. */
  at: number;
  policy: MissedPeriods;
  /**
   * Epoch ms. With `billAll` of an earlier pause: it holds for what was due by then, when the pause that has ended began.
   * What came due later, until `at`, is skipped.
   */
  allUntil?: number;
}

/** State of an attempt to bill. `refused`: the flow failed with a typed failure and no money moved. */
export type AttemptResult =
  /** `saidBy`: by a person's word, and so not counted yet by the table of its business unit. */
  | (Pick<Declined, 'status' | 'category' | 'subCategory' | 'retryable' | 'confirmed'> & { saidBy?: 'operator' })
  | { status: 'succeeded' | 'refused' | 'pending' | 'unknown' }
  | Pick<NotExecuted, 'status' | 'braked'>;

/**
 * What must come before the next attempt of the period. `outcome`: the last attempt's outcome. `confirmation`: an
 * operator who knows whether an unconfirmed failure took the money. `card`: another card. `person`: another card, or an
 * operator who has fixed the cause.
 */
export type Hold = 'outcome' | 'confirmation' | 'card' | 'person';

/** Progress of one period. Plain data: passed from run to run. */
export interface DunningState {
  /** Number of declined attempts. */
  declines: number;
  /** Consecutive attempts that the card's issuer never answered. */
  faults: number;
  /** Epoch ms. */
  firstDeclinedAt?: number;
  /** ms since `firstDeclinedAt` without attempts (pause, outage). Delays the retry schedule by as much. */
  heldMs?: number;
  hold?: Hold;
}

export type DunningStep =
  | { do: 'nothing' }
  | { do: 'attempt' }
  /** Retry not before `at` (epoch ms). A decline uses up an attempt, a fault or a brake does not. */
  | { do: 'retry'; at: number; after: 'decline' | 'fault' | 'brake' }
  /** No further attempt until this one is resolved, however long that takes. */
  | { do: 'block' }
  /** Waits as {@link Hold} says. The period is given up at `giveUpAt` (epoch ms) unless someone acts first. */
  /** `cutShort`: the next period's bill left less time to act than the policy grants. */
  | { do: 'wait'; for: Exclude<Hold, 'outcome'>; giveUpAt: number; cutShort?: true }
  | { do: 'giveUp'; effect: OnGivenUp };
