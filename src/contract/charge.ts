import { z } from 'zod';
import type { FinalStepOutcome, Pending, Unknown, VoidedPending } from './outcome.js';
import type { ActionRecord } from './payment-actions.js';
import { attemptReferenceSchema } from './fields.js';
import { buyerSchema, cardSchema, paymentSchema } from './payment-input.js';
import type { UnderReview } from './risk.js';
import { refuseUnpricedItems, riskBeforeSchema } from './risk.js';
import type { InputOf, OutputOf } from './shared-schema.js';
import { SharedSchema } from './shared-schema.js';

export type * from './outcome.js';

const chargeFields = {
  ...paymentSchema.zod.shape,
  ...cardSchema.zod.shape,
  ...buyerSchema.zod.shape,
  risk: riskBeforeSchema.zod.optional(),
};
/** Input of workflow `charge`. Published as `docs/schemas/charge-input.json`. */
export const chargeInputSchema = new SharedSchema(z.strictObject(chargeFields).superRefine(refuseUnpricedItems));
/** The same for an attempt to bill a subscription, whose reference is `<subscription>.<period>.<attempt>`. */
export const attemptInputSchema = new SharedSchema(
  z.strictObject({ ...chargeFields, reference: attemptReferenceSchema.zod }).superRefine(refuseUnpricedItems),
);
/** What a caller writes: only `reference`, `amount`, `currency` and `paymentMethod` are required. */
export type ChargeInput = InputOf<typeof chargeInputSchema>;
/** What the flow works with: defaults filled in. */
export type ParsedChargeInput = OutputOf<typeof chargeInputSchema>;

/** How a charge or credit ended, and which commands were carried out: after the end a repeated one is answered from here. */
export type FinalChargeOutcome = (FinalStepOutcome | VoidedPending) & { actions?: ActionRecord[] };
export type ChargeOutcome = FinalChargeOutcome | Pending | UnderReview | Unknown;
