import { z } from 'zod';
import { amountSchema, currencySchema, customerIdSchema, priceSchema } from '../../contract/fields.js';
import { addressSchema, jsonMapSchema, stringMapSchema, sumSchema, text } from './fields.js';
import { perVersion } from '../versions.js';

export const lineItemFields = {
  id: text.optional(),
  name: text.optional(),
  description: z.string().min(1).max(4096).optional(),
  quantity: z.int().min(1).optional(),
  /** Minor units. Needed on every item of a payment that is to be risk-analysed. */
  unitPrice: priceSchema.zod.optional(),
};

const orderSchema = z.strictObject({
  id: text.optional(),
  additionalDetails: stringMapSchema.optional(),
  /** Minor units. */
  taxAmount: sumSchema.optional(),
  taxPercentage: z.number().min(0).optional(),
  /** Minor units. */
  subTotal: sumSchema.optional(),
  lineItems: z.array(z.strictObject(lineItemFields)).optional(),
});

/** Body of Create Payment and of Update Payment, which replaces the whole payment. */
export const paymentRequestSchema = perVersion((rules) =>
  z.strictObject({
    /** Minor units, at every API version. */
    amount: amountSchema.zod,
    currency: currencySchema.zod,
    customerId: customerIdSchema.zod.optional(),
    /** Keys and values are sent as written. */
    additionalDetails: stringMapSchema.optional(),
    statementSoftDescriptor: text.optional(),
    order: orderSchema.optional(),
    billingAddress: addressSchema(rules).optional(),
    shippingAddress: addressSchema(rules).optional(),
    /** Industry data, such as `airline_passenger_itinerary`; sent as written. */
    addendums: jsonMapSchema.optional(),
  }),
);
export type PaymentRequest = z.input<ReturnType<typeof paymentRequestSchema>>;
