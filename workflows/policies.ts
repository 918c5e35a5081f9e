import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import {
  CALL_PRIORITIES,
  type CallPriority,
  type EngineLookUps,
  type KeyedActivity,
  type PaymentActivities,
} from '../src/contract/activities.js';
import type { BillingActivities } from '../src/contract/billing-activities.js';
import type { BulkActivities } from '../src/contract/bulk.js';
import { DELIVERIES_TASK_QUEUE, NOTIFICATIONS_TASK_QUEUE } from '../src/contract/names.js';
import type { NotificationActivities } from '../src/contract/notifications.js';
import type { ReconcileActivities } from '../src/contract/reconcile.js';

/** The calls that carry an idempotency key. */
export type PostActivities = Pick<PaymentActivities, KeyedActivity>;

/**
 * One try inside the first workflow task, without a round trip through the server. The activity gives up on HTTP 5 s
 * before this limit, so that a slow answer is reported and not lost.
 */
export const localTry = proxyLocalActivities<PaymentActivities>({
  startToCloseTimeout: '15 seconds',
  retry: { maximumAttempts: 1 },
  summary: 'First try, inside the first task',
});

/**
 * The POST itself: the server retries it with the same key until the window closes. TRY_CANCEL, because once a read has
 * found the transaction nothing may wait for a call that is backing off.
 * @param how.attempts at most so many; undefined: until the window closes
 * @param how.reportsAfterCancel a cancel ends the retries, but the attempt under way may still report its result
 * @param how.businessUnit a server that is set to fairness gives each unit its share
 */
export function postWithin(
  ms: number,
  summary: string,
  { attempts, reportsAfterCancel, priority, businessUnit }: PostPolicy,
): PostActivities {
  return proxyActivities<PaymentActivities>({
    startToCloseTimeout: '65 seconds',
    // A worker that dies during the call is noticed within this time, and not only at the call's time-out.
    heartbeatTimeout: '15 seconds',
    scheduleToCloseTimeout: ms,
    priority: { priorityKey: priority, fairnessKey: businessUnit },
    summary,
    cancellationType: reportsAfterCancel
      ? ActivityCancellationType.WAIT_CANCELLATION_COMPLETED
      : ActivityCancellationType.TRY_CANCEL,
    retry: {
      initialInterval: '1 second',
      backoffCoefficient: 2,
      maximumInterval: '60 seconds',
      ...(attempts !== undefined && { maximumAttempts: attempts }),
    },
  });
}

interface PostPolicy {
  attempts: number | undefined;
  reportsAfterCancel: boolean;
  priority: CallPriority;
  businessUnit: string;
}

/** How soon a worker that dies during a read or look-up is noticed: a caller may be waiting for the result. */
const NOTICED_AFTER = '10 seconds';

/** A read: a few quick tries, then its caller waits for the next poll. TRY_CANCEL: a caller may abandon a read. */
const reading = {
  startToCloseTimeout: '20 seconds',
  heartbeatTimeout: NOTICED_AFTER,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  scheduleToCloseTimeout: '45 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 3 },
  summary: 'Ask the payment service how it stands',
} as const;

/** Without its answer a step can't go on. */
export const read = proxyActivities<PaymentActivities>({
  ...reading,
  priority: { priorityKey: CALL_PRIORITIES.command },
});

/** As {@link read}, of a payment and then all that belongs to it: two calls of the service after each other. */
export const readAll = proxyActivities<Pick<PaymentActivities, 'getPaymentAndTransactions'>>({
  ...reading,
  startToCloseTimeout: '38 seconds',
  scheduleToCloseTimeout: '75 seconds',
  priority: { priorityKey: CALL_PRIORITIES.command },
});

/** Without its answer a capture or void does not leave, with less than an hour left. */
export const urgentRead = proxyActivities<PaymentActivities>({
  ...reading,
  priority: { priorityKey: CALL_PRIORITIES.deadline },
});

/** What pends is read again later. */
export const poll = proxyActivities<PaymentActivities>({ ...reading, priority: { priorityKey: CALL_PRIORITIES.poll } });

/**
 * A look-up in the engine: retried until it answers, because no money may move before. Histories of years have many
 * pages, and the activity heartbeats for each page.
 */
export const engineLookup = proxyActivities<EngineLookUps>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: NOTICED_AFTER,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '60 seconds' },
  summary: 'Look for an earlier run of this flow',
});

/** A few quick tries; then the caller retries on its own schedule, or asks an operator. */
export const delivery = proxyActivities<Pick<PaymentActivities, 'deliverEvent'>>({
  startToCloseTimeout: '30 seconds',
  scheduleToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 3 },
  summary: 'Look for the flow of this event',
});

