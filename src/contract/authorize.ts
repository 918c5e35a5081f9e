import { z } from 'zod';
import { durationMs, durationSchema } from './duration.js';
import type { Declined, Evidence, NotExecuted, OutcomeBase, Pending, Unknown } from './outcome.js';
import { buyerSchema, cardSchema, paymentSchema } from './payment-input.js';
import type { ActionRecord } from './payment-actions.js';
import type { UnderReview } from './risk.js';
import { refuseUnpricedItems, riskSchema } from './risk.js';
import type { InputOf, OutputOf } from './shared-schema.js';
import { SharedSchema } from './shared-schema.js';

/** A deadline that comes before the flow has well begun is a mistake in the unit. */
const SHORTEST_DEADLINE_MS = 60_000;

/** Input of workflow `authorizeAndCapture`. Published as `docs/schemas/authorize-and-capture-input.json`. */
export const authorizeInputSchema = new SharedSchema(
  z
    .strictObject({
      ...paymentSchema.zod.shape,
      ...cardSchema.zod.shape,
      ...buyerSchema.zod.shape,
      risk: riskSchema.zod.optional(),
      /** `auto` captures the whole as soon as it is authorized. */
      captureMode: z.enum(['manual', 'auto']).default('manual'),
      /**
       * How long after the authorization `capture` or `void` may come. Default 6 days, or six sevenths of a
       * shorter hold.
       */
      captureDeadline: durationSchema.zod.optional(),
      onDeadline: z.enum(['void', 'capture']).default('void'),
      /** How long before the deadline the flow says so. Default 12 hours, or half of a shorter deadline. */
      deadlineWarning: durationSchema.zod.optional(),
    })
    .superRefine(refuseUnpricedItems)
    .superRefine(({ captureDeadline, deadlineWarning }, context) => {
      const deadline = captureDeadline === undefined ? undefined : durationMs(captureDeadline);
      if (deadline !== undefined && deadline < SHORTEST_DEADLINE_MS) {
        context.addIssue({
          code: 'custom',
          path: ['captureDeadline'],
          message: `${deadline} ms is too short: at least 1 minute, or use captureMode "auto"`,
        });
      }
      const warning = deadlineWarning === undefined ? undefined : durationMs(deadlineWarning);
      if (deadline !== undefined && warning !== undefined && warning >= deadline) {
        context.addIssue({
          code: 'custom',
          path: ['deadlineWarning'],
          message: `${warning} ms is not shorter than the captureDeadline of ${deadline} ms`,
        });
      }
    }),
);
export type AuthorizeInput = InputOf<typeof authorizeInputSchema>;
export type ParsedAuthorizeInput = OutputOf<typeof authorizeInputSchema>;

/** The money is held: `capture`, `void` or the deadline comes next. Times are ISO 8601 UTC. */
export interface Authorized extends OutcomeBase {
  status: 'authorized';
  waitingFor: string;
  captureBy: string;
  /** When the provider lets go of the money by itself. */
  heldUntil: string;
}

/** What became of the part that was not captured. */
export type Released =
  | { amount: number; by: 'void'; transactionId: string }
  /** No void was taken for it, so the provider lets go of it when the hold ends. */
  | { amount: number; by: 'expiry'; at: string; why: string };

interface HoldEnded extends OutcomeBase {
  authorizationId: string;
  /** Commands that were carried out: after the end a repeated one is answered from here. */
  actions?: ActionRecord[];
  evidence: Evidence;
}

export interface Captured extends HoldEnded {
  status: 'captured';
  /** Minor units. `amount` is what had been authorized. */
  capturedAmount: number;
  /** Set after a partial capture. */
  released?: Released;
}
/** The hold is gone and nothing was captured. */
export interface Voided extends HoldEnded {
  status: 'voided';
  /** `command`, `cancel`, `deadline`, `risk declined`; `elsewhere` when the service shows a void that is not ours. */
  reason: string;
}
/** The hold ended by itself before anything was captured. */
export interface Expired extends HoldEnded {
  status: 'expired';
  reason: string;
}

export type HoldOutcome = Captured | Voided | Expired;
export type FinalAuthorizeOutcome = HoldOutcome | Declined | NotExecuted;
export type AuthorizeOutcome = FinalAuthorizeOutcome | Authorized | Pending | UnderReview | Unknown;
