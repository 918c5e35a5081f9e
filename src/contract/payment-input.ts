import { z } from 'zod';
import { freeText } from './card-data.js';
import { durationSchema } from './duration.js';
import {
  amountSchema,
  businessUnitSchema,
  currencySchema,
  customerIdSchema,
  ipAddressSchema,
  priceSchema,
  referenceSchema,
  uuidSchema,
} from './fields.js';
import type { OutputOf } from './shared-schema.js';
import { SharedSchema } from './shared-schema.js';

/** Of a form that is the merchant's, a provider's or a standard's. */
const code = z.string().min(1).max(255);
const text = freeText(255);

const lineItemSchema = z.strictObject({
  id: code.optional(),
  name: text.optional(),
  quantity: z.int().min(1).optional(),
  /** Minor units. Needed on every item of a payment that is to be risk-analysed. */
  unitPrice: priceSchema.zod.optional(),
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

/** How a transaction says that the buyer consents to later ones with the card. */
export const CONSENT_ENTRY_MODES = ['consent_transaction', 'recurring_consent_transaction'] as const;
/** How a transaction says that its card is on file. */
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
 * What the merchant's own 3D Secure server returned: flat up to API version 1.2.0, under `external` since
 * 1.3.0. The shape that the unit's version does not take is refused before any money moves.
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

/** The payment itself: what Create Payment is made of, whatever is done with it afterwards. */
const paymentFields = {
  reference: referenceSchema.zod,
  amount: amountSchema.zod,
  currency: currencySchema.zod,
  businessUnit: businessUnitSchema.zod.default('default'),
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

/** The card, and what says that its use is allowed. */
const cardFields = {
  paymentMethod: tokenizedPaymentMethodSchema,
  cardOnFile: cardOnFileSchema.optional(),
};

/** Of a buyer who is present: charge and authorization, not credit. */
const buyerFields = {
  clientIpAddress: ipAddressSchema.zod.optional(),
  threeDSecureAttributes: threeDSecureSchema.optional(),
  /** Where a buyer comes back to whom the service sends elsewhere, for 3D Secure say. */
  merchantSiteUrl: z
    .string()
    .max(2048)
    .regex(/^https?:\/\/[^\s/]+/, 'is not an http or https address')
    .optional(),
  /** How long such a buyer has. Default 30 minutes. */
  redirectTimeLimit: durationSchema.zod.optional(),
};

/** Exported behind `SharedSchema` only: what workflows share is frozen, and zod fills its schemas in on first use. */
export const paymentSchema = new SharedSchema(z.strictObject(paymentFields));
export const cardSchema = new SharedSchema(z.strictObject(cardFields));
export const buyerSchema = new SharedSchema(z.strictObject(buyerFields));

/** What every flow that creates a payment knows of it. */
export type PaymentInput = OutputOf<typeof paymentSchema>;
/** What a charge or authorization is made of. */
export type BuyerInput = OutputOf<typeof cardSchema> & OutputOf<typeof buyerSchema>;

/** Whether by this transaction the buyer consents to later ones with the card. */
export function givesConsent({ cardOnFile }: Pick<OutputOf<typeof cardSchema>, 'cardOnFile'>): boolean {
  return CONSENT_ENTRY_MODES.some((mode) => mode === cardOnFile?.entryMode);
}

/** Whether an input uses a card that is on file, which a unit can have since API version 1.2.0. */
export function usesStoredCard({ cardOnFile }: Pick<OutputOf<typeof cardSchema>, 'cardOnFile'>): boolean {
  return LATER_ENTRY_MODES.some((mode) => mode === cardOnFile?.entryMode);
}
