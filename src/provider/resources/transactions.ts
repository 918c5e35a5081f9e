import { z } from 'zod';
import { amountSchema, uuidSchema } from '../../contract/fields.js';
import { isSince, perVersion } from '../versions.js';
import type { ApiVersion, VersionRules } from '../versions.js';
import {
  addressSchema,
  installmentsSchema,
  jsonMapSchema,
  paymentMethodSchema,
  stringMapSchema,
  sumSchema,
  text,
  threeDSecureSchema,
} from './fields.js';
import { lineItemFields } from './payments.js';

/** The two that give consent come with any card, the others with a stored one. */
function entryModeSchema(version: ApiVersion) {
  return z
    .enum([
      'consent_transaction',
      'recurring_consent_transaction',
      'cof_cardholder_initiated_transaction',
      'cof_merchant_initiated_transaction',
      'recurring_subsequent_transaction',
    ])
    .refine((mode) => isSince(version, '1.2.0') || mode.endsWith('consent_transaction'), {
      error: `is for stored cards, which API version ${version} has not: they came with 1.2.0`,
    });
}

/** What authorization, charge and credit have in common. */
function transactionFields(rules: VersionRules, version: ApiVersion) {
  return {
    paymentMethod: paymentMethodSchema(rules),
    /** The merchant's own reference; comes back on the transaction and in its events. */
    reconciliationId: text.optional(),
    cofTransactionIndicators: z
      .strictObject({
        cardEntryMode: entryModeSchema(version),
        cofConsentTransactionId: text.optional(),
      })
      .optional(),
    threeDSecureAttributes: threeDSecureSchema(rules).optional(),
    installments: installmentsSchema.optional(),
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
export const chargeRequestSchema = perVersion((rules, version) => z.strictObject(transactionFields(rules, version)));
export type ChargeRequest = z.input<ReturnType<typeof chargeRequestSchema>>;

/** Body of Create Authorization. */
export const authorizationRequestSchema = perVersion((rules, version) =>
  z.strictObject({
    ...transactionFields(rules, version),
    authorizationType: z.enum(['pre_authorization', 'final_authorization']).optional(),
  }),
);
export type AuthorizationRequest = z.input<ReturnType<typeof authorizationRequestSchema>>;

/** Body of Create Credit: funds to a card, without relation to an earlier transaction. */
export const creditRequestSchema = chargeRequestSchema;
export type CreditRequest = ChargeRequest;

const level23Schema = perVersion((rules) =>
  z.strictObject({
    id: text.optional(),
    taxMode: text.optional(),
    /** Sums are minor units. */
    taxAmount: sumSchema.optional(),
    shippingAmount: sumSchema.optional(),
    dutyAmount: sumSchema.optional(),
    discountAmount: sumSchema.optional(),
    fromShippingZipCode: text.optional(),
    lineItems: z
      .array(
        z.strictObject({
          ...lineItemFields,
          taxAmount: sumSchema.optional(),
          taxPercentage: z.number().min(0).optional(),
          discountAmount: sumSchema.optional(),
        }),
      )
      .optional(),
    shippingAddress: addressSchema(rules).optional(),
  }),
);

/** Body of Create Capture. */
export const captureRequestSchema = perVersion((_rules, version) =>
  z.strictObject({
    /** Minor units. Without it the whole amount; needed from the second capture of a payment on. */
    amount: amountSchema.zod.optional(),
    reconciliationId: text.optional(),
    /** Data of commercial cards; `level_2_3` on the wire. */
    level23: level23Schema(version).optional(),
    providerSpecificData: jsonMapSchema.optional(),
    additionalDetails: stringMapSchema.optional(),
  }),
);
export type CaptureRequest = z.input<ReturnType<typeof captureRequestSchema>>;

/** Body of Create Refund. */
export const refundRequestSchema = perVersion(() =>
  z.strictObject({
    /** Minor units. Without it the whole amount; needed from the second refund of a payment on. */
    amount: amountSchema.zod.optional(),
    /** Which capture to give back; needed where a payment has several. */
    captureId: uuidSchema.zod.optional(),
    reason: text.optional(),
    reconciliationId: text.optional(),
    providerSpecificData: jsonMapSchema.optional(),
    additionalDetails: stringMapSchema.optional(),
  }),
);
export type RefundRequest = z.input<ReturnType<typeof refundRequestSchema>>;

/** Body of Create Void, which has neither an amount nor a reconciliation id. */
export const voidRequestSchema = perVersion(() =>
  z.strictObject({
    providerSpecificData: jsonMapSchema.optional(),
    additionalDetails: stringMapSchema.optional(),
  }),
);
export type VoidRequest = z.input<ReturnType<typeof voidRequestSchema>>;
