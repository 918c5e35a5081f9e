import { z } from 'zod';
import { isCurrency } from './currencies.js';
import { detailsSchema } from './payment-method.js';
import type { JsonObject, PaymentContent } from './records.js';
import { parseBody, type Call } from './route.js';
import { perVersion } from './versions.js';
import { addressSchema, amountSchema, minorUnits, positiveMinorUnits, priceSchema } from './wire-fields.js';
import { jsonText } from './wire-number.js';

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
