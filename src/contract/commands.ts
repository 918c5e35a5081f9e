import { z } from 'zod';
import { freeText } from './card-data.js';
import { amountSchema, referenceSchema, uuidSchema } from './fields.js';
import { LATER_ENTRY_MODES } from './payment-input.js';
import { RISK_DECISIONS } from './statuses.js';
import { type InputOf, type OutputOf, SharedSchema } from './shared-schema.js';

const person = freeText(200, z.string().trim());

/** Fields of every command. A repeated `commandId` joins the first command and gets its answer. */
const commandFields = {
  commandId: z.string().min(1).max(200).optional(),
  who: person.optional(),
  why: person.optional(),
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
  z.strictObject({
    ...movedFields,
    /** The capture to refund; required if the payment has several. */
    captureId: uuidSchema.zod.optional(),
    reason: freeText(255).optional(),
  }),
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

/** Ends a review. `who` and `why` are kept in the result. */
export const decideReviewSchema = new SharedSchema(
  z.strictObject({
    commandId: commandFields.commandId,
    who: person,
    why: person,
    decision: z.enum(RISK_DECISIONS).exclude(['review']),
  }),
);
export type DecideReview = OutputOf<typeof decideReviewSchema>;
