import { z } from 'zod';
import { freeText } from './card-data.js';
import { durationSchema } from './duration.js';
import { amountSchema } from './fields.js';
import type { FinalOutcome } from './outcomes.js';
import { type PaymentStatus, TRANSACTION_STATUSES, type WaitingFor } from './statuses.js';
import type { TransactionKind } from './transaction.js';
import type { SubscriptionView } from './subscription-outcome.js';
import { type InputOf, type OutputOf, SharedSchema } from './shared-schema.js';

/** How long update `outcome` waits by default. */
export const DEFAULT_WAIT_MS = 10_000;
/** Temporal allows ten waiting updates per workflow: waits of hours would block an operator's command. */
export const LONGEST_WAIT_MS = 600_000;

/** Argument of update `outcome`. Each call has a new update id (money rule 2). */
export const outcomeRequestSchema = new SharedSchema(
  z.strictObject({
    type: z.string(),
    fingerprint: z.string(),
    /** How long the update may wait before it answers `unknown`. Default 10 seconds. */
    waitFor: durationSchema.zod.optional(),
  }),
);
export type OutcomeRequest = InputOf<typeof outcomeRequestSchema>;

const personSchema = freeText(200, z.string().trim());
const commandFields = { commandId: z.string().min(1).max(200).optional(), who: personSchema, why: personSchema };

/**
 * Argument of update `settleManually`: what an operator found out. The flow reads once more first, and a final answer
 * of the service overrides the operator's.
 */
export const settleManuallySchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    status: z.enum(['succeeded', 'declined', 'notExecuted']),
    transactionId: z.string().min(1).max(200).optional(),
    category: z.string().min(1).max(100).optional(),
    /** Captured minor units. Only for a hold that the service shows as captured while no list shows the captures. */
    amount: amountSchema.zod.optional(),
  }),
);
export type SettleManually = InputOf<typeof settleManuallySchema>;

/** Argument of update `retryNow`: ends a wait for a poll or retry, but never sends a POST after the window. */
export const retryNowSchema = new SharedSchema(
  z.strictObject({
    commandId: commandFields.commandId,
    who: personSchema.optional(),
    why: personSchema.optional(),
  }),
);
export type RetryNow = InputOf<typeof retryNowSchema>;

/**
 * Payload of signal `transactionEvent`: the signed fields of a verified webhook. It has no payment data that the
 * signature doesn't cover. A field missing in the event is undefined.
 */
export const transactionEventSchema = new SharedSchema(
  z.strictObject({
    /** SHA-256 (hex) of the signed text; also the signal's request id. */
    hash: z.string().min(1),
    /** The body's `id`, under which the service shows the event. For people only; the hash identifies repeats. */
    eventId: z.string().optional(),
    eventType: z.string().min(1),
    /** `data.created` of the envelope, unchanged. */
    created: z.string(),
    businessUnit: z.string().min(1),
    paymentId: z.string().min(1),
    transactionId: z.string().optional(),
    status: z.enum(TRANSACTION_STATUSES).optional(),
    category: z.string().optional(),
    subCategory: z.string().optional(),
    responseCode: z.string().optional(),
    reconciliationId: z.string().optional(),
    amount: amountSchema.zod.optional(),
    currency: z.string().optional(),
    /**
     * true if the signed text has exactly 13 commas, so that no value can have moved to another field. If false, the
     * event only triggers a read.
     */
    trusted: z.boolean(),
    /** W3C Trace Context of the webhook handler's span, if it records traces. Not signed. */
    traceparent: z.string().max(64).optional(),
  }),
);
export type TransactionEvent = OutputOf<typeof transactionEventSchema>;

/** Answer of query `status`, and of `status` in the client and the operator's CLI. Times are ISO 8601 UTC. */
export interface FlowStatus {
  reference: string;
  workflowId: string;
  type: string;
  status: PaymentStatus;
  waitingFor: WaitingFor;
  /** Since when the flow has this status. */
  since: string;
  /** When the current wait ends; undefined if the flow isn't waiting. */
  dueAt?: string;
  needsOperator: boolean;
  /** Why an operator is needed, in one sentence. */
  operatorReason?: string;
  paymentId?: string;
  transactionId?: string;
  /** Kind of the latest operation; `transactionId` is its transaction. */
  operation?: TransactionKind | 'risk-analysis';
  amount: number;
  currency: string;
  businessUnit: string;
  cancelRequested: boolean;
  /** Number of messages that changed nothing, by reason. */
  ignored: Record<string, number>;
  outcome?: FinalOutcome;
  /** Subscriptions only. */
  subscription?: SubscriptionView;
}
