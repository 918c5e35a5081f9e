import { authorizeInputSchema } from '../../src/contract/authorize.js';
import { chargeInputSchema } from '../../src/contract/charge.js';
import { creditInputSchema } from '../../src/contract/credit.js';
import { paymentActionsInputSchema } from '../../src/contract/payment-actions.js';
import { resolvePendingInputSchema } from '../../src/contract/resolve-pending.js';
import { analyseRiskInputSchema } from '../../src/contract/risk.js';
import type { Published } from './published.js';
import { TOKEN, PAYMENT_METHOD, CUSTOMER_ID, PAYMENT_ID, TRANSACTION_ID } from './published.js';

/** Inputs of the flows of a payment. */
export const FLOW_INPUTS = {
  'charge-input': {
    schema: chargeInputSchema.zod,
    description: 'Input of workflow "charge". Its workflow id must be "payment-<reference>".',
    examples: [
      {
        reference: 'order-1001',
        amount: 1095,
        currency: 'USD',
        paymentMethod: PAYMENT_METHOD,
      },
      {
        reference: 'order-1002',
        amount: 1095,
        currency: 'JPY',
        paymentMethod: { type: 'tokenized', token: TOKEN, encryptedCvv: 'dGhpcyBpcyBhbiBlbmNyeXB0ZWQgQ1ZW' },
        businessUnit: 'default',
        statementSoftDescriptor: 'SHOP',
        customerId: CUSTOMER_ID,
        order: { id: '1002', lineItems: [{ id: '1', name: 'Tea', quantity: 1, unitPrice: 1095 }] },
        clientIpAddress: '203.0.113.7',
        cardOnFile: { entryMode: 'consent_transaction' },
      },
    ],
  },
  'authorize-and-capture-input': {
    schema: authorizeInputSchema.zod,
    description: 'Input of workflow "authorizeAndCapture". Its workflow id must be "payment-<reference>".',
    examples: [
      { reference: 'order-1003', amount: 20_000, currency: 'USD', paymentMethod: PAYMENT_METHOD },
      {
        reference: 'order-1004',
        amount: 20_000,
        currency: 'USD',
        paymentMethod: PAYMENT_METHOD,
        captureMode: 'manual',
        captureDeadline: '5 days',
        onDeadline: 'void',
        deadlineWarning: '12 hours',
        order: { id: '1004', lineItems: [{ id: '1', name: 'Lamp', quantity: 1, unitPrice: 20_000 }] },
        risk: { when: 'after', onReviewTimeout: 'escalate', reviewTimeLimit: '2 days' },
        threeDSecureAttributes: { external: { threeDSecureVersion: '2.2.0', eciFlag: '05', cavv: 'AAABBEg0VhI0VniQ' } },
      },
      {
        reference: 'order-1007',
        amount: 20_000,
        currency: 'USD',
        customerId: CUSTOMER_ID,
        paymentMethod: PAYMENT_METHOD,
        cardOnFile: { entryMode: 'cof_cardholder_initiated_transaction', consentTransactionId: '483297487231504' },
        onDeadline: 'reauthorize',
        reauthorization: { times: 3, entryMode: 'cof_merchant_initiated_transaction' },
      },
    ],
  },
  'credit-input': {
    schema: creditInputSchema.zod,
    description:
      'Input of workflow "credit": money to a card, without relation to an earlier payment. Its workflow id must be ' +
      '"payment-<reference>".',
    examples: [{ reference: 'payout-17', amount: 6000, currency: 'USD', paymentMethod: PAYMENT_METHOD }],
  },
  'analyse-risk-input': {
    schema: analyseRiskInputSchema.zod,
    description: 'Input of workflow "analyseRisk": a score and a decision. Its workflow id must be "risk-<reference>".',
    examples: [
      { reference: 'order-1005', amount: 6000, currency: 'USD' },
      {
        reference: 'order-1006',
        amount: 6000,
        currency: 'USD',
        paymentMethod: PAYMENT_METHOD,
        billingAddress: { country: 'USA', email: 'ada@shop.example' },
        clientIpAddress: '203.0.113.7',
        risk: {
          sessionId: 'session-1',
          providerSpecificData: { payu_risk: { additionalDetails: { productDescExtra1: 'Tea' } } },
        },
        waitForReview: true,
        reviewTimeLimit: '24 hours',
      },
    ],
  },
  'payment-actions-input': {
    schema: paymentActionsInputSchema.zod,
    description:
      'Input of workflow "paymentActions": what is done to a payment after the flow that made it has ended. Its ' +
      'workflow id must be "payment-actions-<paymentId>", its id reuse policy "allow duplicate" and its conflict ' +
      'policy "use existing".',
    examples: [
      { paymentId: PAYMENT_ID, currency: 'USD', paymentReference: 'order-1001' },
      { paymentId: PAYMENT_ID, currency: 'USD', businessUnit: 'default' },
    ],
  },
  'resolve-pending-input': {
    schema: resolvePendingInputSchema.zod,
    description: 'Input of workflow "resolvePending". Its workflow id must be "resolve-<transactionId>".',
    examples: [{ paymentId: PAYMENT_ID, transactionId: TRANSACTION_ID, kind: 'charge', amount: 1095, currency: 'USD' }],
  },
} satisfies Record<string, Published>;
