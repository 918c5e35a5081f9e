import { z } from 'zod';
import type { FinalStepOutcome, Pending, Unknown } from './outcome.js';
import { buyerSchema, cardSchema, paymentSchema } from './payment-input.js';
import type { UnderReview } from './risk.js';
import { refuseUnpricedItems, riskBeforeSchema } from './risk.js';
import type { InputOf, OutputOf } from './shared-schema.js';
import { SharedSchema } from './shared-schema.js';

export type * from './outcome.js';

/** Input of workflow `charge`. Published as `docs/schemas/charge-input.json`. */
export const chargeInputSchema = new SharedSchema(
  z
    .strictObject({
      ...paymentSchema.zod.shape,
      ...cardSchema.zod.shape,
      ...buyerSchema.zod.shape,
      risk: riskBeforeSchema.zod.optional(),
    })
    .superRefine(refuseUnpricedItems),
);
/** What a caller writes: only `reference`, `amount`, `currency` and `paymentMethod` are required. */
export type ChargeInput = InputOf<typeof chargeInputSchema>;
/** What the flow works with: defaults filled in. */
export type ParsedChargeInput = OutputOf<typeof chargeInputSchema>;

export type FinalChargeOutcome = FinalStepOutcome;
export type ChargeOutcome = FinalChargeOutcome | Pending | UnderReview | Unknown;
