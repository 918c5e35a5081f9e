import { z } from 'zod';
import { amountSchema, businessUnitSchema, currencySchema, uuidSchema } from './fields.js';
import { TRANSACTION_KINDS } from './transaction.js';
import { type InputOf, type OutputOf, SharedSchema } from './shared-schema.js';

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
