import { randomUUID, createHash, randomInt } from 'node:crypto';
import { z } from 'zod';
import {
  cvvSchema,
  detailsSchema,
  paymentMethodSchema,
  resolvePaymentMethod,
  untokenizedSchema,
  type PaymentMethod,
  type ResolvedMethod,
} from './payment-method.js';
import type { TransactionKind } from './records.js';
import { parseBody, type Call } from './route.js';
import type { Drafting } from './transactions.js';
import { perVersion, type VersionRules } from './versions.js';

const commonFields = (rules: VersionRules) => ({
  // Any text is accepted, as observed: the URL is not checked before a customer is redirected there.
  merchant_site_url: z.string().optional(),
  reconciliation_id: z.string().max(255).optional(),
  three_d_secure_attributes: rules.threeDSecureAttributes.optional(),
  installments: z.looseObject({ number_of_installments: z.int().optional() }).optional(),
  provider_specific_data: z.looseObject({}).optional(),
  additional_details: detailsSchema.optional(),
  cof_transaction_indicators: z
    .looseObject({
      card_entry_mode: z.enum([...CONSENT_MODES, ...LATER_MODES]),
      cof_consent_transaction_id: z.string().optional(),
    })
    .optional(),
});

/**
 * The body of an authorization, a charge or a credit. Unknown fields are accepted and dropped. Version 1.0.0 has
 * token and CVV at its root.
 */
export const cardTransactionSchema = perVersion((rules): z.ZodType<CardTransactionRequest> => {
  const rest = commonFields(rules);
  if (!rules.tokenAtRoot) return z.object({ payment_method: paymentMethodSchema, ...rest });
  return z
    .object({
      payment_method_token: z.string().min(1).optional(),
      credit_card_cvv: cvvSchema.optional(),
      payment_method: untokenizedSchema.optional(),
      ...rest,
    })
    .refine((body) => (body.payment_method_token === undefined) !== (body.payment_method === undefined), {
      message: 'exactly one of payment_method_token and an untokenized payment_method is needed',
      path: ['payment_method_token'],
    });
});
type CardTransactionRequest = z.infer<z.ZodObject<ReturnType<typeof commonFields>>> & {
  payment_method?: PaymentMethod | undefined;
  payment_method_token?: string | undefined;
  credit_card_cvv?: string | undefined;
};

/** Parses the body of an authorization, a charge or a credit; the returned function does the checks that need state. */
export function cardTransaction(call: Call, kind: TransactionKind): Drafting {
  const request = parseBody(call, cardTransactionSchema(call.rules));
  return (payment, _others, again) => {
    // A repeated transaction already has its payment method and may have used up its token.
    if (again !== undefined) return { amount: again.amount, trigger: again.trigger };
    const method = resolvePaymentMethod(call, methodOf(request));
    const consent = consentOf(call, request, method);
    const trigger = consent.outcome ?? method.trigger;
    const redirects = request.merchant_site_url !== undefined && kind !== 'credit' && trigger.startsWith('pending');
    return {
      ...method,
      trigger,
      amount: payment.content.amount,
      ...(consent.id !== undefined && { consentId: consent.id }),
      ...(request.reconciliation_id !== undefined && { reconciliationId: request.reconciliation_id }),
      ...(request.additional_details && { additionalDetails: request.additional_details }),
      ...(request.three_d_secure_attributes && { threeDSecureAttributes: request.three_d_secure_attributes }),
      ...(request.installments && { installments: request.installments }),
      ...(call.clientIpAddress !== undefined && kind !== 'credit' && { ipAddress: call.clientIpAddress }),
      ...(redirects && {
        redirection: {
          id: randomUUID(),
          created: call.sandbox.clock.now(),
          merchantSiteUrl: request.merchant_site_url ?? '',
        },
      }),
    };
  };
}

function methodOf(request: CardTransactionRequest): PaymentMethod {
  const { payment_method_token: token, credit_card_cvv: cvv } = request;
  if (token === undefined) return request.payment_method as PaymentMethod;
  return { type: 'tokenized', token, ...(cvv !== undefined && { credit_card_cvv: cvv }) };
}

/** Returns a new consent for a first card-on-file transaction, and a decline for a later one with a wrong consent. */
function consentOf(
  { sandbox, unit }: Call,
  { cof_transaction_indicators: indicators }: CardTransactionRequest,
  { paymentMethod }: ResolvedMethod,
): { id?: string; outcome?: 'refused' } {
  const card = paymentMethod?.['fingerprint'];
  if (indicators === undefined || typeof card !== 'string') return {};
  if (isConsentMode(indicators.card_entry_mode)) return { id: newConsentId(sandbox.fingerprintSalt, card) };
  const wrong = !isConsentOf(sandbox.fingerprintSalt, card, indicators.cof_consent_transaction_id);
  return wrong && unit.profile.consent_ids === 'strict' ? { outcome: 'refused' } : {};
}

/** Card entry modes of a first transaction, with which the customer consents to storing the card. */
const CONSENT_MODES = ['consent_transaction', 'recurring_consent_transaction'] as const;
const LATER_MODES = [
  'cof_cardholder_initiated_transaction',
  'cof_merchant_initiated_transaction',
  'recurring_subsequent_transaction',
] as const;

const RANDOM_DIGITS = 8;

function isConsentMode(mode: string): boolean {
  return CONSENT_MODES.some((one) => one === mode);
}

/** Creates a network transaction id of 15 digits. Its last 7 are derived from the card, so it need not be stored. */
function newConsentId(salt: string, fingerprint: string): string {
  const random = String(randomInt(10 ** RANDOM_DIGITS)).padStart(RANDOM_DIGITS, '0');
  return random + checkDigits(salt, fingerprint, random);
}

/** Whether the id is that of a consent given with this card. */
function isConsentOf(salt: string, fingerprint: string, id: string | undefined): boolean {
  const random = id?.slice(0, RANDOM_DIGITS) ?? '';
  return id === random + checkDigits(salt, fingerprint, random);
}

function checkDigits(salt: string, fingerprint: string, random: string): string {
  const hash = createHash('sha256').update(`${salt}:consent:${fingerprint}:${random}`).digest();
  return String(hash.readUInt32BE() % 10 ** 7).padStart(7, '0');
}
