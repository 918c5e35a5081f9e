import { z } from 'zod';
import { invalidRequest } from './api-error.js';
import { cardFields, fingerprint, mockOutcome, normalizeExpirationDate } from './cards.js';
import { isLiveCvv } from './encrypted-cvv.js';
import type { JsonObject, MockOutcome, Token, Transaction } from './records.js';
import type { Call } from './route.js';
import { usableToken } from './tokens.js';
import { perVersion } from './versions.js';

const details = z.record(z.string(), z.string());
const cvv = z.string().regex(/^(\d{3,4}|[A-Za-z0-9+/]{38,}={0,2})$/, 'must be 3 or 4 digits or an encrypted_cvv');

const paymentMethodSchema = z.union([
  z.object({ type: z.literal('tokenized'), token: z.string().min(1), credit_card_cvv: cvv.optional() }),
  z.object({
    type: z.literal('untokenized'),
    source_type: z.enum(['credit_card', 'credit card']),
    holder_name: z.string().min(1),
    card_number: z.string().regex(/^(\d{8}|\d{12,19})$/, 'must have 8 or 12 to 19 digits'),
    expiration_date: z.string().optional(),
    credit_card_cvv: z
      .string()
      .regex(/^\d{3,4}$/, 'must have 3 or 4 digits')
      .optional(),
    additional_details: details.optional(),
  }),
  z.object({
    type: z.literal('untokenized'),
    source_type: z.enum(['bank_transfer', 'cash', 'ewallet', 'debit_redirect', 'loyalty', 'credit']),
    vendor: z.string().optional(),
    additional_details: details.optional(),
  }),
]);
type PaymentMethod = z.infer<typeof paymentMethodSchema>;

/** The body of a charge; authorizations and credits have the same. Unknown fields are accepted and dropped. */
export const paymentMethodTransactionSchema = perVersion((rules) =>
  z.object({
    payment_method: paymentMethodSchema,
    merchant_site_url: z.string().optional(),
    reconciliation_id: z.string().max(255).optional(),
    three_d_secure_attributes: rules.threeDSecureAttributes.optional(),
    installments: z.looseObject({ number_of_installments: z.int().optional() }).optional(),
    provider_specific_data: z.looseObject({}).optional(),
    additional_details: details.optional(),
    cof_transaction_indicators: z
      .looseObject({
        card_entry_mode: z.enum([
          'consent_transaction',
          'recurring_consent_transaction',
          'cof_cardholder_initiated_transaction',
          'cof_merchant_initiated_transaction',
          'recurring_subsequent_transaction',
        ]),
        cof_consent_transaction_id: z.string().optional(),
      })
      .optional(),
  }),
);

export type PaymentMethodTransactionRequest = z.infer<ReturnType<typeof paymentMethodTransactionSchema>>;

/** What a transaction keeps of its payment method. */
export type ResolvedMethod = Pick<Transaction, 'paymentMethod' | 'paymentMethodDetails' | 'tokenId' | 'trigger'>;

/** Checks a payment method and says what to keep of it: never a card number, never a CVV. Throws the documented 400s. */
export function resolvePaymentMethod(call: Call, method: PaymentMethod): ResolvedMethod {
  if (method.type === 'tokenized') {
    const token = usableToken(call.sandbox, method.token, call.unit.appId, call.env);
    checkCvv(call, token, method.credit_card_cvv);
    return resolveToken(token);
  }
  return 'card_number' in method ? resolveCard(call, method) : resolveAlternative(method);
}

function checkCvv({ sandbox }: Call, token: Token, text: string | undefined): void {
  if (text === undefined || /^\d{3,4}$/.test(text)) return;
  if (!isLiveCvv(sandbox.cvvKey, token.token, text, sandbox.clock.now())) {
    throw invalidRequest('encrypted_cvv is not of this token or has expired');
  }
}

function resolveToken(token: Token): ResolvedMethod {
  const { title: _title, ...billingAddress } = token.billingAddress ?? {};
  return {
    tokenId: token.token,
    trigger: token.trigger,
    paymentMethod: {
      type: 'tokenized',
      token: token.token,
      token_type: 'credit_card',
      ...token.card,
      fingerprint: token.fingerprint,
      created: String(token.created),
      ...(token.billingAddress && { billing_address: billingAddress }),
    },
    ...(token.additionalDetails && { paymentMethodDetails: token.additionalDetails }),
  };
}

function resolveCard(call: Call, method: Extract<PaymentMethod, { card_number: string }>): ResolvedMethod {
  if (!call.unit.saqD) throw invalidRequest('untokenized cards are for SAQ D compliant merchants only');
  const given = method.expiration_date;
  const expires = given === undefined ? undefined : normalizeExpirationDate(given);
  if (given !== undefined && expires === undefined)
    throw invalidRequest('expiration_date does not have a valid format');
  const card = cardFields(method.card_number, method.holder_name, expires);
  const paymentMethod: JsonObject = {
    created: String(call.sandbox.clock.now()),
    type: 'untokenized',
    source_type: 'credit_card',
    ...(expires === undefined ? {} : { expiration_date: expires }),
    fingerprint: fingerprint(method.card_number, call.sandbox.fingerprintSalt),
    holder_name: card.holder_name,
    last_4_digits: card.last_4_digits,
    pass_luhn_validation: card.pass_luhn_validation,
  };
  return { trigger: mockOutcome(method.card_number), paymentMethod };
}

const APM_TRIGGERS: Readonly<Record<string, MockOutcome>> = {
  failed: 'failed',
  pending_succeed: 'pending_succeed',
  pending_failed: 'pending_failed',
};

function resolveAlternative(method: Exclude<PaymentMethod, { type: 'tokenized' } | { card_number: string }>) {
  const wanted = method.additional_details?.['untokenized_result_status'] ?? '';
  const alternative = { vendor: method.vendor ?? '', additional_details: method.additional_details ?? {} };
  return {
    trigger: APM_TRIGGERS[wanted] ?? ('succeed' as const),
    paymentMethod: { type: method.type, source_type: method.source_type, alternative_payment: alternative },
  };
}
