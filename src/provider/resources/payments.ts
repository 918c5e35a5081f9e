import { z } from 'zod';
import { amountSchema, currencySchema, customerIdSchema } from '../../contract/fields.js';
import {
  addressRequest,
  addressSchema,
  answerObject,
  type FieldsOf,
  idOfLink,
  jsonMap,
  lenient,
  lenientFlag,
  lenientJsonMap,
  lenientNumber,
  lenientPrice,
  lenientStringMap,
  lenientSum,
  lenientText,
  lenientTime,
  lineItemRequest,
  optionalText,
  strictAmount,
  strictId,
  stringMap,
  sum,
  text,
} from '../fields.js';
import { stateFailures } from '../http/errors.js';
import { post, put, readExpandable } from '../http/operation.js';
import { perVersion } from '../versions.js';
import { type Customer, customerSchema } from './customers.js';
import { redirectionSchema } from './lookups.js';
import { transactionSchema } from './transactions.js';

const orderRequest = z.strictObject({
  id: text.optional(),
  additionalDetails: stringMap.optional(),
  /** Minor units. */
  taxAmount: sum.optional(),
  taxPercentage: z.number().min(0).optional(),
  /** Minor units. */
  subTotal: sum.optional(),
  lineItems: z.array(lineItemRequest).optional(),
});

/** Body of Create Payment and of Update Payment, which replaces the whole payment. */
export const paymentRequestSchema = perVersion((rules) =>
  z.strictObject({
    /** Minor units at every API version. */
    amount: amountSchema.zod,
    currency: currencySchema.zod,
    customerId: customerIdSchema.zod.optional(),
    /** Keys and values are sent unchanged. */
    additionalDetails: stringMap.optional(),
    statementSoftDescriptor: text.optional(),
    order: orderRequest.optional(),
    billingAddress: addressRequest(rules).optional(),
    shippingAddress: addressRequest(rules).optional(),
    /** Industry data, such as `airline_passenger_itinerary`; sent unchanged. */
    addendums: jsonMap.optional(),
  }),
);
export type PaymentRequest = z.input<ReturnType<typeof paymentRequestSchema>>;

const lineItemFields = {
  id: lenientText,
  name: lenientText,
  description: lenientText,
  quantity: lenientNumber,
  /** Minor units. */
  unitPrice: lenientPrice,
};
export interface LineItem extends FieldsOf<typeof lineItemFields> {}
const lineItemSchema: z.ZodType<LineItem> = answerObject(lineItemFields);

const orderFields = {
  id: lenientText,
  additionalDetails: lenientStringMap,
  taxAmount: lenientSum,
  taxPercentage: lenientNumber,
  subTotal: lenientSum,
  lineItems: lenient(z.array(lineItemSchema)),
};
/** Amounts are minor units. */
export interface Order extends FieldsOf<typeof orderFields> {}
const orderSchema: z.ZodType<Order> = answerObject(orderFields);

const nextActionFields = { action: z.string(), href: lenientText };
export interface PossibleNextAction extends FieldsOf<typeof nextActionFields> {}
const nextActionSchema: z.ZodType<PossibleNextAction> = answerObject(nextActionFields);

/** Link to a related transaction that was not requested with `expand`. */
export interface ResourceLink {
  href: string;
}
const linkSchema = z
  .object({ href: z.string().min(1), result: z.undefined().optional() })
  .transform(({ href }): ResourceLink => ({ href }));

/** The form without `expand` is not documented. A list with an unreadable entry is left out: not known, not empty. */
function relatedOf<Whole>(whole: z.ZodType<Whole>) {
  return lenient(z.array(z.union([whole, linkSchema])));
}

const relatedTransactions = relatedOf(transactionSchema);
const transactionsByKind = {
  authorizations: relatedTransactions,
  charges: relatedTransactions,
  captures: relatedTransactions,
  refunds: relatedTransactions,
  voids: relatedTransactions,
  credits: relatedTransactions,
};
export type RelatedKind = keyof typeof transactionsByKind;
const relatedFields = { ...transactionsByKind, redirections: relatedOf(redirectionSchema) };
export interface RelatedResources extends FieldsOf<typeof relatedFields> {}
const relatedResourcesSchema: z.ZodType<RelatedResources> = answerObject(relatedFields);

const customerOfPaymentSchema: z.ZodType<Pick<Payment, 'customerId' | 'customer'>> = z.union([
  customerSchema.transform((customer) => ({ customerId: customer.id, customer })),
  answerObject({ id: lenientText, href: lenientText }).transform(({ id, href }) => {
    const customerId = id ?? idOfLink(href);
    return customerId === undefined ? {} : { customerId };
  }),
]);

const paymentFields = {
  id: strictId,
  /** Minor units. */
  amount: strictAmount,
  currency: z.string().min(1),
  /** `Initialized`, `Pending`, `Authorized`, `Captured`, `Refunded`, `Voided` or another one. Absent if not sent. */
  status: optionalText,
  /** Epoch ms as text. */
  created: lenientTime,
  /** Epoch ms as text. */
  modified: lenientTime,
  statementSoftDescriptor: lenientText,
  additionalDetails: lenientStringMap,
  order: lenient(orderSchema),
  billingAddress: lenient(addressSchema),
  shippingAddress: lenient(addressSchema),
  /** Not converted. */
  addendums: lenientJsonMap,
  isChargedback: lenientFlag,
  isDisputed: lenientFlag,
  possibleNextActions: lenient(z.array(nextActionSchema)),
  /** Transactions by kind (`charges`, `refunds`, ...): whole with `expand`, else links. An absent kind is unknown. */
  relatedResources: lenient(relatedResourcesSchema),
};
export interface Payment extends FieldsOf<typeof paymentFields> {
  customerId?: string;
  /** Complete only with `expand`. */
  customer?: Customer;
}
export const paymentSchema: z.ZodType<Payment> = answerObject({
  ...paymentFields,
  customer: lenient(customerOfPaymentSchema),
}).transform(({ customer, ...payment }) => ({ ...payment, ...customer }));

export const PAYMENTS = {
  createPayment: post('/payments', { request: paymentRequestSchema, response: paymentSchema }),
  getPayment: readExpandable('/payments/{paymentId}', 'paymentId', paymentSchema),
  /** Replaces the whole payment: fields that are not sent again are deleted. */
  updatePayment: put('/payments/{paymentId}', 'paymentId', {
    request: paymentRequestSchema,
    response: paymentSchema,
    failures: stateFailures,
  }),
} as const;
