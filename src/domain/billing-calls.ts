import type { FlowReading, RefundOfPayment, RefundReading } from '../contract/activities.js';
import type { Dunning, MissedPeriods } from '../contract/subscription.js';
import type { BillingPlan, Period } from './billing-plan.js';
import type { AttemptResult, DunningState, DunningStep } from './dunning-state.js';
import type { PeriodRange, Resumed } from './missed-periods.js';

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
