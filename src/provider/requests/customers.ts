import { z } from 'zod';
import { perVersion } from '../versions.js';
import { addressSchema, stringMapSchema, text } from './fields.js';

/** Body of Create Customer and of Update Customer, which replaces the whole customer. */
export const customerRequestSchema = perVersion((rules) =>
  z.strictObject({
    /** The merchant's own, unique. It can't be changed later: the service ignores another one in an update. */
    customerReference: text,
    firstName: text.optional(),
    lastName: text.optional(),
    /** Needed for network tokens. */
    email: text.optional(),
    /** Keys and values are sent as written. */
    additionalDetails: stringMapSchema.optional(),
    shippingAddress: addressSchema(rules).optional(),
  }),
);
export type CustomerRequest = z.input<ReturnType<typeof customerRequestSchema>>;
