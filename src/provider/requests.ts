import { z } from 'zod';
import { amountSchema, currencySchema, uuidSchema } from '../contract/fields.js';
import {
  addressSchema,
  jsonMapSchema,
  paymentMethodSchema,
  stringMapSchema,
  sumSchema,
  threeDSecureSchema,
} from './request-fields.js';
import { perVersion } from './versions.js';
import type { VersionRules } from './versions.js';

const text = z.string().min(1).max(255);

const lineItemSchema = z.strictObject({
  id: text.optional(),
  name: text.optional(),
  description: z.string().min(1).max(4096).optional(),
  quantity: z.int().min(1).optional(),
  /** Minor units. Needed on every item of a payment that is to be risk-analysed. */
  unitPrice: sumSchema.optional(),
});

const orderSchema = z.strictObject({
  id: text.optional(),
  additionalDetails: stringMapSchema.optional(),
  /** Minor units. */
  taxAmount: sumSchema.optional(),
  taxPercentage: z.number().min(0).optional(),
  /** Minor units. */
  subTotal: sumSchema.optional(),
  lineItems: z.array(lineItemSchema).optional(),
});

/** Body of Create Payment and of Update Payment, which replaces the whole payment. */
export const paymentRequestSchema = perVersion((rules) =>
  z.strictObject({
    /** Minor units, at every API version. */
    amount: amountSchema.zod,
    currency: currencySchema.zod,
    customerId: uuidSchema.zod.optional(),
    /** Keys and values are sent as written. */
    additionalDetails: stringMapSchema.optional(),
    statementSoftDescriptor: text.optional(),
    order: orderSchema.optional(),
    billingAddress: addressSchema(rules).optional(),
    shippingAddress: addressSchema(rules).optional(),
    /** Industry data, such as `airline_passenger_itinerary`; sent as written. */
    addendums: jsonMapSchema.optional(),
  }),
);
export type PaymentRequest = z.input<ReturnType<typeof paymentRequestSchema>>;

/** What authorization, charge and credit have in common. */
function transactionFields(rules: VersionRules) {
  return {
    paymentMethod: paymentMethodSchema(rules),
    /** The merchant's own reference; comes back on the transaction and in its events. */
    reconciliationId: text.optional(),
    cofTransactionIndicators: z
      .strictObject({
        cardEntryMode: z.enum([
          'consent_transaction',
          'recurring_consent_transaction',
          'cof_cardholder_initiated_transaction',
          'cof_merchant_initiated_transaction',
          'recurring_subsequent_transaction',
        ]),
        cofConsentTransactionId: text.optional(),
      })
      .optional(),
    threeDSecureAttributes: threeDSecureSchema(rules).optional(),
    installments: z
      .strictObject({
        numberOfInstallments: z.int().min(1).optional(),
        /** Minor units. */
        firstPaymentAmount: sumSchema.optional(),
        /** Minor units. */
        remainingPaymentsAmount: sumSchema.optional(),
      })
      .optional(),
    /** Where a redirected buyer comes back to. */
    merchantSiteUrl: z.url({ protocol: /^https?$/, error: 'is not an http or https address' }).optional(),
    channelType: text.optional(),
    /** By provider; sent as written. */
    providerSpecificData: jsonMapSchema.optional(),
    /** Keys and values are sent as written. */
    additionalDetails: stringMapSchema.optional(),
  };
}

/** Body of Create Charge. */
export const chargeRequestSchema = perVersion((rules) => z.strictObject(transactionFields(rules)));
export type ChargeRequest = z.input<ReturnType<typeof chargeRequestSchema>>;

/** Fields whose content belongs to the merchant or a provider: no key in them is renamed. */
const SENT_AS_WRITTEN: ReadonlySet<string> = new Set([
  'additionalDetails',
  'addendums',
  'cardIdentity',
  'providerSpecificData',
]);

/** The names of a checked request as they stand on the wire: `lineItems` is `line_items`. */
export function toWireNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWireNames);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, field]): [string, unknown] => [
    snakeCase(key),
    SENT_AS_WRITTEN.has(key) ? field : toWireNames(field),
  ]);
  return Object.fromEntries(fields);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
