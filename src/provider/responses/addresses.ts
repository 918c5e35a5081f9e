import { z } from 'zod';
import { compact, note } from './fields.js';

export interface Address {
  /** ISO 3166-1 alpha-3, at every API version. */
  country?: string;
  state?: string;
  city?: string;
  line1?: string;
  line2?: string;
  zipCode?: string;
  title?: string;
  firstName?: string;
  lastName?: string;
  phone?: string;
  email?: string;
}

export const addressSchema: z.ZodType<Address> = z
  .object({
    country: note,
    state: note,
    city: note,
    line1: note,
    line2: note,
    zip_code: note,
    title: note,
    first_name: note,
    last_name: note,
    phone: note,
    email: note,
  })
  .transform(({ zip_code: zipCode, first_name: firstName, last_name: lastName, ...same }) =>
    compact<Address>({ ...same, zipCode, firstName, lastName }),
  );
