import type { ApiVersion, OperationName, ProviderAnswer, ProviderClient } from '../../../src/provider/index.js';
import { CHARGE_ID as ID, PAYMENT_ID, TOKEN } from './fake-service.js';

export const CUSTOMER_ID = '11d2c3b4-a5f6-4e7d-8c9b-0a1b2c3d4e5f';

/** What the wire of a version writes where the newest one writes something else. */
export interface Wire {
  version: ApiVersion;
  /** Of USD. */
  money(minorUnits: number): number;
  country: string;
  tokenType: Record<string, string>;
}

export function wireOf(version: ApiVersion): Wire {
  const oldest = version === '1.0.0';
  return {
    version,
    money: (minorUnits) => (oldest ? minorUnits / 100 : minorUnits),
    country: oldest ? 'US' : 'USA',
    tokenType: oldest ? { type: 'credit_card' } : { type: 'tokenized', token_type: 'credit_card' },
  };
}

/** Every option; which of them a call takes is for the table of operations to say. */
export const OPTIONS = { idempotencyKey: 'key-1', clientIpAddress: '203.0.113.7', currency: 'USD' };

export interface Example {
  call(client: ProviderClient): Promise<ProviderAnswer<unknown>>;
  path: string;
  /** Undefined where nothing is sent. */
  body?(wire: Wire): unknown;
  /** Undefined where the service answers 204. */
  answer?(wire: Wire): unknown;
  data: unknown;
}

const ADDRESS = { country: 'USA', city: 'Miami', zipCode: '33101', line1: '1 Main St', firstName: 'Ann' };
const wireAddress = (wire: Wire) => ({
  country: wire.country,
  city: 'Miami',
  zip_code: '33101',
  line1: '1 Main St',
  first_name: 'Ann',
});

const ORDER = { id: 'o-1', taxAmount: 95, lineItems: [{ id: '1', name: 'Tea', quantity: 2, unitPrice: 500 }] };
const wireOrder = (wire: Wire) => ({
  id: 'o-1',
  tax_amount: wire.money(95),
  line_items: [{ id: '1', name: 'Tea', quantity: 2, unit_price: wire.money(500) }],
});

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

const cardAnswer = (wire: Wire) => ({
  ...wire.tokenType,
  token: TOKEN,
  holder_name: 'Ann Smith',
  expiration_date: '10/2030',
  last_4_digits: '1111',
  bin_number: '411111',
  pass_luhn_validation: true,
  vendor: 'VISA',
  card_type: 'CREDIT',
  issuer: '',
  country_code: wire.country,
  created: '1600000000000',
});
const CARD_DATA = {
  type: 'tokenized',
  tokenType: 'credit_card',
  token: TOKEN,
  holderName: 'Ann Smith',
  expirationDate: '10/2030',
  last4Digits: '1111',
  binNumber: '411111',
  passLuhnValidation: true,
  vendor: 'VISA',
  cardType: 'CREDIT',
  countryCode: 'USA',
  created: '1600000000000',
};

