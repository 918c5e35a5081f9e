import { z } from 'zod';
import { freeText } from './card-data.js';
import { durationSchema } from './duration.js';
import { amountSchema } from './fields.js';
import type { FinalOutcome } from './outcomes.js';
import type { PaymentStatus, WaitingFor } from './statuses.js';
import { TRANSACTION_STATUSES } from './statuses.js';
import type { TransactionKind } from './transaction.js';
import type { SubscriptionView } from './subscription-outcome.js';
import type { InputOf, OutputOf } from './shared-schema.js';
import { SharedSchema } from './shared-schema.js';

/** How long update `outcome` waits where its caller says nothing. */
export const DEFAULT_WAIT_MS = 10_000;
/** The engine lets ten questions and commands wait at one flow: patience of hours would keep an operator out. */
export const LONGEST_WAIT_MS = 600_000;

/** Argument of update `outcome`. Sent with a fresh update id at every call (money rule 2). */
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
 * Argument of update `settleManually`: what an operator found out elsewhere. The flow reads once more
 * before it believes this, and a final answer of the service wins over the operator's.
 */
export const settleManuallySchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    status: z.enum(['succeeded', 'declined', 'notExecuted']),
    transactionId: z.string().min(1).max(200).optional(),
    category: z.string().min(1).max(100).optional(),
    /** Minor units that were captured: only of a hold that is shown as captured where no list says by what. */
    amount: amountSchema.zod.optional(),
  }),
);
export type SettleManually = InputOf<typeof settleManuallySchema>;

/** Argument of update `retryNow`: wakes a poll or a back-off, never a POST past the window. */
export const retryNowSchema = new SharedSchema(
  z.strictObject({
    commandId: commandFields.commandId,
    who: personSchema.optional(),
    why: personSchema.optional(),
  }),
);
export type RetryNow = InputOf<typeof retryNowSchema>;

/**
 * Payload of signal `transactionEvent`: the signed fields of a verified webhook, and nothing about the payment that
 * the signature does not cover. Absent fields were absent in the event.
 */
export const transactionEventSchema = new SharedSchema(
  z.strictObject({
    /** SHA-256 (hex) of the signed text; also the request id of the signal. */
    hash: z.string().min(1),
    /** The body's `id`, by which the service shows the event; for people, as the hash tells repeats apart. */
    eventId: z.string().optional(),
    eventType: z.string().min(1),
    /** `data.created` of the envelope, as it came. */
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
     * True when the signed text has exactly 13 commas, so that no value can have moved from one field to
     * another. Otherwise the event only triggers a read.
     */
    trusted: z.boolean(),
    /** W3C Trace Context of the webhook handler's span, where it records traces. Signed by nobody. */
    traceparent: z.string().max(64).optional(),
  }),
);
export type TransactionEvent = OutputOf<typeof transactionEventSchema>;

/** Answer of query `status`, and of the client's and operator's `status`. Times are ISO 8601 UTC. */
export interface FlowStatus {
  reference: string;
  workflowId: string;
  type: string;
  status: PaymentStatus;
  waitingFor: WaitingFor;
  /** Since when the flow is in this status. */
  since: string;
  /** When the present wait ends; absent when nothing is awaited. */
  dueAt?: string;
  needsOperator: boolean;
  /** Why an operator is needed, in one sentence. */
  operatorReason?: string;
  paymentId?: string;
  transactionId?: string;
  /** Of which kind the latest operation is; `transactionId` is its transaction. */
  operation?: TransactionKind | 'risk-analysis';
  amount: number;
  currency: string;
  businessUnit: string;
  cancelRequested: boolean;
  /** Messages that changed nothing, by reason. */
  ignored: Record<string, number>;
  outcome?: FinalOutcome;
  /** Set by a subscription. */
  subscription?: SubscriptionView;
}
