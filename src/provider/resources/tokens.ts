import { z } from 'zod';
import { uuidSchema } from '../../contract/fields.js';
import { perVersion } from '../versions.js';
import { addressSchema, cardNumberSchema, expirationDateSchema, stringMapSchema, text } from './fields.js';

const digitsOfCvv = z.string().regex(/^\d{3,4}$/, { error: 'is not a CVV of 3 or 4 digits' });

/**
 * Body of Create Token: a card, or the CVV that goes with a token. Card data in the clear, so this call belongs
 * into the buyer's browser, or to a merchant under PCI DSS SAQ D.
 */
export const tokenRequestSchema = perVersion((rules) =>
  z.discriminatedUnion(
    'tokenType',
    [
      z.strictObject({
        tokenType: z.literal('credit_card'),
        holderName: text,
        cardNumber: cardNumberSchema,
        expirationDate: expirationDateSchema.optional(),
        /** Comes back as `encryptedCvv`, good for three hours; it is no part of the token. */
        creditCardCvv: digitsOfCvv.optional(),
        identityDocument: z.strictObject({ type: text, number: text }).optional(),
        billingAddress: addressSchema(rules).optional(),
        shippingAddress: addressSchema(rules).optional(),
        /** Keys and values are sent as written. */
        additionalDetails: stringMapSchema.optional(),
      }),
      z.strictObject({
        tokenType: z.literal('card_cvv_code'),
        paymentMethodToken: uuidSchema.zod,
        creditCardCvv: digitsOfCvv,
      }),
    ],
    { error: 'is neither "credit_card" nor "card_cvv_code"' },
  ),
);
export type TokenRequest = z.input<ReturnType<typeof tokenRequestSchema>>;