/** Authorizations, charges and credits. */
const METHOD_REQUEST = {
  paymentMethod: { type: 'tokenized', token: TOKEN, creditCardCvv: '123' },
  reconciliationId: 'order-1',
  cofTransactionIndicators: { cardEntryMode: 'consent_transaction' },
  installments: { numberOfInstallments: 2, firstPaymentAmount: 600 },
} as const;
const methodBody = (wire: Wire) => ({
  ...(wire.version === '1.0.0'
    ? { payment_method_token: TOKEN, credit_card_cvv: '123' }
    : { payment_method: { type: 'tokenized', token: TOKEN, credit_card_cvv: '123' } }),
  reconciliation_id: 'order-1',
  cof_transaction_indicators: { card_entry_mode: 'consent_transaction' },
  installments: { number_of_installments: 2, first_payment_amount: wire.money(600) },
});
const transactionAnswer = (wire: Wire) => ({
  id: ID,
  created: '1600000000000',
  reconciliation_id: 'order-1',
  amount: wire.money(1095),
  result: { status: 'Failed', category: 'payment_method_declined', sub_category: 'insufficient_funds' },
  payment_method: { ...cardAnswer(wire), fingerprint: CUSTOMER_ID },
  provider_data: { provider_name: 'MockProcessor', response_code: '102', transaction_id: 't-1', raw_response: '{}' },
  originating_purchase_country: wire.country,
  something_new: 1,
});
const TRANSACTION_DATA = {
  id: ID,
  status: 'Failed',
  category: 'payment_method_declined',
  subCategory: 'insufficient_funds',
  amount: 1095,
  reconciliationId: 'order-1',
  created: '1600000000000',
  paymentMethod: { ...CARD_DATA, fingerprint: CUSTOMER_ID },
  providerName: 'MockProcessor',
  responseCode: '102',
  providerTransactionId: 't-1',
  originatingPurchaseCountry: 'USA',
};

const of = (collection: string): string => `/payments/${PAYMENT_ID}/${collection}`;
const created = (collection: string, call: Example['call'], body: (wire: Wire) => unknown): Example => ({
  call,
  path: of(collection),
  body,
  answer: transactionAnswer,
  data: TRANSACTION_DATA,
});
const read = (collection: string, call: Example['call']): Example => ({
  call,
  path: `${of(collection)}/${ID}`,
  answer: transactionAnswer,
  data: TRANSACTION_DATA,
});
const listed = (collection: string, call: Example['call']): Example => ({
  call,
  path: of(collection),
  answer: (wire) => [transactionAnswer(wire)],
  data: [TRANSACTION_DATA],
});

