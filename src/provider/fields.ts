import { z } from 'zod';
import { uuidSchema } from '../../contract/fields.js';
import type { VersionRules } from '../versions.js';

export const text = z.string().min(1).max(255);

/** Messages here never show the value: it may be card data. */
const cvvSchema = z.string().regex(/^([0-9]{3,4}|[A-Za-z0-9+/=_-]{16,4096})$/, {
  error: 'is neither a CVV of 3 or 4 digits nor an encrypted_cvv',
});

/** Sent as written, keys and values. */
export const stringMapSchema = z.record(z.string().min(1), z.string());
export const jsonMapSchema = z.record(z.string().min(1), z.json());

/** Money that may be nothing: a price, a tax. Minor units. */
export const sumSchema = z
  .number({ error: 'is not a sum: use a whole number of minor units' })
  .refine((value) => Number.isSafeInteger(value) && value >= 0, {
    error: `is not a sum: use a whole number of minor units from 0 to ${Number.MAX_SAFE_INTEGER}`,
  });

export const installmentsSchema = z.strictObject({
  numberOfInstallments: z.int().min(1).optional(),
  /** Minor units. */
  firstPaymentAmount: sumSchema.optional(),
  /** Minor units. */
  remainingPaymentsAmount: sumSchema.optional(),
});

/** ISO 3166-1: alpha-3, at API version 1.0.0 alpha-2 as well. There it goes out as alpha-2 either way. */
export function countrySchema(rules: VersionRules) {
  const lengths = rules.shortCountries ? '2 or 3' : '3';
  return z.string().regex(rules.shortCountries ? /^[A-Z]{2,3}$/ : /^[A-Z]{3}$/, {
    error: `is not a country code of ${lengths} capital letters`,
  });
}

export function addressSchema(rules: VersionRules) {
  return z.strictObject({
    country: countrySchema(rules).optional(),
    state: text.optional(),
    city: text.optional(),
    line1: text.optional(),
    line2: text.optional(),
    zipCode: text.optional(),
    title: text.optional(),
    firstName: text.optional(),
    lastName: text.optional(),
    phone: text.optional(),
    email: text.optional(),
  });
}

/** 8 digits, or 12 to 19. */
export const cardNumberSchema = z.string().regex(/^(\d{8}|\d{12,19})$/, {
  error: 'is not a card number of 8 or 12 to 19 digits',
});

/** `MM/YYYY`; the separators `-`, `.` and space, and years of 2 digits, are taken too. */
export const expirationDateSchema = z.string().regex(/^(0[1-9]|1[0-2])[/. -](\d{4}|\d{2})$/, {
  error: 'is not an expiration date, such as MM/YYYY',
});

const tokenizedSchema = z.strictObject({
  type: z.literal('tokenized'),
  token: uuidSchema.zod,
  /** The `encryptedCvv` of a token, or 3 to 4 digits. */
  creditCardCvv: cvvSchema.optional(),
});

/** Every `sourceType` of a payment method without token. */
export const SOURCE_TYPES = [
  'bank_transfer',
  'cash',
  'ewallet',
  'debit_redirect',
  'loyalty',
  'credit_card',
  'credit',
] as const;
export type SourceType = (typeof SOURCE_TYPES)[number];

/** A card in the clear or a method without card. Cards in the clear are for merchants under PCI DSS SAQ D only. */
const untokenizedSchema = z.strictObject({
  type: z.literal('untokenized'),
  sourceType: z.enum(SOURCE_TYPES),
  vendor: text.optional(),
  holderName: text.optional(),
  cardNumber: cardNumberSchema.optional(),
  expirationDate: expirationDateSchema.optional(),
  /** Sent as written. */
  cardIdentity: stringMapSchema.optional(),
  creditCardCvv: cvvSchema.optional(),
  additionalDetails: stringMapSchema.optional(),
});

export type PaymentMethodRequest = z.input<typeof tokenizedSchema> | z.input<typeof untokenizedSchema>;

const TYPE_FAULT = 'is neither "tokenized" nor "untokenized"';
const ANY_METHOD = z.discriminatedUnion('type', [tokenizedSchema, untokenizedSchema], { error: TYPE_FAULT });
const TOKEN_ONLY = z.discriminatedUnion('type', [tokenizedSchema], {
  error: 'is not "tokenized", the only type that API version 1.0.0 takes',
});

export function paymentMethodSchema(rules: VersionRules): z.ZodType<unknown, PaymentMethodRequest> {
  return (rules.tokenAtRoot ? TOKEN_ONLY : ANY_METHOD) as z.ZodType<unknown, PaymentMethodRequest>;
}

const flat3dsSchema = z.strictObject({
  encoding: text.optional(),
  xid: text.optional(),
  cavv: text.optional(),
  eciFlag: text.optional(),
});

const scalar = z.union([z.string(), z.boolean(), z.number()]);
const nested3dsSchema = z.strictObject({
  /** What a 3D Secure server of the merchant's own returned. */
  external: z
    .strictObject({
      threeDSecureVersion: text.optional(),
      threeDSecureAuthenticationStatus: text.optional(),
      xid: text.optional(),
      dsXid: text.optional(),
      encoding: text.optional(),
      cavv: text.optional(),
      eciFlag: text.optional(),
      authenticationId: text.optional(),
    })
    .optional(),
  /** Some sixty fields that the provider asks for, camelCase (`deviceChannel`, `browserHeader.javaEnabled`). */
  internal: z.record(z.string(), z.union([scalar, z.record(z.string(), scalar)])).optional(),
  scaExemptions: z
    .strictObject({
      exemptionAction: z.boolean().optional(),
      requestExemptionStage: text.optional(),
      exemptionReason: text.optional(),
      traScore: text.optional(),
    })
    .optional(),
});

/** Flat up to API version 1.2.0, nested since 1.3.0; the other shape is refused before sending. */
export type ThreeDSecureAttributes = z.input<typeof flat3dsSchema> | z.input<typeof nested3dsSchema>;

export function threeDSecureSchema(rules: VersionRules): z.ZodType<unknown, ThreeDSecureAttributes> {
  return (rules.threeDSecure === 'flat' ? flat3dsSchema : nested3dsSchema) as z.ZodType<
    unknown,
    ThreeDSecureAttributes
  >;
}
