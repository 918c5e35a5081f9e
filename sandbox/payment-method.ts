import { z } from 'zod';
import { invalidRequest } from './api-error.js';
import { cardFields, fingerprint, mockOutcome, normalizeExpirationDate } from './cards.js';
import { alternativeOutcome } from './mock-provider.js';
import { isCurrency } from './money.js';
import type { JsonObject, Token, Transaction, PaymentContent } from './records.js';
import { type Call, parseBody } from './route.js';
import { isLiveCvv, usableToken } from './tokens.js';
import { perVersion } from './versions.js';
import { addressSchema, amountSchema, minorUnits, positiveMinorUnits, priceSchema, jsonText } from './wire-fields.js';

export const detailsSchema = z.record(z.string(), z.string());
export const cvvSchema = z
  .string()
  .regex(/^(\d{3,4}|[A-Za-z0-9+/]{38,}={0,2})$/, 'must be 3 or 4 digits or an encrypted_cvv');
/** The date is checked separately: the service has its own error text for a wrong one. */
export const expirationSchema = z.string().meta({ examples: ['12/2030', '1-31'] });
export const cardNumberSchema = z.string().regex(/^(\d{8}|\d{12,19})$/, 'must have 8 or 12 to 19 digits');

const tokenized = z.object({
  type: z.literal('tokenized'),
  token: z.string().min(1),
  credit_card_cvv: cvvSchema.optional(),
});

const card = z.object({
  type: z.literal('untokenized'),
  source_type: z.enum(['credit_card', 'credit card']),
  holder_name: z.string().min(1),
  card_number: cardNumberSchema,
  expiration_date: expirationSchema.optional(),
  credit_card_cvv: z
    .string()
    .regex(/^\d{3,4}$/, 'must have 3 or 4 digits')
    .optional(),
  additional_details: detailsSchema.optional(),
});

/** Source types of alternative payment methods; `GET /supported-payment-methods` names the same. */
export const ALTERNATIVE_SOURCES = ['bank_transfer', 'cash', 'ewallet', 'debit_redirect', 'loyalty', 'credit'] as const;

const alternative = z.object({
  type: z.literal('untokenized'),
  source_type: z.enum(ALTERNATIVE_SOURCES),
  vendor: z.string().optional(),
  additional_details: detailsSchema.optional(),
});

export const untokenizedSchema = z.discriminatedUnion('source_type', [card, alternative]);
export const paymentMethodSchema = z.discriminatedUnion('type', [tokenized, untokenizedSchema]);
export type PaymentMethod = z.infer<typeof paymentMethodSchema>;

/** The fields that a transaction keeps of its payment method. */
export type ResolvedMethod = Pick<Transaction, 'paymentMethod' | 'paymentMethodDetails' | 'tokenId' | 'trigger'>;

/** Checks a payment method and returns what to keep: never a card number or a CVV. Throws the documented 400s. */
export function resolvePaymentMethod(call: Call, method: PaymentMethod): ResolvedMethod {
  if (method.type === 'tokenized') {
    const token = usableToken(call.sandbox, method.token, call.unit, call.env);
    checkCvv(call, token, method.credit_card_cvv);
    return { trigger: token.trigger, ...tokenizedMethod(token) };
  }
  return 'card_number' in method ? resolveCard(call, method) : resolveAlternative(method);
}

function checkCvv({ sandbox }: Call, token: Token, text: string | undefined): void {
  if (text === undefined || /^\d{3,4}$/.test(text)) return;
  if (!isLiveCvv(sandbox.cvvKey, token.token, text, sandbox.clock.now())) {
    throw invalidRequest('encrypted_cvv is not of this token or has expired');
  }
}

export function tokenizedMethod(token: Token): Omit<ResolvedMethod, 'trigger'> {
  const { title: _title, ...billingAddress } = token.billingAddress ?? {};
  return {
    tokenId: token.token,
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

function resolveCard(call: Call, method: z.infer<typeof card>): ResolvedMethod {
  if (!call.unit.saqD) throw invalidRequest('untokenized cards are for SAQ D compliant merchants only');
  const expires = expirationDate(method.expiration_date);
  const { holder_name, last_4_digits, pass_luhn_validation } = cardFields(
    method.card_number,
    method.holder_name,
    expires,
  );
  const paymentMethod: JsonObject = {
    created: String(call.sandbox.clock.now()),
    type: 'untokenized',
    source_type: 'credit_card',
    ...(expires === undefined ? {} : { expiration_date: expires }),
    fingerprint: fingerprint(method.card_number, call.sandbox.fingerprintSalt),
    holder_name,
    last_4_digits,
    pass_luhn_validation,
  };
  return { trigger: mockOutcome(method.card_number), paymentMethod };
}

function resolveAlternative(method: z.infer<typeof alternative>): ResolvedMethod {
  const details = method.additional_details ?? {};
  return {
    trigger: alternativeOutcome(details['untokenized_result_status']),
    paymentMethod: {
      type: method.type,
      source_type: method.source_type,
      alternative_payment: { vendor: method.vendor ?? '', additional_details: details },
    },
  };
}

/** Returns MM/YYYY for a request's date. Throws the documented 400 for an invalid one. */
export function expirationDate(given: string | undefined): string | undefined {
  const expires = given === undefined ? undefined : normalizeExpirationDate(given);
  if (given !== undefined && expires === undefined) {
    throw invalidRequest('expiration_date does not have a valid format');
  }
  return expires;
}

export const paymentSchema = perVersion((rules) => {
  const lineItem = z.looseObject({
    id: z.string().optional(),
    name: z.string().optional(),
    unit_price: priceSchema(rules).optional(),
    quantity: z.number().optional(),
  });
  return z.object({
    amount: amountSchema(rules),
    currency: z
      .string()
      .refine(isCurrency, 'is no ISO 4217 currency code')
      .meta({ examples: ['EUR', 'USD', 'JPY', 'KWD'] }),
    customer_id: z.string().min(1).max(255).optional(),
    additional_details: detailsSchema.optional(),
    statement_soft_descriptor: z.string().min(1).max(255).optional(),
    order: z.looseObject({ line_items: z.array(lineItem).optional() }).optional(),
    shipping_address: addressSchema(rules).optional(),
    billing_address: addressSchema(rules).optional(),
    addendums: z.looseObject({}).optional(),
  });
});

/** Returns a payment's fields from the body, with amounts in minor units. Throws the documented 400s. */
export function paymentContent(call: Call): PaymentContent {
  const body = parseBody(call, paymentSchema(call.rules));
  if (!call.rules.decimalAmounts) return body as PaymentContent;
  const { currency } = body;
  const amount = positiveMinorUnits(body.amount, currency, 'amount');
  const prices = (body.order?.line_items ?? []).map((item, index) => {
    const { unit_price: price } = item;
    if (price === undefined) return item;
    return { ...item, unit_price: minorUnits(price, currency, `order.line_items.${index}.unit_price`) };
  });
  const order = body.order && { ...body.order, ...(body.order.line_items && { line_items: prices }) };
  // Amounts that move no money (such as in addendums) become ordinary numbers again.
  return JSON.parse(jsonText({ ...body, amount, order })) as PaymentContent;
}

/** Returns the indexes of a payment's line items without a price. */
export function unpricedItems({ order }: PaymentContent): number[] {
  const items = (order?.['line_items'] ?? []) as readonly JsonObject[];
  return items.flatMap((item, index) => (typeof item['unit_price'] === 'number' ? [] : [index]));
}
