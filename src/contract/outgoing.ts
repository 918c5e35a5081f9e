import { z } from 'zod';
import { businessUnitSchema } from './fields.js';
import { OUTGOING_WORKFLOW, outgoingWorkflowId, PAYMENTS_TASK_QUEUE } from './names.js';
import { type InputOf, SharedSchema } from './shared-schema.js';

/** What a business unit may send to cards before another person has to approve it. Amounts are minor units by currency. */
export interface OutgoingLimits {
  perCall?: Readonly<Record<string, number>> | undefined;
  /** Of one day in UTC. */
  perDay?: Readonly<Record<string, number>> | undefined;
  /** Refunds of payments with the same card, in one day in UTC. */
  refundsPerCard?: number | undefined;
  /** ms. */
  approveWithinMs: number;
}

/** Argument of activity `countOutgoing`: a credit or refund that is about to be sent. */
export interface OutgoingCall {
  businessUnit: string;
  madeUnder?: string | undefined;
  /** Its idempotency key: whatever is counted under it is counted once. */
  key: string;
  operation: 'refund' | 'credit';
  paymentId: string;
  /** Minor units. */
  amount: number;
  currency: string;
  /** `YYYY-MM-DD` in UTC: the day in whose sums it counts. */
  day: string;
  /** Another person has approved it: it counts, whatever the sums. */
  approved?: true;
}

/** `counted`: it may be sent. */
export type OutgoingAnswer = { counted: true } | { counted: false; why: string; approveWithinMs: number };

/** A credit or refund that waits for another person. */
export interface OpenApproval {
  /** The refund's command; of a credit its reference. */
  readonly commandId: string;
  /** Which limit it is above. */
  readonly why: string;
  /** Epoch ms: it is refused then. */
  readonly until: number;
  /** Who has asked for it, if the command says so. */
  readonly askedBy?: string;
}

/** Argument of update `countOutgoing` of workflow `outgoing`. */
export const countOutgoingSchema = new SharedSchema(
  z.strictObject({
    key: z.string().min(1).max(100),
    amount: z.int().min(1),
    currency: z.string(),
    /** Names the card of a refund, or its payment. */
    card: z.string().max(100).optional(),
    perDay: z.int().min(0).optional(),
    perCard: z.int().min(0).optional(),
    approved: z.literal(true).optional(),
  }),
);
export type CountOutgoing = InputOf<typeof countOutgoingSchema>;

/** `sum` and `refunds`: what the day had counted before, without what is asked about. */
export type CountedOutgoing =
  { counted: true } | { counted: false; over: 'perDay' | 'perCard' | 'full'; sum: number; refunds: number };

/** How workflow `outgoing` is started: by update with start, once per business unit and day that sends money. */
export const OUTGOING_FLOW = {
  type: OUTGOING_WORKFLOW,
  title: 'Money sent by',
  taskQueue: PAYMENTS_TASK_QUEUE,
  idPrefix: outgoingWorkflowId('', ''),
  schema: new SharedSchema(
    z.strictObject({ businessUnit: businessUnitSchema.zod, day: z.string().regex(/^\d{4}-\d\d-\d\d$/) }),
  ),
  workflowId: ({ businessUnit, day }: { businessUnit: string; day: string }) => outgoingWorkflowId(businessUnit, day),
} as const;

/** Result of workflow `outgoing`: what was counted in a day, in minor units by currency. */
export interface OutgoingOfDay {
  businessUnit: string;
  day: string;
  sums: Record<string, number>;
}
