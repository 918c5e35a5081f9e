import { z } from 'zod';
import { uuidSchema } from '../../contract/fields.js';
import { perVersion } from '../versions.js';
import {
  SOURCE_TYPES,
  cardNumberSchema,
  countrySchema,
  expirationDateSchema,
  installmentsSchema,
  stringMapSchema,
  text,
} from './fields.js';

const tokenizedSchema = z.strictObject({ type: z.literal('tokenized'), token: uuidSchema.zod });

/** A card, whole or only what is known of it. Cards in the clear are for merchants under PCI DSS SAQ D only. */
const untokenizedSchema = z.strictObject({
  type: z.literal('untokenized'),
  // The interface's own example of a risk analysis writes the second.
  sourceType: z.enum([...SOURCE_TYPES, 'credit card']),
  cardNumber: cardNumberSchema.optional(),
  binNumber: z
    .string()
    .regex(/^\d{4,8}$/, { error: 'is not a BIN of 4 to 8 digits' })
    .optional(),
  last4Digits: z
    .string()
    .regex(/^\d{4}$/, { error: 'is not the last 4 digits of a card' })
    .optional(),
  holderName: text.optional(),
  expirationDate: expirationDateSchema.optional(),
});

/** The risk provider refuses every other field. */
const riskDetailsSchema = z.strictObject({
  productDescExtra1: text.optional(),
  productDescExtra2: text.optional(),
  productDescExtra3: text.optional(),
  payerBirthday: z
    .string()
    .regex(/^\d{4}\/(0[1-9]|1[0-2])\/(0[1-9]|[12]\d|3[01])$/, { error: 'is not a date in the form yyyy/mm/dd' })
    .optional(),
});

/** Renamed here, since whatever stands in `providerSpecificData` is sent as written. */
const riskProviderSchema = z
  .strictObject({ additionalDetails: riskDetailsSchema.optional() })
  .transform(({ additionalDetails: details }) => ({
    ...(details === undefined
      ? {}
      : {
          additional_details: {
            product_desc_extra1: details.productDescExtra1,
            product_desc_extra2: details.productDescExtra2,
            product_desc_extra3: details.productDescExtra3,
            payer_birthday: details.payerBirthday,
          },
        }),
  }));

/** Body of Create Risk Analysis. All of it is optional. */
export const riskAnalysisRequestSchema = perVersion((rules) =>
  z.strictObject({
    /** What is to follow: `charge`, for one. */
    transactionType: text.optional(),
    paymentMethod: z
      .discriminatedUnion('type', [tokenizedSchema, untokenizedSchema], {
        error: 'is neither "tokenized" nor "untokenized"',
      })
      .optional(),
    sessionId: text.optional(),
    deviceId: text.optional(),
    merchant: z
      .strictObject({
        mcc: z
          .string()
          .regex(/^\d{4}$/, { error: 'is not a merchant category code of 4 digits' })
          .optional(),
        merchantName: text.optional(),
        merchantCountryCode: countrySchema(rules).optional(),
        merchantEmail: text.optional(),
        merchantZipCode: text.optional(),
        merchantCity: text.optional(),
      })
      .optional(),
    acquirer: z
      .strictObject({ acquirerId: text.optional(), acquirerCountryCode: countrySchema(rules).optional() })
      .optional(),
    installments: installmentsSchema.optional(),
    authorizationCode: text.optional(),
    cvvVerificationCode: text.optional(),
    threeDSecureAuthenticationStatus: text.optional(),
    /** Keys and values are sent as written. */
    additionalDetails: stringMapSchema.optional(),
    /** By the risk provider's identifier, which ends in `_risk`. */
    providerSpecificData: z
      .record(z.string().regex(/_risk$/), riskProviderSchema, {
        error: (issue) =>
          issue.code === 'invalid_key' ? 'is not the identifier of a risk provider, which ends in _risk' : undefined,
      })
      .optional(),
  }),
);
export type RiskAnalysisRequest = z.input<ReturnType<typeof riskAnalysisRequestSchema>>;
