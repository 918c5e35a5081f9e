import type { OperationName } from '../../../src/provider/index.js';
import { CARD_DATA, cardAnswer, CUSTOMER_ID, type Example, OPTIONS, type Wire } from './example.js';
import { CHARGE_ID as ID, PAYMENT_ID, TOKEN } from './fake-service.js';

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
export const transactionAnswer = (wire: Wire) => ({
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
export const TRANSACTION_DATA = {
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

export const of = (collection: string): string => `/payments/${PAYMENT_ID}/${collection}`;
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

/** Transactions of a payment, and risk analyses. */
export const TRANSACTION_EXAMPLES = {
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
          merchant: { mcc: '5411', merchantCountryCode: 'USA' },
          providerSpecificData: {
            payu_risk: { additionalDetails: { productDescExtra1: 'tea', payerBirthday: '1990/02/28' } },
          },
        },
        OPTIONS,
      ),
    path: of('risk-analyses'),
    body: ({ country }) => ({
      transaction_type: 'charge',
      payment_method: { type: 'untokenized', source_type: 'credit_card', bin_number: '411111', last_4_digits: '1111' },
      session_id: 's',
      merchant: { mcc: '5411', merchant_country_code: country },
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
} satisfies Partial<Record<OperationName, Example>>;
