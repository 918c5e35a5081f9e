import { z } from 'zod';
import { notificationsWorkflowId, PAYMENTS_TASK_QUEUE, NOTIFICATIONS_WORKFLOW } from './names.js';
import { SharedSchema } from './shared-schema.js';

/** Every type of notification that a merchant's endpoint can be sent. `docs/notifications.md` says when each is. */
export const NOTIFICATION_TYPES = [
  'payment.pending',
  'payment.succeeded',
  'payment.declined',
  'payment.notExecuted',
  'payment.voided',
  'payment.disputed',
  'payment.needsAttention',
  'hold.authorized',
  'hold.expiring',
  'hold.captured',
  'hold.voided',
  'hold.expired',
  'refund.pending',
  'refund.succeeded',
  'refund.declined',
  'refund.notExecuted',
  'card.stored',
  'card.consentedNotStored',
  'subscription.trialEnding',
  'subscription.renewing',
  'subscription.amountNeeded',
  'subscription.billed',
  'subscription.declined',
  'subscription.pastDue',
  'subscription.cardNeeded',
  'subscription.unpaid',
  'subscription.missed',
  'subscription.skipped',
  'subscription.paused',
  'subscription.resumed',
  'subscription.ended',
] as const;
export type NotificationType = (typeof NOTIFICATION_TYPES)[number];

/** Something that a flow has to tell its merchant. Plain data: carried from run to run. */
export interface Notification {
  /** The same in every repeat, also in one that a reset of the flow causes. */
  id: string;
  type: NotificationType;
  /** ISO 8601 UTC: when it happened. */
  at: string;
  /** Counts what the flow has told, from 1. */
  sequence: number;
  data: Readonly<Record<string, unknown>>;
}

/** Argument of activity `handOver`, and of signal `notify`: what the flow `workflowId` tells. */
export interface HandOver {
  workflowId: string;
  businessUnit: string;
  /** An address of the flow's own, besides those of its business unit. */
  url?: string;
  notifications: Notification[];
  /** Sends what was sent before once more. */
  again?: true;
}

export interface EndpointsCall {
  businessUnit: string;
  type: NotificationType;
  /** When it happened. */
  at: string;
  url?: string;
}

export interface DeliverNotificationCall {
  workflowId: string;
  businessUnit: string;
  /** Of the endpoint. */
  url: string;
  notification: Notification;
}

/** Activities of the queue of notifications. */
export interface NotificationActivities {
  /** Starts the flow that sends a flow's notifications, or gives it more to send. */
  handOver(call: HandOver): Promise<void>;
  /** The addresses that get a notification of this type. Fails with {@link NO_ENDPOINT} if its unit has had none for an hour. */
  endpointsOf(call: EndpointsCall): Promise<string[]>;
  /** One POST. Fails with {@link ADDRESS_GONE} where no other is of use. */
  deliverNotification(call: DeliverNotificationCall): Promise<void>;
}

/** Failure type of a notification that is not sent again: its address is gone, or is no endpoint any more. */
export const ADDRESS_GONE = 'AddressGone';

/** Failure type of a notification for which there is no address, and was none for an hour. */
export const NO_ENDPOINT = 'NoEndpointAtAll';

/** How one endpoint has taken a notification. */
export interface Delivery {
  /** `-` where there was none. */
  url: string;
  status: 'waiting' | 'delivered' | 'givenUp';
  /** Epoch ms: a first try is made before, others until then. */
  until?: number;
  /** Why it has not been taken yet, or was given up. */
  why?: string;
}

/** A notification and its deliveries: an entry of query `notifications`. */
export interface KeptNotification extends Notification {
  businessUnit: string;
  /** The flow's own address. */
  url?: string;
  /** undefined until the endpoints of its unit have been asked for. */
  deliveries?: Delivery[];
}

/** Result of workflow `notifications`, and answer of query `notifications`: oldest first, the last 200. */
export interface SentNotifications {
  workflowId: string;
  notifications: KeptNotification[];
}

/** A newer build may tell of what this one does not know yet: to refuse it here would lose it. */
const notificationSchema = z.looseObject({
  id: z.string(),
  type: z.custom<NotificationType>((type) => typeof type === 'string' && type.length <= 100),
  at: z.string(),
  sequence: z.int(),
  data: z.record(z.string(), z.unknown()),
});

/** For signal `notify`. */
export const handOverSchema = new SharedSchema(
  z.looseObject({
    workflowId: z.string(),
    businessUnit: z.string(),
    url: z.string().optional(),
    notifications: z.array(notificationSchema),
    again: z.literal(true).optional(),
  }),
);

/** How workflow `notifications` is started: by signal with start, once per flow that tells something. */
export const NOTIFICATIONS_FLOW = {
  type: NOTIFICATIONS_WORKFLOW,
  title: 'Notifications of',
  taskQueue: PAYMENTS_TASK_QUEUE,
  idPrefix: notificationsWorkflowId(''),
  schema: new SharedSchema(z.strictObject({ workflowId: z.string().min(1).max(1_000) })),
  workflowId: ({ workflowId }: { workflowId: string }) => notificationsWorkflowId(workflowId),
} as const;
