import { z } from 'zod';
import { show } from './fields.js';
import { type OutputOf, SharedSchema } from './shared-schema.js';

export const periodSchema = new SharedSchema(z.int().min(1).max(99_999));

/** Minor units; 0 bills nothing. Whoever gives another wrong value has meant an amount, and is told of those. */
export const billAmountSchema = new SharedSchema(
  z
    .number({ error: (issue) => `${show(issue.input)} is not an amount: use a whole number of minor units` })
    .refine((value) => Number.isSafeInteger(value) && value >= 0, {
      error: (issue) =>
        `${show(issue.input)} is not an amount: use a whole number of minor units from 1 to ${Number.MAX_SAFE_INTEGER}`,
    }),
);

const amountFromSchema = new SharedSchema(
  z.strictObject({ fromPeriod: periodSchema.zod, amount: billAmountSchema.zod }),
);
/** An amount that holds from a period on. */
export type AmountFrom = OutputOf<typeof amountFromSchema>;

/** Amounts to come, such as the one after an introductory price, or a rise that was announced. */
export const amountsSchema = new SharedSchema(
  z
    .array(amountFromSchema.zod)
    .min(1)
    .max(20)
    .superRefine((amounts, context) => {
      amounts.forEach(({ fromPeriod }, index) => {
        const before = amounts[index - 1]?.fromPeriod ?? 0;
        if (fromPeriod > before) return;
        const message = `${fromPeriod} does not come after ${before}`;
        context.addIssue({ code: 'custom', path: [index, 'fromPeriod'], message, input: fromPeriod });
      });
    }),
);
