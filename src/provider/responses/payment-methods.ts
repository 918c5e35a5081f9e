import { z } from 'zod';
import { addressSchema } from './addresses.js';
import type { Address } from './addresses.js';
import { cardNote, compact, flag, id, idOfLink, note, noteOf, stringMap, time } from './fields.js';

/** What is known of a payment method. Never a card number and never a CVV. */
export interface PaymentMethod {
  /** `tokenized` or `untokenized`. */
  type?: string;
  /** `credit_card`, `card_cvv_code` or `billing_agreement`; others may come. */
  tokenType?: string;
  token?: string;
  /** Since API version 1.2.0: `created`, `used`, `assigned`; `valid` for a token made before. Others may come. */
  state?: string;
  /** Equal fingerprints mean equal card numbers. */
  fingerprint?: string;
  /** Of a method that is no token: `credit_card`, `bank_transfer`, ... */
  sourceType?: string;
  vendor?: string;
  issuer?: string;
  cardType?: string;
  level?: string;
  /** ISO 3166-1 alpha-3, at every API version. */
  countryCode?: string;
  holderName?: string;
  /** `MM/YYYY`. */
  expirationDate?: string;
  last4Digits?: string;
  binNumber?: string;
  passLuhnValidation?: boolean;
  billingAddress?: Address;
  additionalDetails?: Record<string, string>;
  /** Epoch ms as text. */
  created?: string;
}

/** A card stored with a customer. */
export interface StoredPaymentMethod extends PaymentMethod {
  token: string;
  customerId?: string;
}

export interface Token extends PaymentMethod {
  token: string;
  /** Only in the answer that made the token, and only where a CVV was sent. Good for three hours. */
  encryptedCvv?: string;
}

const fields = {
  type: note,
  token_type: note,
  token: note,
  state: note,
  fingerprint: note,
  source_type: note,
  vendor: note,
  issuer: note,
  card_type: note,
  level: note,
  country_code: note,
  holder_name: cardNote,
  expiration_date: cardNote,
  last_4_digits: cardNote,
  bin_number: cardNote,
  pass_luhn_validation: flag,
  billing_address: noteOf(addressSchema),
  additional_details: stringMap,
  created: time,
  alternative_payment: noteOf(z.object({ vendor: note })),
};
const shape = z.object(fields);

function read(wire: z.output<typeof shape>): PaymentMethod {
  return compact<PaymentMethod>({
    type: wire.type,
    tokenType: wire.token_type,
    token: wire.token,
    state: wire.state,
    fingerprint: wire.fingerprint,
    sourceType: wire.source_type,
    vendor: wire.vendor ?? wire.alternative_payment?.vendor,
    issuer: wire.issuer,
    cardType: wire.card_type,
    level: wire.level,
    countryCode: wire.country_code,
    holderName: wire.holder_name,
    expirationDate: wire.expiration_date,
    last4Digits: wire.last_4_digits,
    binNumber: wire.bin_number,
    passLuhnValidation: wire.pass_luhn_validation,
    billingAddress: wire.billing_address,
    additionalDetails: wire.additional_details,
    created: wire.created,
  });
}

export const paymentMethodSchema: z.ZodType<PaymentMethod> = shape.transform(read);

export const storedPaymentMethodSchema: z.ZodType<StoredPaymentMethod> = z
  .object({ ...fields, token: id, customer: note })
  .transform((wire) => {
    const customerId = idOfLink(wire.customer);
    return { ...read(wire), token: wire.token, ...(customerId === undefined ? {} : { customerId }) };
  });

/** Strict as a whole: an entry dropped in silence would look like a card that was never stored. */
export const storedPaymentMethodListSchema: z.ZodType<StoredPaymentMethod[]> = z.array(storedPaymentMethodSchema);

export const tokenSchema: z.ZodType<Token> = z
  .object({ ...fields, token: id, encrypted_cvv: note })
  .transform((wire) => ({
    ...read(wire),
    token: wire.token,
    ...(wire.encrypted_cvv === undefined ? {} : { encryptedCvv: wire.encrypted_cvv }),
  }));
