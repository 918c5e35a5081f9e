import { z } from 'zod';
import {
  amountSchema,
  businessUnitSchema,
  currencySchema,
  ipAddressSchema,
  referenceSchema,
  uuidSchema,
} from './fields.js';
import type { KnownBy } from './statuses.js';
import type { InputOf, OutputOf } from './shared-schema.js';
import { SharedSchema } from './shared-schema.js';

const lineItemSchema = z.strictObject({
  id: z.string().min(1).max(255).optional(),
  name: z.string().min(1).max(255).optional(),
  quantity: z.int().min(1).optional(),
  /** Minor units. */
  unitPrice: amountSchema.zod.optional(),
});

/**
 * The API's own encrypted CVV, valid for 3 h after tokenisation. A plain CVV is 3 or 4 digits and is
 * refused: it must never reach a history.
 */
const encryptedCvvSchema = z
  .string()
  .min(16, 'is not an encrypted_cvv: it is too short (a plain CVV is never accepted)')
  .max(4096)
  .regex(/^(?!\d+$)[A-Za-z0-9+/=_-]+$/, 'is not an encrypted_cvv: expected base64');

const tokenizedPaymentMethodSchema = z.strictObject({
  type: z.literal('tokenized'),
  token: uuidSchema.zod,
  encryptedCvv: encryptedCvvSchema.optional(),
});

const cardOnFileSchema = z.strictObject({
  entryMode: z.enum([
    'consent_transaction',
    'recurring_consent_transaction',
    'cof_cardholder_initiated_transaction',
    'cof_merchant_initiated_transaction',
    'recurring_subsequent_transaction',
  ]),
  consentTransactionId: z.string().min(1).max(255).optional(),
});

/** Input of workflow `charge`. Published as `docs/schemas/charge-input.json`. */
export const chargeInputSchema = new SharedSchema(
  z.strictObject({
    reference: referenceSchema.zod,
    amount: amountSchema.zod,
    currency: currencySchema.zod,
    paymentMethod: tokenizedPaymentMethodSchema,
    businessUnit: businessUnitSchema.zod.default('default'),
    statementSoftDescriptor: z.string().min(1).max(255).optional(),
    customerId: uuidSchema.zod.optional(),
    order: z
      .strictObject({
        id: z.string().min(1).max(255).optional(),
        lineItems: z.array(lineItemSchema).max(500).optional(),
      })
      .optional(),
    clientIpAddress: ipAddressSchema.zod.optional(),
    cardOnFile: cardOnFileSchema.optional(),
  }),
);
/** What a caller writes: only `reference`, `amount`, `currency` and `paymentMethod` are required. */
export type ChargeInput = InputOf<typeof chargeInputSchema>;
/** What the flow works with: defaults filled in. */
export type ParsedChargeInput = OutputOf<typeof chargeInputSchema>;

/** How a final result is known (money rule 10). Times are ISO 8601 UTC. */
export interface Evidence {
  knownBy: KnownBy;
  /** Request ids of the service, oldest first, at most the last 10. */
  requestIds: string[];
  /** Sends of the money POST that the flow knows of. Each may have retried, and a lost task may have sent more. */
  attempts: number;
  startedAt: string;
  settledAt: string;
  /** Set when an operator decided. */
  operator?: { who: string; why: string };
  /** Set when nothing was executed: what proves it. */
  proof?: string;
}

/** Who may try a declined charge again: the same card under a new reference, another card, or nobody. */
export type Retryable = 'newReference' | 'newCard' | 'nobody';

interface OutcomeBase {
  reference: string;
  /** Minor units. */
  amount: number;
  currency: string;
  paymentId?: string;
  transactionId?: string;
}

export interface Succeeded extends OutcomeBase {
  status: 'succeeded';
  evidence: Evidence;
}
export interface Declined extends OutcomeBase {
  status: 'declined';
  category: string;
  subCategory?: string;
  description?: string;
  retryable: Retryable;
  /** False when the provider could not be reached to confirm the failure within an hour. */
  confirmed: boolean;
  evidence: Evidence;
}
/** Proven: no money moved and none will. Safe to repeat under a new reference. */
export interface NotExecuted extends OutcomeBase {
  status: 'notExecuted';
  reason: string;
  evidence: Evidence;
}
export interface Pending extends OutcomeBase {
  status: 'pending';
  waitingFor: string;
  redirectUrl?: string;
}
/** Not a failure: money may have moved. Ask again with the same reference; never under a new one. */
export interface Unknown extends OutcomeBase {
  status: 'unknown';
  waitingFor: string;
}

export type FinalChargeOutcome = Succeeded | Declined | NotExecuted;
export type ChargeOutcome = FinalChargeOutcome | Pending | Unknown;
