import { z } from 'zod';
import {
  attemptReferenceSchema,
  amountSchema,
  businessUnitSchema,
  currencySchema,
  personSchema,
  uuidSchema,
} from './fields.js';
import type { FinalStepOutcome, Pending, Unknown, VoidedPending } from './outcome.js';
import type { ActionRecord } from './payment-actions.js';
import { buyerSchema, cardSchema, paymentSchema, pendingDeadlineSchema, refuseShortPending } from './payment-input.js';
import { TRANSACTION_KINDS } from './records.js';
import { refuseUnpricedItems, riskBeforeSchema, type UnderReview } from './risk.js';
import { type InputOf, type OutputOf, SharedSchema } from './shared-schema.js';

export type * from './outcome.js';

const chargeFields = {
  ...paymentSchema.zod.shape,
  ...cardSchema.zod.shape,
  ...buyerSchema.zod.shape,
  risk: riskBeforeSchema.zod.optional(),
  pendingDeadline: pendingDeadlineSchema.zod.optional(),
};
/** Input of workflow `charge`. Published as `docs/schemas/charge-input.json`. */
export const chargeInputSchema = new SharedSchema(
  z.strictObject(chargeFields).superRefine(refuseUnpricedItems).superRefine(refuseShortPending),
);
/** Input of an attempt to bill a subscription; its reference is `<subscription>.<period>.<attempt>`. */
export const attemptInputSchema = new SharedSchema(
  z
    .strictObject({ ...chargeFields, reference: attemptReferenceSchema.zod })
    .superRefine(refuseUnpricedItems)
    .superRefine(refuseShortPending),
);
/** Input as callers write it: only `reference`, `amount`, `currency` and `paymentMethod` are required. */
export type ChargeInput = InputOf<typeof chargeInputSchema>;
/** Parsed input, with defaults filled in. */
export type ParsedChargeInput = OutputOf<typeof chargeInputSchema>;

/** Outcome of a charge or credit, and its executed commands: after the end, a repeated one is answered from here. */
export type FinalChargeOutcome = (FinalStepOutcome | VoidedPending) & { actions?: ActionRecord[] };
export type ChargeOutcome = FinalChargeOutcome | Pending | UnderReview | Unknown;

/** Input of workflow `credit`: sends money to a card without an earlier payment. */
export const creditInputSchema = new SharedSchema(
  z.strictObject({
    ...paymentSchema.zod.shape,
    ...cardSchema.zod.shape,
    /** Who asks for it. Required above a limit of its business unit: another person has to approve it. */
    who: personSchema.zod.optional(),
  }),
);
export type CreditInput = InputOf<typeof creditInputSchema>;
export type ParsedCreditInput = OutputOf<typeof creditInputSchema>;

export type FinalCreditOutcome = FinalChargeOutcome;
export type CreditOutcome = FinalCreditOutcome | Pending | Unknown;

/**
 * Input of workflow `resolvePending`: adopts a foreign transaction and reads it until its final status. It never sends
 * a POST.
 */
export const resolvePendingInputSchema = new SharedSchema(
  z.strictObject({
    paymentId: uuidSchema.zod,
    transactionId: uuidSchema.zod,
    kind: z.enum(TRANSACTION_KINDS),
    businessUnit: businessUnitSchema.zod.default('default'),
    /** Expected amount in minor units. */
    amount: amountSchema.zod,
    currency: currencySchema.zod,
  }),
);
export type ResolvePendingInput = InputOf<typeof resolvePendingInputSchema>;
export type ParsedResolvePendingInput = OutputOf<typeof resolvePendingInputSchema>;
