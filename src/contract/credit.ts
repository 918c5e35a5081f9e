import { z } from 'zod';
import type { FinalChargeOutcome } from './charge.js';
import type { Pending, Unknown } from './outcome.js';
import { cardSchema, paymentSchema } from './payment-input.js';
import { type InputOf, type OutputOf, SharedSchema } from './shared-schema.js';

/** Input of workflow `credit`: sends money to a card without an earlier payment. */
export const creditInputSchema = new SharedSchema(
  z.strictObject({ ...paymentSchema.zod.shape, ...cardSchema.zod.shape }),
);
export type CreditInput = InputOf<typeof creditInputSchema>;
export type ParsedCreditInput = OutputOf<typeof creditInputSchema>;

export type FinalCreditOutcome = FinalChargeOutcome;
export type CreditOutcome = FinalCreditOutcome | Pending | Unknown;
