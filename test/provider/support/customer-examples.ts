import type { OperationName } from '../../../src/provider/index.js';
import {
  ADDRESS,
  CARD_DATA,
  cardAnswer,
  CUSTOMER_ID,
  type Example,
  OPTIONS,
  type Wire,
  wireAddress,
} from './example.js';
import { CHARGE_ID as ID, TOKEN } from './fake-service.js';

const CUSTOMER = { customerReference: 'ann-1', firstName: 'Ann', email: 'ann@shop.example', shippingAddress: ADDRESS };
const customerBody = (wire: Wire) => ({
  customer_reference: 'ann-1',
  first_name: 'Ann',
  email: 'ann@shop.example',
  shipping_address: wireAddress(wire),
});
const storedAnswer = (wire: Wire) => ({
  ...cardAnswer(wire),
  state: 'assigned',
  fingerprint: ID,
  customer: `https://api.example/customers/${CUSTOMER_ID}`,
  href: `https://api.example/customers/${CUSTOMER_ID}/payment-methods/${TOKEN}`,
});
const STORED_DATA = { ...CARD_DATA, state: 'assigned', fingerprint: ID, customerId: CUSTOMER_ID };
export const customerAnswer = (wire: Wire) => ({
  ...customerBody(wire),
  id: CUSTOMER_ID,
  created: '1',
  modified: '2',
  payment_methods: [storedAnswer(wire)],
});
export const CUSTOMER_DATA = {
  ...CUSTOMER,
  id: CUSTOMER_ID,
  created: '1',
  modified: '2',
  paymentMethods: [STORED_DATA],
};
const METHODS = `/customers/${CUSTOMER_ID}/payment-methods`;
const customer = (path: string, call: Example['call'], body?: (wire: Wire) => unknown): Example => ({
  call,
  path,
  ...(body && { body }),
  answer: customerAnswer,
  data: CUSTOMER_DATA,
});
const stored = (call: Example['call']): Example => ({
  call,
  path: `${METHODS}/${TOKEN}`,
  answer: storedAnswer,
  data: STORED_DATA,
});

/** Customers, their cards, and tokens. */
export const CUSTOMER_EXAMPLES = {
  createCustomer: customer('/customers', (client) => client.createCustomer(CUSTOMER, OPTIONS), customerBody),
  getCustomer: customer(`/customers/${CUSTOMER_ID}`, (client) => client.getCustomer(CUSTOMER_ID, OPTIONS)),
  findCustomer: {
    ...customer('/customers?customer_reference=ann-1', (client) => client.findCustomer('ann-1', OPTIONS)),
    answer: (wire) => [customerAnswer(wire)],
  },
  updateCustomer: customer(
    `/customers/${CUSTOMER_ID}`,
    (client) => client.updateCustomer(CUSTOMER_ID, CUSTOMER, OPTIONS),
    customerBody,
  ),
  deleteCustomer: {
    call: (client) => client.deleteCustomer(CUSTOMER_ID, OPTIONS),
    path: `/customers/${CUSTOMER_ID}`,
    data: undefined,
  },
  storePaymentMethod: stored((client) => client.storePaymentMethod(CUSTOMER_ID, TOKEN, OPTIONS)),
  getPaymentMethod: stored((client) => client.getPaymentMethod(CUSTOMER_ID, TOKEN, OPTIONS)),
  listPaymentMethods: {
    call: (client) => client.listPaymentMethods(CUSTOMER_ID, OPTIONS),
    path: METHODS,
    answer: (wire) => [storedAnswer(wire)],
    data: [STORED_DATA],
  },
  deletePaymentMethod: {
    call: (client) => client.deletePaymentMethod(CUSTOMER_ID, TOKEN, OPTIONS),
    path: `${METHODS}/${TOKEN}`,
    data: undefined,
  },
  createToken: {
    call: (client) =>
      client.createToken(
        {
          tokenType: 'credit_card',
          holderName: 'Ann Smith',
          cardNumber: '4111111111111111',
          expirationDate: '10/2030',
          creditCardCvv: '123',
          identityDocument: { type: 'CPF', number: '12345678909' },
          billingAddress: ADDRESS,
        },
        OPTIONS,
      ),
    path: '/tokens',
    body: (wire) => ({
      [wire.version === '1.0.0' ? 'type' : 'token_type']: 'credit_card',
      holder_name: 'Ann Smith',
      card_number: '4111111111111111',
      expiration_date: '10/2030',
      credit_card_cvv: '123',
      identity_document: { type: 'CPF', number: '12345678909' },
      billing_address: wireAddress(wire),
    }),
    answer: (wire) => ({ ...cardAnswer(wire), state: 'created', encrypted_cvv: 'AbCd1234==' }),
    data: { ...CARD_DATA, state: 'created', encryptedCvv: 'AbCd1234==' },
  },
  getToken: {
    call: (client) => client.getToken(TOKEN, OPTIONS),
    path: `/tokens/${TOKEN}`,
    answer: (wire) => ({ ...cardAnswer(wire), state: 'used' }),
    data: { ...CARD_DATA, state: 'used' },
  },
} satisfies Partial<Record<OperationName, Example>>;
