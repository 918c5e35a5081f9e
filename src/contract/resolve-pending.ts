import { z } from 'zod';
import type { FinalChargeOutcome } from './charge.js';
import { amountSchema, businessUnitSchema, currencySchema, uuidSchema } from './fields.js';
import { TRANSACTION_KINDS } from './transaction.js';

/**
 * Input of workflow `resolvePending`: adopts a transaction that was made elsewhere and follows it to
 * its final status. It never sends a POST.
 */
export const resolvePendingInputSchema = z.strictObject({
  paymentId: uuidSchema,
  transactionId: uuidSchema,
  kind: z.enum(TRANSACTION_KINDS),
  businessUnit: businessUnitSchema.default('default'),
  /** Minor units: what the transaction should be worth. */
  amount: amountSchema,
  currency: currencySchema,
});
export type ResolvePendingInput = z.input<typeof resolvePendingInputSchema>;
export type ParsedResolvePendingInput = z.output<typeof resolvePendingInputSchema>;

export type ResolvePendingResult = FinalChargeOutcome;
