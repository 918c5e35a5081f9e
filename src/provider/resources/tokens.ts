import { z } from 'zod';
import { uuidSchema } from '../../contract/fields.js';
import {
  addressRequest,
  addressSchema,
  answerObject,
  cardNumber,
  expirationDate,
  type FieldsOf,
  isObject,
  lenient,
  lenientCardText,
  lenientFlag,
  lenientStringMap,
  lenientText,
  lenientTime,
  strictId,
  stringMap,
  text,
  type WireNames,
} from '../fields.js';
import { post, read } from '../http/operation.js';
import { perVersion, type VersionRules } from '../versions.js';

/** Error messages never contain the value, because it may be card data. */
const cvv = z.string().regex(/^([0-9]{3,4}|[A-Za-z0-9+/=_-]{16,4096})$/, {
  error: 'is neither a CVV of 3 or 4 digits nor an encrypted_cvv',
});

const tokenized = z.strictObject({
  type: z.literal('tokenized'),
  token: uuidSchema.zod,
  /** The `encryptedCvv` of a token, or 3 to 4 digits. */
  creditCardCvv: cvv.optional(),
});

/** All `sourceType`s of a payment method without a token. */
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

/** An unencrypted card or a method without a card. Only merchants under PCI DSS SAQ D may send unencrypted cards. */
const untokenized = z.strictObject({
  type: z.literal('untokenized'),
  sourceType: z.enum(SOURCE_TYPES),
  vendor: text.optional(),
  holderName: text.optional(),
  cardNumber: cardNumber.optional(),
  expirationDate: expirationDate.optional(),
  /** Keys and values are sent unchanged. */
  cardIdentity: stringMap.optional(),
  creditCardCvv: cvv.optional(),
  additionalDetails: stringMap.optional(),
});

export type PaymentMethodRequest = z.input<typeof tokenized> | z.input<typeof untokenized>;

const anyMethod = z.discriminatedUnion('type', [tokenized, untokenized], {
  error: 'is neither "tokenized" nor "untokenized"',
});
const tokenOnly = z.discriminatedUnion('type', [tokenized], {
  error: 'is not "tokenized", the only type that API version 1.0.0 takes',
});

export function paymentMethodRequest(rules: VersionRules): z.ZodType<unknown, PaymentMethodRequest> {
  return (rules.tokenAtRoot ? tokenOnly : anyMethod) as z.ZodType<unknown, PaymentMethodRequest>;
}

const cvvDigits = z.string().regex(/^\d{3,4}$/, { error: 'is not a CVV of 3 or 4 digits' });

/**
 * Body of Create Token: a card, or the CVV of a token. The card data are unencrypted, so only the buyer's browser or a
 * merchant under PCI DSS SAQ D may make this call.
 */
const tokenRequestSchema = perVersion((rules) =>
  z.discriminatedUnion(
    'tokenType',
    [
      z.strictObject({
        tokenType: z.literal('credit_card'),
        holderName: text,
        cardNumber,
        expirationDate: expirationDate.optional(),
        /** Returned as `encryptedCvv`, which is valid for three hours. Not stored with the token. */
        creditCardCvv: cvvDigits.optional(),
        identityDocument: z.strictObject({ type: text, number: text }).optional(),
        billingAddress: addressRequest(rules).optional(),
        shippingAddress: addressRequest(rules).optional(),
        /** Keys and values are sent unchanged. */
        additionalDetails: stringMap.optional(),
      }),
      z.strictObject({
        tokenType: z.literal('card_cvv_code'),
        paymentMethodToken: uuidSchema.zod,
        creditCardCvv: cvvDigits,
      }),
    ],
    { error: 'is neither "credit_card" nor "card_cvv_code"' },
  ),
);
export type TokenRequest = z.input<ReturnType<typeof tokenRequestSchema>>;

/** Fields of a payment method in answers. Never a card number or a CVV. */
export const paymentMethodFields = {
  /** `tokenized` or `untokenized`. */
  type: lenientText,
  /** `credit_card`, `card_cvv_code`, `billing_agreement` or another one. */
  tokenType: lenientText,
  token: lenientText,
  /** Since API version 1.2.0: `created`, `used`, `assigned` or another one; `valid` for a token created before. */
  state: lenientText,
  /** Equal fingerprints mean equal card numbers. */
  fingerprint: lenientText,
  /** Only for a method without a token: `credit_card`, `bank_transfer`, ... */
  sourceType: lenientText,
  vendor: lenientText,
  issuer: lenientText,
  cardType: lenientText,
  level: lenientText,
  /** ISO 3166-1 alpha-3, at every API version. */
  countryCode: lenientText,
  holderName: lenientCardText,
  /** `MM/YYYY`. */
  expirationDate: lenientCardText,
  last4Digits: lenientCardText,
  binNumber: lenientCardText,
  passLuhnValidation: lenientFlag,
  billingAddress: lenient(addressSchema),
  additionalDetails: lenientStringMap,
  /** Epoch ms as text. */
  created: lenientTime,
};
export interface PaymentMethod extends FieldsOf<typeof paymentMethodFields> {}
export const paymentMethodSchema: z.ZodType<PaymentMethod> = paymentMethodOf(paymentMethodFields);

const tokenFields = {
  ...paymentMethodFields,
  token: strictId,
  /** Only in the answer that created the token, and only if a CVV was sent. Valid for three hours. */
  encryptedCvv: lenientText,
};
export interface Token extends FieldsOf<typeof tokenFields> {}
const tokenSchema: z.ZodType<Token> = paymentMethodOf(tokenFields);

/** Schema of an answer object with the fields of a payment method. */
export function paymentMethodOf<Shape extends z.ZodRawShape>(shape: Shape, wireNames?: WireNames<Shape>) {
  return z.preprocess(nameVendor, answerObject(shape, wireNames));
}

/** Copies the vendor of a method without a card from `alternative_payment`. */
function nameVendor(method: unknown): unknown {
  if (!isObject(method) || (typeof method['vendor'] === 'string' && method['vendor'] !== '')) return method;
  const { alternative_payment: alternative } = method;
  return isObject(alternative) ? { ...method, vendor: alternative['vendor'] } : method;
}

export const TOKENS = {
  /** Unencrypted card data, sent with the public key: only for the buyer's browser or merchants under PCI DSS SAQ D. */
  createToken: post('/tokens', { credentials: 'public', request: tokenRequestSchema, response: tokenSchema }),
  getToken: read('/tokens/{token}', 'token', tokenSchema, { field: 'token' }),
} as const;
