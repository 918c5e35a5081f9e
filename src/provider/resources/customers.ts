import { z } from 'zod';
import {
  addressRequest,
  addressSchema,
  answerObject,
  type FieldsOf,
  idOfLink,
  lenient,
  lenientStringMap,
  lenientText,
  lenientTime,
  strictId,
  stringMap,
  text,
} from '../fields.js';
import { referenceFailures } from '../http/errors.js';
import { list, post, put, read, remove } from '../http/operation.js';
import { perVersion } from '../versions.js';
import { paymentMethodFields, paymentMethodOf } from './tokens.js';

/** Body of Create Customer and of Update Customer, which replaces the whole customer. */
const customerRequestSchema = perVersion((rules) =>
  z.strictObject({
    /** The merchant's own unique reference. It can't be changed: the service ignores another one in an update. */
    customerReference: text,
    firstName: text.optional(),
    lastName: text.optional(),
    /** Required for network tokens. */
    email: text.optional(),
    /** Keys and values are sent unchanged. */
    additionalDetails: stringMap.optional(),
    shippingAddress: addressRequest(rules).optional(),
  }),
);
export type CustomerRequest = z.input<ReturnType<typeof customerRequestSchema>>;

const storedPaymentMethodFields = {
  ...paymentMethodFields,
  token: strictId,
  /** Taken from the link in the answer. */
  customerId: lenientText.transform(idOfLink),
};
/** A card on file of a customer. */
export interface StoredPaymentMethod extends FieldsOf<typeof storedPaymentMethodFields> {}
export const storedPaymentMethodSchema: z.ZodType<StoredPaymentMethod> = paymentMethodOf(storedPaymentMethodFields, {
  customerId: 'customer',
});

const customerFields = {
  id: strictId,
  /** The merchant's own reference. */
  customerReference: z.string().min(1),
  firstName: lenientText,
  lastName: lenientText,
  email: lenientText,
  additionalDetails: lenientStringMap,
  shippingAddress: lenient(addressSchema),
  /** Empty if the service lists none. Strict: a silently dropped entry would look like a card that was never stored. */
  paymentMethods: z
    .array(storedPaymentMethodSchema)
    .nullish()
    .transform((methods) => methods ?? []),
  /** Epoch ms as text. */
  created: lenientTime,
  /** Epoch ms as text. */
  modified: lenientTime,
};
export interface Customer extends FieldsOf<typeof customerFields> {}
export const customerSchema: z.ZodType<Customer> = answerObject(customerFields);

/** A reference belongs to one customer; the list is empty if that customer was deleted. */
const customerFoundSchema = z
  .array(customerSchema)
  .max(1, { error: 'holds more than one customer' })
  .transform(([customer]) => customer);

const STORED_METHOD = '/customers/{customerId}/payment-methods/{token}';
/** The API version that introduced stored cards. */
const STORAGE_SINCE = { since: '1.2.0' } as const;

export const CUSTOMERS = {
  createCustomer: post('/customers', {
    request: customerRequestSchema,
    response: customerSchema,
    failures: referenceFailures,
  }),
  getCustomer: read('/customers/{customerId}', 'customerId', customerSchema),
  /** undefined for the reference of a deleted customer. A reference that was never used is a 404 error. */
  findCustomer: read('/customers?customer_reference={customerReference}', 'customerReference', customerFoundSchema, {
    field: 'customerReference',
  }),
  /** Replaces the whole customer except its reference. */
  updateCustomer: put('/customers/{customerId}', 'customerId', {
    request: customerRequestSchema,
    response: customerSchema,
    failures: referenceFailures,
  }),
  deleteCustomer: remove('/customers/{customerId}'),

  /** Stores a token with a customer for later use. A repeat has no further effect. Since API version 1.2.0. */
  storePaymentMethod: post(STORED_METHOD, {
    ...STORAGE_SINCE,
    // Idempotent by the token: storing it again gives the same payment method.
    idempotent: true,
    response: storedPaymentMethodSchema,
    answersAbout: { field: 'token', parameter: 'token' },
  }),
  getPaymentMethod: read(STORED_METHOD, 'token', storedPaymentMethodSchema, { ...STORAGE_SINCE, field: 'token' }),
  listPaymentMethods: list('/customers/{customerId}/payment-methods', storedPaymentMethodSchema, STORAGE_SINCE),
  deletePaymentMethod: remove(STORED_METHOD, STORAGE_SINCE),
} as const;
