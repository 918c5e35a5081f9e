import type { Declined } from './charge.js';
import type { FlowReading, RefundOfPayment, RefundReading } from './engine-port.js';
import type { Dunning, Interval, MissedPeriods, OnGivenUp } from './subscription.js';

/**
 * What a subscription asks outside of its workflow. The calendar is among it: the rules of a time zone change with
 * the version of Node, and a workflow that computed with them would not replay. Times are epoch ms.
 */
export interface BillingActivities {
  openSubscription(call: OpenSubscriptionCall): Promise<OpenedSubscription>;
  planBilling(call: PlanBillingCall): Promise<PlannedBilling>;
  judgeAttempt(call: JudgeAttemptCall): Promise<Judged>;
  resumeBill(call: ResumeBillCall): Promise<Judged>;
  changePlan(call: ChangePlanCall): Promise<ChangedPlan>;
  /** How an attempt stands whose flow another run has started. */
  readAttempt(workflowId: string): Promise<FlowReading>;
  refundBill(call: RefundOfPayment): Promise<RefundReading>;
  notifyMerchant(call: NotifyCall): Promise<void>;
}

export interface OpenSubscriptionCall {
  raw: unknown;
  now: number;
}
/** All faults at once, those of the calendar, card and customer included. */
export type OpenedSubscription = { faults: string[] } | { last4Digits?: string };

export interface PlanBillingCall {
  plan: BillingPlan;
  /** First period that is neither billed nor missed. */
  from: number;
  now: number;
  policy: MissedPeriods;
  /** The pause that is over, as long as something is left that came due in it. */
  resumed?: Resumed;
  dunning: Dunning | undefined;
  /** In which the bill before was left. */
  previous: DunningState | undefined;
  /** The last period that was paid. */
  lastPaid: number | undefined;
}
export interface PlannedBilling {
  /** To be billed now; when more are due, it is asked again after this one. */
  bill?: { period: number; date: string; endsAt: number; state: DunningState; step: DunningStep };
  missed?: PeriodRange;
  next?: Period;
  /** No further period comes, and what was paid for lasts until then. */
  endsAt?: number;
}

export interface JudgeAttemptCall {
  plan: BillingPlan;
  dunning: Dunning | undefined;
  endsAt: number;
  state: DunningState;
  result: AttemptResult;
  now: number;
}
export interface Judged {
  state: DunningState;
  step: DunningStep;
}

export interface ResumeBillCall extends Omit<JudgeAttemptCall, 'result'> {
  step: DunningStep;
  /** Of the pause, after its first decline. */
  pausedMs: number;
}

export interface ChangePlanCall {
  plan: BillingPlan;
  /** First period that is neither billed nor missed. */
  from: number;
  now: number;
  interval: BillingPlan['interval'] | undefined;
  billAt: string | undefined;
}
/** `first`: the period that the change begins with, by the new plan; absent when none is left that is not due. */
export interface ChangedPlan {
  plan: BillingPlan;
  first?: Period;
}

/** When a subscription bills. Plain data: it travels from run to run. */
export interface BillingPlan {
  /** Decides where in the jitter the subscription stands. */
  reference: string;
  /** The day that all periods are counted from: never that of an earlier period, or short months would add up. */
  anchor: string;
  /** The first period begins this many days after the anchor, and all are counted from there. */
  trialDays: number;
  interval: Interval;
  timeZone: string;
  /** Local time, as 10:00. */
  billAt: string;
  jitterMs: number;
  /** Ends after this many periods. */
  periods?: number;
  /** No period begins on this day or later. */
  endsOn?: string;
  /** Set when the interval was changed: it holds from this period on, which is `skipMonths` after the anchor. */
  since?: { period: number; skipMonths: number };
  /** The plan as it was, which still holds for the periods before this one: they were due when it was changed. */
  before?: { period: number; plan: BillingPlan };
}

/** One period of a plan. It lasts until the next one begins, and is billed when it begins. */
export interface Period {
  /** From 1. */
  period: number;
  /** By the calendar. Where the zone left that day out, the bill is due at the beginning of the next one. */
  date: string;
  /** Epoch ms, jitter included. */
  dueAt: number;
}

/** Both ends belong to it. */
export interface PeriodRange {
  first: number;
  last: number;
}

/** A pause that is over: its policy is for what had come due by its end, and for nothing that comes due later. */
export interface Resumed {
  /** Epoch ms. */
  at: number;
  policy: MissedPeriods;
}

/** How an attempt to bill stands. `refused`: the flow failed with a typed failure, and no money moved. */
export type AttemptResult =
  | Pick<Declined, 'status' | 'category' | 'retryable' | 'confirmed'>
  | { status: 'succeeded' | 'notExecuted' | 'refused' | 'pending' | 'unknown' };

/**
 * What must come before the next attempt of the period. `outcome`: that of the last one. `confirmation`: somebody
 * who knows whether a failure that the provider never confirmed took the money. `card`: another card. `person`:
 * another card, or somebody who has mended what was wrong.
 */
export type Hold = 'outcome' | 'confirmation' | 'card' | 'person';

/** How far one period has come. Plain data: it travels from run to run. */
export interface DunningState {
  /** Attempts that were declined. */
  declines: number;
  /** Attempts in a row that the card's issuer never judged. */
  faults: number;
  /** Epoch ms. */
  firstDeclinedAt?: number;
  /** ms since then in which nothing could be tried, as in a pause or an outage: the schedule stood still. */
  heldMs?: number;
  hold?: Hold;
}

export type DunningStep =
  | { do: 'nothing' }
  | { do: 'attempt' }
  /** Not before `at` (epoch ms); a decline uses an attempt, a fault does not. */
  | { do: 'retry'; at: number; after: 'decline' | 'fault' }
  /** No further attempt until this one is resolved, however long it takes. */
  | { do: 'block' }
  /** See {@link Hold}. Unless somebody acts before `giveUpAt` (epoch ms), the period is given up. */
  /** `cutShort`: the next period left less time than was due to whoever is waited for. */
  | { do: 'wait'; for: Exclude<Hold, 'outcome'>; giveUpAt: number; cutShort?: true }
  | { do: 'giveUp'; effect: OnGivenUp };

/** One notification to the merchant. `id` is the same at every repeat. */
export interface Notice {
  id: string;
  type: NoticeType;
  /** ISO 8601 UTC. */
  at: string;
  data: Record<string, unknown>;
}
export const NOTICE_TYPES = [
  'subscription.billed',
  'subscription.declined',
  'subscription.past_due',
  'subscription.card_needed',
  'subscription.unpaid',
  'subscription.missed',
  'subscription.paused',
  'subscription.resumed',
  'subscription.ended',
] as const;
export type NoticeType = (typeof NOTICE_TYPES)[number];

/** Failures of a notification that the engine does not try again. */
export const NOTICE_REFUSED = 'NoticeRefused';
export const ADDRESS_GONE = 'AddressGone';

export interface NotifyCall {
  businessUnit: string;
  url: string;
  notice: Notice;
}
