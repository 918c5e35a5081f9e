import { z } from 'zod';
import {
  cardNumberSchema,
  expirationDate,
  expirationSchema,
  resolvePaymentMethod,
  tokenizedMethod,
} from './payment-method.js';
import type { Transaction } from './records.js';
import type { Call } from './route.js';
import { knownToken, usableToken } from './tokens.js';

/** A payment method to be analysed. It need not be able to pay, so any part of a card is accepted. */
export const riskMethodSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('tokenized'), token: z.string().min(1) }),
  z.object({
    type: z.literal('untokenized'),
    source_type: z.enum(['credit_card', 'credit card']),
    card_number: cardNumberSchema.optional(),
    bin_number: z
      .string()
      .regex(/^\d{4,8}$/, 'must have 4 to 8 digits')
      .optional(),
    last_4_digits: z
      .string()
      .regex(/^\d{4}$/, 'must have 4 digits')
      .optional(),
    holder_name: z.string().min(1).optional(),
    expiration_date: expirationSchema.optional(),
  }),
]);

/** Returns what an analysis keeps of its payment method. It does not use up the token. Throws the documented 400s. */
export function riskMethod(
  call: Call,
  method: z.infer<typeof riskMethodSchema>,
): Pick<Transaction, 'paymentMethod' | 'paymentMethodDetails' | 'tokenId'> {
  if (method.type === 'tokenized') {
    const tokenOf = call.unit.profile.reading === 'interface' ? knownToken : usableToken;
    return tokenizedMethod(tokenOf(call.sandbox, method.token, call.unit, call.env));
  }
  const { card_number: number, holder_name: holder, ...rest } = method;
  if (number !== undefined) {
    const whole = { ...rest, card_number: number, holder_name: holder ?? '' };
    const { trigger: _none, ...kept } = resolvePaymentMethod(call, whole);
    return kept;
  }
  const expires = expirationDate(method.expiration_date);
  return {
    paymentMethod: {
      created: String(call.sandbox.clock.now()),
      ...rest,
      source_type: 'credit_card',
      ...(holder !== undefined && { holder_name: holder }),
      ...(expires !== undefined && { expiration_date: expires }),
    },
  };
}
