import { defineQuery, defineSignal, defineUpdate, proxySinks } from '@temporalio/workflow';
import type {
  Approval,
  Approved,
  CaptureCommand,
  DecideReview,
  ReauthorizeCommand,
  RefundCommand,
  VoidCommand,
  EventSinks,
  FlowStatus,
  OutcomeRequest,
  RetryNow,
  SettleManually,
  TransactionEvent,
  Outcome,
} from '../src/contract/messages.js';
import type { CountedOutgoing, CountOutgoing } from '../src/contract/outgoing.js';
import type { SentNotifications } from '../src/contract/notifications.js';
import type { ParkedEventStatus } from '../src/contract/parked-event.js';
import {
  BRAKE_UPDATE,
  type BrakeRequest,
  type Brakes,
  type BrakesAfter,
  RELEASE_UPDATE,
  type ReleaseRequest,
} from '../src/contract/brakes.js';
import type { BulkStatus } from '../src/contract/bulk.js';
import {
  ACKNOWLEDGE_UPDATE,
  type Acknowledge,
  type AcknowledgedFinding,
  type FindingStatus,
  type ReconcileStatus,
} from '../src/contract/reconcile.js';
import { QUERY_NAMES, SIGNAL_NAMES, UPDATE_NAMES } from '../src/contract/names.js';
import type { BillsAndSchedule } from '../src/contract/subscription-bills.js';
import type {
  BillNow,
  CancelSubscription,
  ChangeCard,
  ChangePlan,
  ChangeTerms,
  Pause,
  RefundPeriod,
  Resume,
  SetAmount,
  SkipPeriod,
  SubscriptionAnswer,
  SubscriptionOutcome,
} from '../src/contract/subscription-commands.js';

export const outcomeUpdate = defineUpdate<Outcome, [OutcomeRequest]>(UPDATE_NAMES.outcome);
export const subscriptionOutcomeUpdate = defineUpdate<SubscriptionOutcome, [OutcomeRequest]>(UPDATE_NAMES.outcome);
export const settleManuallyUpdate = defineUpdate<Outcome, [SettleManually]>(UPDATE_NAMES.settleManually);
export const retryNowUpdate = defineUpdate<string, [RetryNow]>(UPDATE_NAMES.retryNow);
export const captureUpdate = defineUpdate<Outcome, [CaptureCommand]>(UPDATE_NAMES.capture);
export const voidUpdate = defineUpdate<Outcome, [VoidCommand]>(UPDATE_NAMES.void);
export const refundUpdate = defineUpdate<Outcome, [RefundCommand]>(UPDATE_NAMES.refund);
export const reauthorizeUpdate = defineUpdate<Outcome, [ReauthorizeCommand]>(UPDATE_NAMES.reauthorize);
export const decideReviewUpdate = defineUpdate<Outcome, [DecideReview]>(UPDATE_NAMES.decideReview);
export const approveUpdate = defineUpdate<Approved, [Approval]>(UPDATE_NAMES.approve);
export const rejectUpdate = defineUpdate<Approved, [Approval]>(UPDATE_NAMES.reject);
export const countOutgoingUpdate = defineUpdate<CountedOutgoing, [CountOutgoing]>(UPDATE_NAMES.countOutgoing);
/** The argument is typed `unknown` and parsed: no signal may wedge the flow (money rule 9). */
export const transactionEventSignal = defineSignal<[unknown]>(SIGNAL_NAMES.transactionEvent);
/** Parsed by the flow, as no signal may wedge it. */
export const disputedSignal = defineSignal<[unknown]>(SIGNAL_NAMES.disputed);
export const paymentDisputedSignal = defineSignal<[unknown]>(SIGNAL_NAMES.paymentDisputed);
export const notifySignal = defineSignal<[unknown]>(SIGNAL_NAMES.notify);
export const moveOnSignal = defineSignal(SIGNAL_NAMES.moveOn);
/** What flows of all types answer to query `status`. */
export type AnyStatus = FlowStatus | ParkedEventStatus | FindingStatus | ReconcileStatus | Brakes | BulkStatus;
export const statusQuery = defineQuery<AnyStatus>(QUERY_NAMES.status);
export const explainQuery = defineQuery<string>(QUERY_NAMES.explain);
export const notificationsQuery = defineQuery<SentNotifications>(QUERY_NAMES.notifications);

export const billsQuery = defineQuery<BillsAndSchedule>(QUERY_NAMES.bills);
export const pauseUpdate = defineUpdate<SubscriptionAnswer, [Pause]>(UPDATE_NAMES.pause);
export const resumeUpdate = defineUpdate<SubscriptionAnswer, [Resume]>(UPDATE_NAMES.resume);
export const changeCardUpdate = defineUpdate<SubscriptionAnswer, [ChangeCard]>(UPDATE_NAMES.changeCard);
export const changePlanUpdate = defineUpdate<SubscriptionAnswer, [ChangePlan]>(UPDATE_NAMES.changePlan);
export const skipPeriodUpdate = defineUpdate<SubscriptionAnswer, [SkipPeriod]>(UPDATE_NAMES.skipPeriod);
export const setAmountUpdate = defineUpdate<SubscriptionAnswer, [SetAmount]>(UPDATE_NAMES.setAmount);
export const changeTermsUpdate = defineUpdate<SubscriptionAnswer, [ChangeTerms]>(UPDATE_NAMES.changeTerms);
export const cancelUpdate = defineUpdate<SubscriptionAnswer, [CancelSubscription]>(UPDATE_NAMES.cancel);
export const billNowUpdate = defineUpdate<SubscriptionAnswer, [BillNow]>(UPDATE_NAMES.billNow);
export const refundPeriodUpdate = defineUpdate<SubscriptionAnswer, [RefundPeriod]>(UPDATE_NAMES.refundPeriod);

export const acknowledgeUpdate = defineUpdate<AcknowledgedFinding, [Acknowledge]>(ACKNOWLEDGE_UPDATE);
export const brakeUpdate = defineUpdate<BrakesAfter, [BrakeRequest]>(BRAKE_UPDATE);
export const releaseUpdate = defineUpdate<BrakesAfter, [ReleaseRequest]>(RELEASE_UPDATE);

/** Continues the trace that the event carries. Writes nothing to the history. */
export function noteEvent({ hash, eventType, traceparent }: TransactionEvent): void {
  if (traceparent === undefined) return;
  proxySinks<EventSinks>().events.received({ hash, eventType, traceparent });
}
