import { z } from 'zod';
import { freeText } from './card-data.js';
import { amountSchema, currencySchema, uuidSchema } from './fields.js';
import type { InputOf } from './shared-schema.js';
import { SharedSchema } from './shared-schema.js';
import { intervalSchema, localTimeSchema, MISSED_PERIODS } from './subscription.js';

const personSchema = freeText(200, z.string().trim());
const periodSchema = z.int().min(1).max(99_999);

/** On every command: `commandId` makes a repeated command act once. */
const commandFields = {
  commandId: z.string().min(1).max(200).optional(),
  who: personSchema.optional(),
  why: personSchema.optional(),
};

/** Argument of update `pause`: no bill leaves until `resume`. A charge in flight is followed to its end. */
export const pauseSchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    /** A period that is past due waits and is tried again after `resume` (`hold`), or is given up unpaid (`drop`). */
    openPeriod: z.enum(['hold', 'drop']).default('hold'),
  }),
);
export type Pause = InputOf<typeof pauseSchema>;

/** Argument of update `resume`. */
export const resumeSchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    /**
     * What happens to the periods that came due during the pause: by default only one of the last 24 hours is billed, and
     * what an earlier `billAll` has left.
     */
    missedPeriods: z.enum(MISSED_PERIODS).optional(),
  }),
);
export type Resume = InputOf<typeof resumeSchema>;

/** Argument of update `changeCard`: used from the next attempt on, which is made at once when past due. */
export const changeCardSchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    token: uuidSchema.zod,
    /** Of the new card; absent where the unit's providers expect none. The old card's is never sent with a new one. */
    consentTransactionId: z.string().min(1).max(255).optional(),
  }),
);
export type ChangeCard = InputOf<typeof changeCardSchema>;

/** Argument of update `changePlan`: from the first period on that is not due yet. The currency of a subscription never changes. */
export const changePlanSchema = new SharedSchema(
  z
    .strictObject({
      ...commandFields,
      amount: amountSchema.zod.optional(),
      interval: intervalSchema.zod.optional(),
      billAt: localTimeSchema.zod.optional(),
    })
    .refine((plan) => plan.amount !== undefined || plan.interval !== undefined || plan.billAt !== undefined, {
      error: 'changes nothing: give an amount, an interval or a billAt',
    }),
);
export type ChangePlan = InputOf<typeof changePlanSchema>;

/** Argument of update `cancel` of a subscription. */
export const cancelSubscriptionSchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    /** `now` gives up an unpaid period; `periodEnd` bills nothing further once the present period is over. */
    when: z.enum(['now', 'periodEnd']),
  }),
);
export type CancelSubscription = InputOf<typeof cancelSubscriptionSchema>;

/** Argument of update `billNow`: names its period, so that a repeated or late command can't bill another one. */
export const billNowSchema = new SharedSchema(
  z
    .strictObject({
      ...commandFields,
      period: periodSchema,
      /**
       * The second yes, after a payment of the period that failed without anybody confirming it: that one may have taken
       * the money. With `who` and `why`, which stay with the bill.
       */
      confirmRisk: z.literal(true).optional(),
    })
    .superRefine(({ confirmRisk, who, why }, context) => {
      if (confirmRisk !== true) return;
      for (const [name, value] of Object.entries({ who, why })) {
        if (value !== undefined) continue;
        const message = 'is needed with confirmRisk: the period may be billed twice';
        context.addIssue({ code: 'custom', path: [name], message, input: value });
      }
    }),
);
export type BillNow = InputOf<typeof billNowSchema>;

/** Argument of update `refundPeriod`. */
export const refundPeriodSchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    /** By default the period billed last. */
    period: periodSchema.optional(),
    /** Minor units; by default what is left of the period's amount. */
    amount: amountSchema.zod.optional(),
    /** That the amount is meant in: refused where the subscription bills another one. */
    currency: currencySchema.zod.optional(),
  }),
);
export type RefundPeriod = InputOf<typeof refundPeriodSchema>;
