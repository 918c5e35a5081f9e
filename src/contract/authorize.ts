import { z } from 'zod';
import { durationMs, durationSchema } from './duration.js';
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
import { buyerSchema, cardSchema, LATER_ENTRY_MODES, paymentSchema, usesStoredCard } from './payment-input.js';
import type { ActionRecord } from './payment-actions.js';
import type { UnderReview } from './risk.js';
import { refuseUnpricedItems, riskSchema } from './risk.js';
import type { InputOf, OutputOf } from './shared-schema.js';
import { SharedSchema } from './shared-schema.js';

/** A hold is made anew this often at most, whoever asks for it: every time the buyer's limit is used up again. */
export const MAX_REAUTHORIZATIONS = 10;

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
      /** `reauthorize`: the hold is let go and made anew with the stored card; after the last time `void`. */
      onDeadline: z.enum(['void', 'capture', 'reauthorize']).default('void'),
      /** How a hold is made anew. Needs a stored card: a later entry mode in `cardOnFile`. */
      reauthorization: z
        .strictObject({
          /** How often the deadline does it. Default 1. */
          times: z.int().min(1).max(MAX_REAUTHORIZATIONS).default(1),
          /** Default `cof_merchant_initiated_transaction`, or `recurring_subsequent_transaction` where the first was. */
          entryMode: z.enum(LATER_ENTRY_MODES).optional(),
        })
        .optional(),
      /** How long before the deadline the flow says so. Default 12 hours, or half of a shorter deadline. */
      deadlineWarning: durationSchema.zod.optional(),
    })
    .superRefine(refuseUnpricedItems)
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

/** A hold that was let go, or had lapsed, before another was made in its place. */
export interface EarlierHold {
  paymentId?: string;
  authorizationId: string;
  status: 'voided' | 'expired';
  evidence: Evidence;
}

interface Commanded {
  /** Commands that were carried out: after the end a repeated one is answered from here. */
  actions?: ActionRecord[];
  /** Where the hold was made anew: all but the last one, oldest first. */
  earlierHolds?: EarlierHold[];
}

interface HoldEnded extends OutcomeBase, Commanded {
  authorizationId: string;
  evidence: Evidence;
}

export interface Captured extends HoldEnded {
  status: 'captured';
  /** Minor units. `amount` is what had been authorized. */
  capturedAmount: number;
  /** Set after a partial capture. */
  released?: Released;
  /** A void was sent on command while the capture was pending, which has succeeded all the same: a person is to look. */
  despiteVoid?: VoidOfPending;
}
/** The hold is gone and nothing was captured. */
export interface Voided extends HoldEnded {
  status: 'voided';
  /**
   * `command`, `cancel`, `deadline`, `risk declined`, `reauthorize` and why it was not; `elsewhere` when the service shows
   * a void that is not ours; or that the void of what a capture had left has cancelled the capture.
   */
  reason: string;
  /** The capture that pended when it was voided on command. */
  voided?: VoidedTransaction;
}
/** The hold ended by itself before anything was captured. */
export interface Expired extends HoldEnded {
  status: 'expired';
  /** Where the service still shows it 30 days after it must have ended, and has carried out none of the voids since. */
  confirmed?: false;
  reason: string;
}

export type HoldOutcome = Captured | Voided | Expired;
/** `declined` and `notExecuted` speak of the last hold: with `earlierHolds` of the one that was to replace them. */
export type FinalAuthorizeOutcome = HoldOutcome | (Declined & Commanded) | (NotExecuted & Commanded);
export type AuthorizeOutcome = FinalAuthorizeOutcome | Authorized | Pending | UnderReview | Unknown;
