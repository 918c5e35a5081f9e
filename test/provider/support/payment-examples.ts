import type { OperationName } from '../../../src/provider/index.js';
import { CUSTOMER_DATA, customerAnswer } from './customer-examples.js';
import { ADDRESS, CUSTOMER_ID, type Example, OPTIONS, ORDER, type Wire, wireAddress, wireOrder } from './example.js';
import { CHARGE_ID as ID, PAYMENT_ID } from './fake-service.js';
import { of, TRANSACTION_DATA, transactionAnswer } from './transaction-examples.js';

const PAYMENT = { amount: 1095, currency: 'USD', customerId: CUSTOMER_ID, order: ORDER, billingAddress: ADDRESS };
const paymentBody = (wire: Wire) => ({
  amount: wire.money(1095),
  currency: 'USD',
  customer_id: CUSTOMER_ID,
  order: wireOrder(wire),
  billing_address: wireAddress(wire),
});
const paymentAnswer = (wire: Wire) => ({
  id: PAYMENT_ID,
  amount: wire.money(1095),
  currency: 'USD',
  status: 'Initialized',
  created: '1600000000000',
  is_chargedback: false,
  customer: { href: `https://api.example/customers/${CUSTOMER_ID}` },
  order: wireOrder(wire),
  billing_address: wireAddress(wire),
  possible_next_actions: [{ action: 'Charge', href: 'https://api.example/charges' }],
  something_new: { amount: 'x' },
});
const PAYMENT_DATA = {
  id: PAYMENT_ID,
  amount: 1095,
  currency: 'USD',
  status: 'Initialized',
  created: '1600000000000',
  isChargedback: false,
  customerId: CUSTOMER_ID,
  order: ORDER,
  billingAddress: ADDRESS,
  possibleNextActions: [{ action: 'Charge', href: 'https://api.example/charges' }],
};

const REDIRECTION = {
  id: ID,
  url: 'https://bank.example/3ds',
  merchant_site_url: 'https://shop.example',
  created: '1',
};
const REDIRECTION_DATA = {
  id: ID,
  url: 'https://bank.example/3ds',
  merchantSiteUrl: 'https://shop.example',
  created: '1',
};

/** Payments, their redirections, and what can pay them. */
export const PAYMENT_EXAMPLES = {
  createPayment: {
    call: (client) => client.createPayment(PAYMENT, OPTIONS),
    path: '/payments',
    body: paymentBody,
    answer: paymentAnswer,
    data: PAYMENT_DATA,
  },
  getPayment: {
    call: (client) => client.getPayment(PAYMENT_ID, { ...OPTIONS, expand: ['captures', 'customer'] }),
    path: `/payments/${PAYMENT_ID}?expand=captures&expand=customer`,
    answer: (wire) => ({
      ...paymentAnswer(wire),
      customer: { ...customerAnswer(wire), href: 'https://api.example/customers/x' },
      related_resources: { captures: [transactionAnswer(wire)], refunds: [{ href: 'https://api.example/r' }] },
    }),
    data: {
      ...PAYMENT_DATA,
      customer: CUSTOMER_DATA,
      relatedResources: { captures: [TRANSACTION_DATA], refunds: [{ href: 'https://api.example/r' }] },
    },
  },
  updatePayment: {
    call: (client) => client.updatePayment(PAYMENT_ID, PAYMENT, OPTIONS),
    path: `/payments/${PAYMENT_ID}`,
    body: paymentBody,
    answer: paymentAnswer,
    data: PAYMENT_DATA,
  },
  getRedirection: {
    call: (client) => client.getRedirection(PAYMENT_ID, ID, OPTIONS),
    path: `${of('redirections')}/${ID}`,
    answer: () => REDIRECTION,
    data: REDIRECTION_DATA,
  },
  listRedirections: {
    call: (client) => client.listRedirections(PAYMENT_ID, OPTIONS),
    path: of('redirections'),
    answer: () => [REDIRECTION],
    data: [REDIRECTION_DATA],
  },
  listSupportedPaymentMethods: {
    call: (client) => client.listSupportedPaymentMethods(OPTIONS),
    path: '/supported-payment-methods',
    answer: (wire) => [
      {
        configuration_id: 'c',
        provider_name: 'MockProcessor',
        result: { status: 'Succeed' },
        supported_payment_methods: [
          {
            display_name: 'Oxxo',
            vendor: 'OXXO',
            source_type: 'cash',
            status: 'available',
            country: wire.country,
            logo_url: 'https://api.example/oxxo.png',
            bank_code: 'b',
            amounts: [{ min: wire.money(100), max: wire.money(100_050), currency: 'USD' }],
          },
        ],
      },
    ],
    data: [
      {
        configurationId: 'c',
        providerName: 'MockProcessor',
        status: 'Succeed',
        paymentMethods: [
          {
            displayName: 'Oxxo',
            vendor: 'OXXO',
            sourceType: 'cash',
            status: 'available',
            country: 'USA',
            logoUrl: 'https://api.example/oxxo.png',
            bankCode: 'b',
            amounts: [{ min: 100, max: 100_050, currency: 'USD' }],
          },
        ],
      },
    ],
  },
} satisfies Partial<Record<OperationName, Example>>;
