import { z } from 'zod';
import { freeText } from './card-data.js';
import {
  durationMs,
  durationSchema,
  amountSchema,
  businessUnitSchema,
  currencySchema,
  customerIdSchema,
  ipAddressSchema,
  notifySchema,
  priceSchema,
  referenceSchema,
  uuidSchema,
} from './fields.js';
import { type OutputOf, SharedSchema } from './shared-schema.js';

/** Text in a format of the merchant, a provider or a standard. */
const code = z.string().min(1).max(255);
const text = freeText(255);

const lineItemSchema = z.strictObject({
  id: code.optional(),
  name: text.optional(),
  quantity: z.int().min(1).optional(),
  /** Minor units. Required on every item of a risk-analysed payment. */
  unitPrice: priceSchema.zod.optional(),
});

/**
 * The service's encrypted CVV, valid for 3 h after tokenisation. A plain CVV (3 or 4 digits) is refused: it must never
 * reach a history.
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

/** Entry modes with which the buyer consents to later use of the card. */
export const CONSENT_ENTRY_MODES = ['consent_transaction', 'recurring_consent_transaction'] as const;
/** Entry modes of a card on file. */
export const LATER_ENTRY_MODES = [
  'cof_cardholder_initiated_transaction',
  'cof_merchant_initiated_transaction',
  'recurring_subsequent_transaction',
] as const;
export type LaterEntryMode = (typeof LATER_ENTRY_MODES)[number];

const cardOnFileSchema = z.strictObject({
  entryMode: z.enum([...CONSENT_ENTRY_MODES, ...LATER_ENTRY_MODES]),
  consentTransactionId: code.optional(),
});

/** Country is ISO 3166-1 alpha-3. Personal data: encrypted in the history, shown nowhere else. */
const addressSchema = z.strictObject({
  country: z
    .string()
    .regex(/^[A-Z]{3}$/, 'is not an ISO 3166-1 alpha-3 country code, such as USA')
    .optional(),
  state: text.optional(),
  city: text.optional(),
  line1: text.optional(),
  line2: text.optional(),
  zipCode: code.optional(),
  title: text.optional(),
  firstName: text.optional(),
  lastName: text.optional(),
  phone: code.optional(),
  email: code.optional(),
});

const flat3dsFields = {
  encoding: code.optional(),
  xid: code.optional(),
  cavv: code.optional(),
  eciFlag: code.optional(),
};
export const flat3dsSchema = new SharedSchema(z.strictObject(flat3dsFields));

export const scaExemptionsSchema = new SharedSchema(
  z.strictObject({
    exemptionAction: z.boolean().optional(),
    requestExemptionStage: code.optional(),
    exemptionReason: code.optional(),
    traScore: code.optional(),
  }),
);

/**
 * Result of the merchant's own 3D Secure server: flat up to API version 1.2.0, under `external` since 1.3.0. A shape
 * that the unit's version doesn't accept is refused before any money moves.
 */
const threeDSecureSchema = z.union([
  flat3dsSchema.zod,
  z.strictObject({
    external: z
      .strictObject({
        ...flat3dsFields,
        threeDSecureVersion: code.optional(),
        threeDSecureAuthenticationStatus: code.optional(),
        dsXid: code.optional(),
        authenticationId: code.optional(),
      })
      .optional(),
    scaExemptions: scaExemptionsSchema.zod.optional(),
  }),
]);

/** Fields of `POST /payments`, whatever operation follows. */
const paymentFields = {
  reference: referenceSchema.zod,
  amount: amountSchema.zod,
  currency: currencySchema.zod,
  businessUnit: businessUnitSchema.zod.default('default'),
  /** An address of this flow's own, told besides the endpoints of its business unit. */
  notify: notifySchema.zod.optional(),
  statementSoftDescriptor: code.optional(),
  customerId: customerIdSchema.zod.optional(),
  order: z
    .strictObject({
      id: code.optional(),
      lineItems: z.array(lineItemSchema).max(500).optional(),
    })
    .optional(),
  billingAddress: addressSchema.optional(),
  shippingAddress: addressSchema.optional(),
};

/** The card, and the data that permits its use. */
const cardFields = {
  paymentMethod: tokenizedPaymentMethodSchema,
  cardOnFile: cardOnFileSchema.optional(),
};

/** Fields of a buyer who is present: for charge and authorization, not credit. */
const buyerFields = {
  clientIpAddress: ipAddressSchema.zod.optional(),
  threeDSecureAttributes: threeDSecureSchema.optional(),
  /** Where the buyer returns after a redirect, such as for 3D Secure. */
  merchantSiteUrl: z
    .string()
    .max(2048)
    .regex(/^https?:\/\/[^\s/]+/, 'is not an http or https address')
    .optional(),
  /** How long a redirected buyer has to return. Default 30 minutes. */
  redirectTimeLimit: durationSchema.zod.optional(),
};

/** Exported as `SharedSchema` only: workflows share exports frozen, and zod fills its schemas in on first use. */
export const paymentSchema = new SharedSchema(z.strictObject(paymentFields));
export const cardSchema = new SharedSchema(z.strictObject(cardFields));
export const buyerSchema = new SharedSchema(z.strictObject(buyerFields));

/** Payment fields common to all flows that create a payment. */
export type PaymentInput = OutputOf<typeof paymentSchema>;
/** Card and buyer fields of a charge or authorization. */
export type BuyerInput = OutputOf<typeof cardSchema> & OutputOf<typeof buyerSchema>;

/** True if the buyer consents to later use of the card with this transaction. */
export function givesConsent({ cardOnFile }: Pick<OutputOf<typeof cardSchema>, 'cardOnFile'>): boolean {
  return CONSENT_ENTRY_MODES.some((mode) => mode === cardOnFile?.entryMode);
}

/** True if the input uses a card on file, which needs API version 1.2.0 or later. */
export function usesStoredCard({ cardOnFile }: Pick<OutputOf<typeof cardSchema>, 'cardOnFile'>): boolean {
  return LATER_ENTRY_MODES.some((mode) => mode === cardOnFile?.entryMode);
}

/**
 * How long after a buyer was sent to another page the payment may wait for them: then it is voided if the service offers
 * that, and else a person is asked. It is read on until its end is known. Default: no such time.
 */
export const pendingDeadlineSchema = new SharedSchema(durationSchema.zod);

/** ms: how long a redirected buyer has to come back, unless the input says otherwise. */
export const DEFAULT_REDIRECT_MS = 30 * 60_000;

/** A payment must not be voided while its buyer may still come back. */
export function refuseShortPending(
  input: { pendingDeadline?: string | number | undefined; redirectTimeLimit?: string | number | undefined },
  context: z.RefinementCtx,
): void {
  const { pendingDeadline, redirectTimeLimit } = input;
  const deadline = pendingDeadline === undefined ? undefined : durationMs(pendingDeadline);
  const limit = redirectTimeLimit === undefined ? DEFAULT_REDIRECT_MS : durationMs(redirectTimeLimit);
  if (deadline === undefined || limit === undefined || deadline >= limit) return;
  context.addIssue({
    code: 'custom',
    path: ['pendingDeadline'],
    message: `${deadline} ms is shorter than the redirectTimeLimit of ${limit} ms, for which the buyer may stay away`,
  });
}
