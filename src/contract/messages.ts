import { z } from 'zod';
import type { AuthorizeOutcome, FinalAuthorizeOutcome } from './authorize.js';
import { freeText } from './card-data.js';
import { type Dispute, requirePerson } from './disputes.js';
import type { FinalStoreCardOutcome, StoreCardOutcome } from './cards.js';
import type { ChargeOutcome, FinalChargeOutcome } from './charge.js';
import { durationSchema, amountSchema, referenceSchema, uuidSchema, personSchema } from './fields.js';
import { LATER_ENTRY_MODES } from './payment-input.js';
import type { TransactionKind } from './records.js';
import type { FinalRiskOutcome, RiskOutcome } from './risk.js';
import { MAX_COMMAND_ID } from './idempotency.js';
import { type InputOf, type OutputOf, SharedSchema } from './shared-schema.js';
import { type PaymentStatus, type WaitingFor, RISK_DECISIONS } from './statuses.js';
import type { SubscriptionView } from './subscription-commands.js';
import type { TransactionEvent } from './transaction-event.js';

export { type TransactionEvent, transactionEventSchema } from './transaction-event.js';

/** Final outcomes of all payment flows, and all answers including those before the end. */
export type FinalOutcome = FinalChargeOutcome | FinalAuthorizeOutcome | FinalRiskOutcome | FinalStoreCardOutcome;
export type Outcome = ChargeOutcome | AuthorizeOutcome | RiskOutcome | StoreCardOutcome;

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

/** Fields of every command. A repeated `commandId` joins the first command and gets its answer. */
const commandFields = {
  commandId: z.string().min(1).max(MAX_COMMAND_ID).optional(),
  who: personSchema.zod.optional(),
  why: personSchema.zod.optional(),
};

/** Of what an operator decides: the result keeps by whom, and why. */
const decidedFields = { ...commandFields, who: personSchema.zod, why: personSchema.zod };

/**
 * Argument of update `settleManually`: what an operator found out. The flow reads once more first, and a final answer
 * of the service overrides the operator's.
 */
export const settleManuallySchema = new SharedSchema(
  z.strictObject({
    ...decidedFields,
    status: z.enum(['succeeded', 'declined', 'notExecuted']),
    transactionId: z.string().min(1).max(200).optional(),
    category: z.string().min(1).max(100).optional(),
    /** Captured minor units of a hold that the service shows as captured while no list shows the captures, or what a transaction over another sum has moved. */
    amount: amountSchema.zod.optional(),
  }),
);
export type SettleManually = InputOf<typeof settleManuallySchema>;

/** Argument of update `retryNow`: ends a wait for a poll or retry, but never sends a POST after the window. */
export const retryNowSchema = new SharedSchema(z.strictObject(commandFields));
export type RetryNow = InputOf<typeof retryNowSchema>;

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
  /** Minor units: what that operation moves. */
  operationAmount?: number;
  /** Ids of the commands that wait for those before them: nothing has been sent for them. */
  queued?: readonly string[];
  amount: number;
  currency: string;
  businessUnit: string;
  /** Subscriptions only: what the merchant has noted about it. */
  metadata?: Readonly<Record<string, string>>;
  cancelRequested: boolean;
  /** Its payment is charged back. */
  disputed?: Dispute;
  /** The credit or refund that waits for another person, by its command; of a credit by its reference. */
  approval?: { commandId: string; why: string; until: string; askedBy?: string };
  /** Number of messages that changed nothing, by reason. */
  ignored: Record<string, number>;
  outcome?: FinalOutcome;
  /** Subscriptions only. */
  subscription?: SubscriptionView;
}

/** Kind of the operation that a command asks for: `operation` of the status while it is under way. */
export const OPERATION_OF_COMMAND: Readonly<Record<string, TransactionKind | undefined>> = {
  capture: 'capture',
  void: 'void',
  refund: 'refund',
  reauthorize: 'authorization',
};

/** Records an event that carries a trace. A type instead of an interface: the SDK requires index signatures. */
export type EventSinks = {
  events: { received(event: Pick<TransactionEvent, 'hash' | 'eventType' | 'traceparent'>): void };
};

const movedFields = {
  ...commandFields,
  /** Minor units. Defaults to the whole remaining amount. */
  amount: amountSchema.zod.optional(),
  /** The merchant's reference: the operation's reconciliation id, and its `commandId` if none is given. */
  reference: referenceSchema.zod.optional(),
};

export const captureCommandSchema = new SharedSchema(z.strictObject(movedFields));
export type CaptureCommand = InputOf<typeof captureCommandSchema>;

export const refundCommandSchema = new SharedSchema(
  z
    .strictObject({
      ...movedFields,
      /** The capture to refund; required if the payment has several. */
      captureId: uuidSchema.zod.optional(),
      reason: freeText(255).optional(),
      /** The second yes that a refund of a disputed payment needs. Requires `who` and `why`. */
      confirmDisputed: z.literal(true).optional(),
    })
    .superRefine(requirePerson),
);
export type RefundCommand = InputOf<typeof refundCommandSchema>;

export const voidCommandSchema = new SharedSchema(z.strictObject(commandFields));
export type VoidCommand = InputOf<typeof voidCommandSchema>;

/** Voids the hold, and once that is proven authorizes again with the stored card. */
export const reauthorizeCommandSchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    /** Defaults to the entry mode of the flow's input. */
    entryMode: z.enum(LATER_ENTRY_MODES).optional(),
  }),
);
export type ReauthorizeCommand = InputOf<typeof reauthorizeCommandSchema>;

/** Argument of updates `approve` and `reject`: decides on a credit or refund above a limit of its business unit. */
export const approvalSchema = new SharedSchema(
  z.strictObject({
    /** The refund's command; of a credit its reference. */
    commandId: z.string().min(1).max(MAX_COMMAND_ID),
    /** Another person than the one who asked. */
    who: personSchema.zod,
    why: personSchema.zod,
  }),
);
export type Approval = OutputOf<typeof approvalSchema>;

/** Answer of updates `approve` and `reject`. */
export interface Approved extends Approval {
  decision: 'approved' | 'rejected';
  /** ISO 8601 UTC; undefined where the result of a flow that has ended tells of it. */
  at?: string;
}

/** Ends a review. */
export const decideReviewSchema = new SharedSchema(
  z.strictObject({
    ...decidedFields,
    decision: z.enum(RISK_DECISIONS).exclude(['review']),
  }),
);
export type DecideReview = OutputOf<typeof decideReviewSchema>;
