import type { PaymentActivities } from '../../src/contract/activities.js';
import type { OperationName } from '../../src/provider/index.js';
import { CHARGE_ID, PAYMENT_ID, TOKEN } from '../provider/support/fake-service.js';
import { keyed } from './support.js';

/** Operations of the client that are no activity, each with the reason. */
export const NO_ACTIVITY = {
  createToken: 'its input holds a card number, which would stay in the history; it is a call of the client only',
  updatePayment: 'no workflow calls it',
  getRedirection: 'no workflow calls it',
  listRedirections: 'no workflow calls it',
  listSupportedPaymentMethods: 'no workflow calls it',
  updateCustomer: 'no workflow calls it',
  deleteCustomer: 'no workflow calls it',
} as const;
export type ActivityOperation = Exclude<OperationName, keyof typeof NO_ACTIVITY>;

/** What the calls are about. */
export interface Ids {
  paymentId: string;
  transactionId: string;
  customerId: string;
  customerReference: string;
  token: string;
}

/** Ids of nothing, for calls whose answer is planted. */
export const NOTHING: Ids = {
  paymentId: PAYMENT_ID,
  transactionId: CHARGE_ID,
  customerId: CHARGE_ID,
  customerReference: 'ann-1',
  token: TOKEN,
};

/** 3 decimals, and an amount with which the mock provider lets everything succeed. */
export const MONEY = { amount: 109_505, currency: 'KWD' } as const;
export const CAPTURED = 60_001;
export const REFUNDED = 50_007;
export const ORDER = { lineItems: [{ name: 'Tea', quantity: 1, unitPrice: 9505 }] };
const KEY = 'payment-order-1001:createCharge:1';
const ADDRESS = { country: 'USA', city: 'Miami', firstName: 'Anastasia' };

type Call<Name extends ActivityOperation> = Parameters<PaymentActivities[Name]>[0];

/** One call of each activity; a further operation of the client does not compile before it is here. */
export function callsFor(ids: Ids, key = KEY): { [Name in ActivityOperation]: Call<Name> } {
  const details = { additionalDetails: { holdfast_key: key } };
  const unit = { businessUnit: 'default' };
  const payment = { ...unit, paymentId: ids.paymentId, currency: MONEY.currency };
  const one = { ...payment, transactionId: ids.transactionId };
  const post = { ...payment, ...keyed(key), ...details };
  const reference = { reconciliationId: 'order-1001' };
  const paymentMethod = { type: 'tokenized' as const, token: ids.token };
  const card = { paymentMethod, cardOnFile: { entryMode: 'consent_transaction' as const } };
  const buyer = { clientIpAddress: '203.0.113.7' };
  const customer = {
    customerReference: ids.customerReference,
    firstName: 'Anastasia',
    email: 'anastasia@shop.example',
    shippingAddress: ADDRESS,
  };
  const byId = { ...unit, customerId: ids.customerId };
  const method = { ...byId, token: ids.token };
  return {
    createPayment: { ...keyed(key), payment: { ...MONEY, order: ORDER }, ...details },
    getPayment: payment,
    createAuthorization: {
      ...post,
      ...reference,
      authorization: { ...card, ...buyer, authorizationType: 'pre_authorization' },
    },
    getAuthorization: one,
    listAuthorizations: payment,
    createCharge: { ...post, ...reference, charge: { ...card, ...buyer } },
    getCharge: one,
    listCharges: payment,
    createCapture: { ...post, ...reference, capture: { amount: CAPTURED }, knownTransactionIds: [] },
    getCapture: one,
    listCaptures: payment,
    createVoid: post,
    getVoid: one,
    listVoids: payment,
    createRefund: { ...post, ...reference, refund: { amount: REFUNDED, reason: 'returned' }, knownTransactionIds: [] },
    getRefund: one,
    listRefunds: payment,
    createCredit: { ...post, ...reference, credit: card },
    getCredit: one,
    listCredits: payment,
    createRiskAnalysis: { ...post, riskAnalysis: { transactionType: 'charge', paymentMethod, ...buyer } },
    getRiskAnalysis: one,
    listRiskAnalyses: payment,
    createCustomer: { ...keyed(key), customer },
    getCustomer: byId,
    findCustomer: { ...unit, customerReference: ids.customerReference },
    storePaymentMethod: { ...keyed(key), ...method },
    getPaymentMethod: method,
    listPaymentMethods: byId,
    deletePaymentMethod: method,
    getToken: { ...unit, token: ids.token },
  };
}