const riskAnswer = (wire: Wire) => ({
  ...transactionAnswer(wire),
  result: { status: 'Pending' },
  transaction_type: 'charge',
  provider_data: { provider_name: 'PayU-Risk', risk_analyses_result: { score: 340, decision: 'review' } },
});
const RISK_DATA = {
  id: ID,
  status: 'Pending',
  decision: 'review',
  score: 340,
  transactionType: 'charge',
  amount: 1095,
  reconciliationId: 'order-1',
  created: '1600000000000',
  paymentMethod: TRANSACTION_DATA.paymentMethod,
  providerName: 'PayU-Risk',
  originatingPurchaseCountry: 'USA',
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
const customerAnswer = (wire: Wire) => ({
  ...customerBody(wire),
  id: CUSTOMER_ID,
  created: '1',
  modified: '2',
  payment_methods: [storedAnswer(wire)],
});
const CUSTOMER_DATA = { ...CUSTOMER, id: CUSTOMER_ID, created: '1', modified: '2', paymentMethods: [STORED_DATA] };
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

/** One call of each operation, with what it must be on the wire and what must come back from there. */
export const EXAMPLES: Record<OperationName, Example> = {
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

  createAuthorization: created(
    'authorizations',
    (client) =>
      client.createAuthorization(PAYMENT_ID, { ...METHOD_REQUEST, authorizationType: 'pre_authorization' }, OPTIONS),
    (wire) => ({ ...methodBody(wire), authorization_type: 'pre_authorization' }),
  ),
  getAuthorization: read('authorizations', (client) => client.getAuthorization(PAYMENT_ID, ID, OPTIONS)),
  listAuthorizations: listed('authorizations', (client) => client.listAuthorizations(PAYMENT_ID, OPTIONS)),
  createCharge: created('charges', (client) => client.createCharge(PAYMENT_ID, METHOD_REQUEST, OPTIONS), methodBody),
  getCharge: read('charges', (client) => client.getCharge(PAYMENT_ID, ID, OPTIONS)),
  listCharges: listed('charges', (client) => client.listCharges(PAYMENT_ID, OPTIONS)),
  createCredit: created('credits', (client) => client.createCredit(PAYMENT_ID, METHOD_REQUEST, OPTIONS), methodBody),
  getCredit: read('credits', (client) => client.getCredit(PAYMENT_ID, ID, OPTIONS)),
  listCredits: listed('credits', (client) => client.listCredits(PAYMENT_ID, OPTIONS)),
  createCapture: created(
    'captures',
    (client) =>
      client.createCapture(
        PAYMENT_ID,
        {
          amount: 1000,
          reconciliationId: 'order-1',
          level23: { taxMode: 'net', dutyAmount: 5, lineItems: [{ id: '1', unitPrice: 500, discountAmount: 1 }] },
          additionalDetails: { someKey: 'v' },
        },
        OPTIONS,
      ),
    (wire) => ({
      amount: wire.money(1000),
      reconciliation_id: 'order-1',
      level_2_3: {
        tax_mode: 'net',
        duty_amount: wire.money(5),
        line_items: [{ id: '1', unit_price: wire.money(500), discount_amount: wire.money(1) }],
      },
      additional_details: { someKey: 'v' },
    }),
  ),
  getCapture: read('captures', (client) => client.getCapture(PAYMENT_ID, ID, OPTIONS)),
  listCaptures: listed('captures', (client) => client.listCaptures(PAYMENT_ID, OPTIONS)),
  createRefund: {
    ...created(
      'refunds',
      (client) => client.createRefund(PAYMENT_ID, { amount: 7, captureId: ID, reason: 'returned' }, OPTIONS),
      (wire) => ({ amount: wire.money(7), capture_id: ID, reason: 'returned' }),
    ),
    answer: (wire) => ({ ...transactionAnswer(wire), capture_id: ID, reason: 'returned' }),
    data: { ...TRANSACTION_DATA, captureId: ID, reason: 'returned' },
  },
  getRefund: read('refunds', (client) => client.getRefund(PAYMENT_ID, ID, OPTIONS)),
  listRefunds: listed('refunds', (client) => client.listRefunds(PAYMENT_ID, OPTIONS)),
  createVoid: created(
    'voids',
    (client) => client.createVoid(PAYMENT_ID, undefined, OPTIONS),
    () => ({}),
  ),
  getVoid: read('voids', (client) => client.getVoid(PAYMENT_ID, ID, OPTIONS)),
  listVoids: listed('voids', (client) => client.listVoids(PAYMENT_ID, OPTIONS)),

  createRiskAnalysis: {
    call: (client) =>
      client.createRiskAnalysis(
        PAYMENT_ID,
        {
          transactionType: 'charge',
          paymentMethod: { type: 'untokenized', sourceType: 'credit_card', binNumber: '411111', last4Digits: '1111' },
          sessionId: 's',
          merchant: { mcc: '5411', merchantCountryCode: 'BRA' },
          providerSpecificData: {
            payu_risk: { additionalDetails: { productDescExtra1: 'tea', payerBirthday: '1990/02/28' } },
          },
        },
        OPTIONS,
      ),
    path: of('risk-analyses'),
    body: () => ({
      transaction_type: 'charge',
      payment_method: { type: 'untokenized', source_type: 'credit_card', bin_number: '411111', last_4_digits: '1111' },
      session_id: 's',
      merchant: { mcc: '5411', merchant_country_code: 'BRA' },
      provider_specific_data: {
        payu_risk: { additional_details: { product_desc_extra1: 'tea', payer_birthday: '1990/02/28' } },
      },
    }),
    answer: riskAnswer,
    data: RISK_DATA,
  },
  getRiskAnalysis: {
    call: (client) => client.getRiskAnalysis(PAYMENT_ID, ID, OPTIONS),
    path: `${of('risk-analyses')}/${ID}`,
    answer: riskAnswer,
    data: RISK_DATA,
  },
  listRiskAnalyses: {
    call: (client) => client.listRiskAnalyses(PAYMENT_ID, OPTIONS),
    path: of('risk-analyses'),
    answer: (wire) => [riskAnswer(wire)],
    data: [RISK_DATA],
  },

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
};
