import { z } from 'zod';
import { addressSchema } from './addresses.js';
import type { Address } from './addresses.js';
import { compact, id, note, noteOf, stringMap, time } from './fields.js';
import { storedPaymentMethodListSchema } from './payment-methods.js';
import type { StoredPaymentMethod } from './payment-methods.js';

export interface Customer {
  id: string;
  /** The merchant's own. */
  customerReference: string;
  firstName?: string;
  lastName?: string;
  email?: string;
  additionalDetails?: Record<string, string>;
  shippingAddress?: Address;
  /** Empty where the service lists none. */
  paymentMethods: StoredPaymentMethod[];
  /** Epoch ms as text. */
  created?: string;
  /** Epoch ms as text. */
  modified?: string;
}

export const customerSchema: z.ZodType<Customer> = z
  .object({
    id,
    customer_reference: z.string().min(1),
    first_name: note,
    last_name: note,
    email: note,
    additional_details: stringMap,
    shipping_address: noteOf(addressSchema),
    payment_methods: storedPaymentMethodListSchema.nullish(),
    created: time,
    modified: time,
  })
  .transform((wire) =>
    compact<Customer>({
      id: wire.id,
      customerReference: wire.customer_reference,
      firstName: wire.first_name,
      lastName: wire.last_name,
      email: wire.email,
      additionalDetails: wire.additional_details,
      shippingAddress: wire.shipping_address,
      paymentMethods: wire.payment_methods ?? [],
      created: wire.created,
      modified: wire.modified,
    }),
  );

/** A reference belongs to one customer, and the list is empty once that one is deleted. */
export const customerFoundSchema: z.ZodType<Customer | undefined> = z
  .array(customerSchema)
  .max(1, { error: 'holds more than one customer' })
  .transform(([customer]) => customer);
