import { z } from 'zod';
import { durationMs, durationSchema } from './fields.js';
import type {
  Declined,
  Evidence,
  NotExecuted,
  OutcomeBase,
  Pending,
  Unknown,
  VoidedTransaction,
  VoidOfPending,
} from './outcome.js';
import {
  buyerSchema,
  cardSchema,
  LATER_ENTRY_MODES,
  paymentSchema,
  pendingDeadlineSchema,
  refuseShortPending,
  usesStoredCard,
} from './payment-input.js';
import type { ActionRecord } from './payment-actions.js';
import { refuseUnpricedItems, riskSchema, type UnderReview } from './risk.js';
import { type InputOf, type OutputOf, SharedSchema } from './shared-schema.js';

/** Most reauthorizations per flow, by deadline or command: each one uses the buyer's limit again. */
export const MAX_REAUTHORIZATIONS = 10;

/** A shorter deadline is probably a wrong time unit. */
const SHORTEST_DEADLINE_MS = 60_000;

/** Input of workflow `authorizeAndCapture`. Published as `docs/schemas/authorize-and-capture-input.json`. */
export const authorizeInputSchema = new SharedSchema(
  z
    .strictObject({
      ...paymentSchema.zod.shape,
      ...cardSchema.zod.shape,
      ...buyerSchema.zod.shape,
      risk: riskSchema.zod.optional(),
      /** `auto` captures the whole amount as soon as it is authorized. */
      captureMode: z.enum(['manual', 'auto']).default('manual'),
      /**
       * How long after the authorization `capture` or `void` is accepted. Default 6 days, or six sevenths of a shorter
       * hold.
       */
      captureDeadline: durationSchema.zod.optional(),
      /** `reauthorize` voids and authorizes again with the stored card; after the last time it only voids. */
      onDeadline: z.enum(['void', 'capture', 'reauthorize']).default('void'),
      /** How to reauthorize. Needs a stored card: a later entry mode in `cardOnFile`. */
      reauthorization: z
        .strictObject({
          /** How many times the deadline reauthorizes. Default 1. */
          times: z.int().min(1).max(MAX_REAUTHORIZATIONS).default(1),
          /**
           * Default `cof_merchant_initiated_transaction`, or `recurring_subsequent_transaction` if the input has it.
           */
          entryMode: z.enum(LATER_ENTRY_MODES).optional(),
        })
        .optional(),
      pendingDeadline: pendingDeadlineSchema.zod.optional(),
      /** How long before the deadline the flow warns. Default 12 hours, or half of a shorter deadline. */
      deadlineWarning: durationSchema.zod.optional(),
    })
    .superRefine(refuseUnpricedItems)
    .superRefine(refuseShortPending)
    .superRefine((input, context) => {
      if (usesStoredCard(input)) return;
      const path = input.onDeadline === 'reauthorize' ? 'onDeadline' : 'reauthorization';
      if (input.onDeadline !== 'reauthorize' && input.reauthorization === undefined) return;
      context.addIssue({
        code: 'custom',
        path: [path],
        message: `needs a stored card, that is a cardOnFile.entryMode of ${LATER_ENTRY_MODES.join(', ')}`,
      });
    })
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

/** The money is held until `capture`, `void` or the deadline. Times are ISO 8601 UTC. */
export interface Authorized extends OutcomeBase {
  status: 'authorized';
  waitingFor: string;
  captureBy: string;
  /** When the provider releases the hold by itself. */
  heldUntil: string;
}

/** How the uncaptured part of the hold was released. */
export type Released =
  | { amount: number; by: 'void'; transactionId: string }
  /** No void released it, so the provider releases it when the hold ends. */
  | { amount: number; by: 'expiry'; at: string; why: string };

/** A hold that was voided or expired before it was reauthorized. */
export interface EarlierHold {
  paymentId?: string;
  authorizationId: string;
  status: 'voided' | 'expired';
  evidence: Evidence;
}

export interface Commanded {
  /** Commands that were executed. After the flow has ended, a repeated command is answered from here. */
  actions?: ActionRecord[];
  /** Set after a reauthorization: all holds but the last one, oldest first. */
  earlierHolds?: EarlierHold[];
}

export interface HoldEnded extends OutcomeBase, Commanded {
  authorizationId: string;
  evidence: Evidence;
}

export interface Captured extends HoldEnded {
  status: 'captured';
  /** Minor units. `amount` is the authorized amount. */
  capturedAmount: number;
  /** Set after a partial capture. */
  released?: Released;
  /** A command voided the pending capture, but the capture succeeded: an operator must check the payment. */
  despiteVoid?: VoidOfPending;
}
/** The hold was released and nothing was captured. */
export interface Voided extends HoldEnded {
  status: 'voided';
  /**
   * `command`, `cancel`, `deadline`, `pendingDeadline`, `risk declined`, or `reauthorize` and why it was not done;
   * `elsewhere` if the service shows a foreign void; or that voiding the rest after a capture cancelled the capture.
   */
  reason: string;
  /** The capture that was pending when a command voided it. */
  voided?: VoidedTransaction;
}
/** The hold expired before anything was captured. */
export interface Expired extends HoldEnded {
  status: 'expired';
  /** false if the service still shows the hold 30 days after it must have ended and has executed no void since. */
  confirmed?: false;
  reason: string;
}

export type HoldOutcome = Captured | Voided | Expired;
/** `declined` and `notExecuted` describe the last hold; with `earlierHolds`, the last reauthorization. */
export type FinalAuthorizeOutcome = HoldOutcome | (Declined & Commanded) | (NotExecuted & Commanded);
export type AuthorizeOutcome = FinalAuthorizeOutcome | Authorized | Pending | UnderReview | Unknown;
