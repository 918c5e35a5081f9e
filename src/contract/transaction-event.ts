import { z } from 'zod';
import { amountSchema } from './fields.js';
import { type OutputOf, SharedSchema } from './shared-schema.js';
import { TRANSACTION_STATUSES } from './statuses.js';

/**
 * Payload of signal `transactionEvent`: the signed fields of a verified webhook. It has no payment data that the
 * signature doesn't cover. A field missing in the event is undefined.
 * A further field is dropped, here and in what else only our own processes write: a webhook handler of a later build may
 * add one, and its event, which has been answered 2xx, would be lost where a worker of this build refused it. So no field
 * may take back what the others say.
 */
export const transactionEventSchema = new SharedSchema(
  z.object({
    /** SHA-256 (hex) of the signed text; also the signal's request id. */
    hash: z.string().min(1),
    /** The body's `id`, under which the service shows the event. For people only; the hash identifies repeats. */
    eventId: z.string().optional(),
    eventType: z.string().min(1),
    /** `data.created` of the envelope, unchanged. */
    created: z.string(),
    businessUnit: z.string().min(1),
    paymentId: z.string().min(1),
    transactionId: z.string().optional(),
    status: z.enum(TRANSACTION_STATUSES).optional(),
    /** It has a status that nobody knows, so that `status` is missing: the transaction must be read. */
    unknownStatus: z.literal(true).optional(),
    category: z.string().optional(),
    subCategory: z.string().optional(),
    responseCode: z.string().optional(),
    reconciliationId: z.string().optional(),
    amount: amountSchema.zod.optional(),
    currency: z.string().optional(),
    /** It has an amount or a currency that can't be used, so that it is missing: the transaction must be read. */
    unknownSum: z.literal(true).optional(),
    /**
     * true if the signed text has exactly 13 commas, so that no value can have moved to another field. If false, the
     * event only triggers a read.
     */
    trusted: z.boolean(),
    /** W3C Trace Context of the webhook handler's span, if it records traces. Not signed. */
    traceparent: z.string().max(64).optional(),
  }),
);
export type TransactionEvent = OutputOf<typeof transactionEventSchema>;
