import { referenceFailures } from '../failures.js';
import { customerRequestSchema } from '../requests/customers.js';
import type { CustomerRequest } from '../requests/customers.js';
import { tokenRequestSchema } from '../requests/tokens.js';
import type { TokenRequest } from '../requests/tokens.js';
import { customerFoundSchema, customerSchema } from '../responses/customers.js';
import type { Customer } from '../responses/customers.js';
import { storedPaymentMethodListSchema, storedPaymentMethodSchema, tokenSchema } from '../responses/payment-methods.js';
import type { StoredPaymentMethod, Token } from '../responses/payment-methods.js';
import { list, operation, read, remove } from './operation.js';

const STORED_METHOD = '/customers/{customerId}/payment-methods/{token}';
/** Saving cards came with this version. */
const STORAGE_SINCE = { since: '1.2.0' } as const;
const BY_TOKEN = { field: 'token', parameter: 'token' } as const;

export const CUSTOMER_OPERATIONS = {
  createCustomer: operation<'/customers', CustomerRequest, Customer>({
    method: 'POST',
    path: '/customers',
    request: customerRequestSchema,
    response: customerSchema,
    failures: referenceFailures,
  }),
  getCustomer: read('/customers/{customerId}', 'customerId', customerSchema),
  findCustomer: read('/customers?customer_reference={customerReference}', 'customerReference', customerFoundSchema, {
    field: 'customerReference',
  }),
  updateCustomer: operation<'/customers/{customerId}', CustomerRequest, Customer>({
    method: 'PUT',
    path: '/customers/{customerId}',
    request: customerRequestSchema,
    response: customerSchema,
    answersAbout: { field: 'id', parameter: 'customerId' },
    failures: referenceFailures,
  }),
  deleteCustomer: remove('/customers/{customerId}'),

  storePaymentMethod: operation<typeof STORED_METHOD, never, StoredPaymentMethod>({
    method: 'POST',
    path: STORED_METHOD,
    ...STORAGE_SINCE,
    // The token is the key: stored again, it is the same payment method.
    idempotent: true,
    response: storedPaymentMethodSchema,
    answersAbout: BY_TOKEN,
  }),
  getPaymentMethod: read(STORED_METHOD, 'token', storedPaymentMethodSchema, { ...STORAGE_SINCE, field: 'token' }),
  listPaymentMethods: list('/customers/{customerId}/payment-methods', storedPaymentMethodListSchema, STORAGE_SINCE),
  deletePaymentMethod: remove(STORED_METHOD, STORAGE_SINCE),

  createToken: operation<'/tokens', TokenRequest, Token>({
    method: 'POST',
    path: '/tokens',
    credentials: 'public',
    request: tokenRequestSchema,
    response: tokenSchema,
  }),
  getToken: read('/tokens/{token}', 'token', tokenSchema, { field: 'token' }),
} as const;