/** The billing calendar, and the worker's configuration: nothing that leaves the process. */
export const calendar = proxyLocalActivities<
  Pick<BillingActivities, 'planBilling' | 'judgeAttempt' | 'resumeBill' | 'changePlan' | 'checkNotify'>
>({
  startToCloseTimeout: '10 seconds',
  summary: 'Ask the calendar',
});

/** Retried until it answers: nothing can be billed or refused before. */
export const billing = proxyActivities<Pick<BillingActivities, 'openSubscription' | 'readAttempt'>>({
  startToCloseTimeout: '45 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '60 seconds' },
});

/** 2 minutes at most: a command waits for it, and others behind that. */
export const lookAtAttempt = proxyActivities<Pick<BillingActivities, 'readAttempt'>>({
  startToCloseTimeout: '45 seconds',
  scheduleToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '60 seconds' },
});

/** 2 minutes at most: no bill is charged meanwhile, and repeating the command refunds nothing twice. */
export const refunds = proxyActivities<Pick<BillingActivities, 'refundBill'>>({
  startToCloseTimeout: '45 seconds',
  scheduleToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '60 seconds' },
});

/** Three days: without a worker of its queue the flow stays open for it, and a payment must not do so for ever. */
export const handing = proxyActivities<Pick<NotificationActivities, 'handOver'>>({
  taskQueue: NOTIFICATIONS_TASK_QUEUE,
  startToCloseTimeout: '10 seconds',
  scheduleToCloseTimeout: '3 days',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '60 seconds' },
  // It ends with its run: the next one hands over again what this one has not seen handed over.
  cancellationType: ActivityCancellationType.ABANDON,
  summary: 'Hand over what the merchant is to be told',
});

/** Retried until it answers: a worker reads it in its configuration. */
export const endpoints = proxyActivities<Pick<NotificationActivities, 'endpointsOf'>>({
  taskQueue: NOTIFICATIONS_TASK_QUEUE,
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '60 seconds' },
  summary: 'Ask who is to be told',
});

/** Given up after two minutes for a person to be asked: a counter that was terminated stays away until the next day. */
export const counting = proxyActivities<Pick<PaymentActivities, 'countOutgoing'>>({
  startToCloseTimeout: '45 seconds',
  heartbeatTimeout: NOTICED_AFTER,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '60 seconds', maximumAttempts: 8 },
  priority: { priorityKey: CALL_PRIORITIES.command },
  summary: 'Count what the business unit sends to cards',
});

/** Retried until the engine answers: its subscription must hear of a dispute. */
export const telling = proxyActivities<Pick<PaymentActivities, 'tellSubscription'>>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '60 seconds' },
  summary: 'Tell the subscription that its payment is disputed',
});

type Deliver = Pick<NotificationActivities, 'deliverNotification'>;

/** One try: what follows must not wait for more. */
export function firstDelivery(businessUnit: string): Deliver {
  return proxyActivities<Deliver>({
    taskQueue: DELIVERIES_TASK_QUEUE,
    startToCloseTimeout: '20 seconds',
    priority: { priorityKey: CALL_PRIORITIES.command, fairnessKey: businessUnit },
    retry: { backoffCoefficient: 2, maximumAttempts: 1 },
    summary: 'Notify the merchant',
  });
}

/** Retried for as long as a merchant may take to repair their endpoint. */
export function deliveryWithin(ms: number, businessUnit: string): Deliver {
  return proxyActivities<Deliver>({
    taskQueue: DELIVERIES_TASK_QUEUE,
    startToCloseTimeout: '20 seconds',
    scheduleToCloseTimeout: ms,
    priority: { priorityKey: CALL_PRIORITIES.poll, fairnessKey: businessUnit },
    retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '1 hour' },
    summary: 'Notify the merchant again',
  });
}

/**
 * Reads of hours, which nobody waits for: what is buyers' goes first. A worker that dies is noticed by its heartbeats, and
 * the next one goes on from the last of them.
 */
export const reconciling = proxyActivities<ReconcileActivities>({
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '5 minutes' },
  priority: { priorityKey: CALL_PRIORITIES.poll },
  summary: 'Compare flows with the payment service',
});

/** Commands of minutes to subscriptions. What a slice has done until a cancel is in its result. */
export const bulking = proxyActivities<BulkActivities>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '5 minutes' },
  priority: { priorityKey: CALL_PRIORITIES.poll },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  summary: 'Give subscriptions a command',
});
