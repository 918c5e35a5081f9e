import { z } from 'zod';
import { freeText } from './card-data.js';
import { durationSchema } from './fields.js';
import type { Evidence, NotExecuted, OutcomeBase, RiskVerdict, Unknown } from './outcome.js';
import { buyerSchema, cardSchema, paymentSchema } from './payment-input.js';
import type { RiskDecision } from './statuses.js';
import { type InputOf, type OutputOf, SharedSchema } from './shared-schema.js';

const text = freeText(255);
const id = z.string().min(1).max(255);

export const payerBirthdaySchema = new SharedSchema(
  z.string().regex(/^\d{4}\/(0[1-9]|1[0-2])\/(0[1-9]|[12]\d|3[01])$/, 'is not a date in the form yyyy/mm/dd'),
);

/** Details for the risk provider beyond the payment itself; it refuses every other field. */
const riskDetailsSchema = z.strictObject({
  productDescExtra1: text.optional(),
  productDescExtra2: text.optional(),
  productDescExtra3: text.optional(),
  payerBirthday: payerBirthdaySchema.zod.optional(),
});

const analysisFields = {
  sessionId: id.optional(),
  deviceId: id.optional(),
  /** Keyed by the risk provider's identifier, which ends in `_risk`. */
  providerSpecificData: z
    .record(
      z.string().regex(/^[a-z0-9_]+_risk$/),
      z.strictObject({ additionalDetails: riskDetailsSchema.optional() }),
      {
        error: (issue) =>
          issue.code === 'invalid_key' ? 'is not the identifier of a risk provider, which ends in _risk' : undefined,
      },
    )
    .optional(),
};

/** What to do at the time limit of a review. Declines by default: only the merchant can choose otherwise. */
const reviewFields = {
  onReviewTimeout: z.enum(['decline', 'proceed', 'escalate']).default('decline'),
  /** How long a review may take. Default 24 hours; it always ends early enough before the hold does to void it. */
  reviewTimeLimit: durationSchema.zod.optional(),
};

/** Risk analysis in `charge`, always before the charge. */
export const riskBeforeSchema = new SharedSchema(
  z.strictObject({ when: z.literal('before').default('before'), ...reviewFields, ...analysisFields }),
);

/** Risk analysis in `authorizeAndCapture`: before the authorization, or after it while the money is held. */
export const riskSchema = new SharedSchema(
  z.strictObject({ when: z.enum(['before', 'after']).default('before'), ...reviewFields, ...analysisFields }),
);
export type RiskInput = OutputOf<typeof riskSchema>;

/** For `superRefine`: refuses line items without a price, because the risk service would refuse them. */
export function refuseUnpricedItems(
  input: { risk?: unknown; order?: { lineItems?: { unitPrice?: number | undefined }[] | undefined } | undefined },
  context: z.RefinementCtx,
): void {
  if (input.risk === undefined) return;
  for (const [index, item] of (input.order?.lineItems ?? []).entries()) {
    if (item.unitPrice !== undefined) continue;
    context.addIssue({
      code: 'custom',
      path: ['order', 'lineItems', index, 'unitPrice'],
      message: 'is missing: a payment that is risk-analysed needs the price of every item',
    });
  }
}

/** Input of workflow `analyseRisk`: a score and a decision; no money moves. */
export const analyseRiskInputSchema = new SharedSchema(
  z
    .strictObject({
      ...paymentSchema.zod.shape,
      paymentMethod: cardSchema.zod.shape.paymentMethod.omit({ encryptedCvv: true }).optional(),
      clientIpAddress: buyerSchema.zod.shape.clientIpAddress,
      risk: z.strictObject(analysisFields).default({}),
      /** If true, the flow stays open until a review has ended. If false, `review` is a final answer. */
      waitForReview: z.boolean().default(false),
      reviewTimeLimit: durationSchema.zod.optional(),
    })
    .superRefine(refuseUnpricedItems),
);
export type AnalyseRiskInput = InputOf<typeof analyseRiskInputSchema>;
export type ParsedAnalyseRiskInput = OutputOf<typeof analyseRiskInputSchema>;

/** Answer of `analyseRisk`. */
export interface RiskAnswer extends OutcomeBase {
  status: RiskDecision;
  risk: RiskVerdict;
  evidence: Evidence;
}
export type FinalRiskOutcome = RiskAnswer | NotExecuted;
export type RiskOutcome = FinalRiskOutcome | UnderReview | Unknown;

/** The review ends by the risk provider, by `decideReview`, or at its time limit. */
export interface UnderReview extends OutcomeBase {
  status: 'underReview';
  waitingFor: string;
  score?: number;
}
