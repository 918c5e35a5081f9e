import { FLOWS } from '../../src/contract/flows.js';
import { CUSTOMER_ID, PAYMENT_ID, PAYMENT_METHOD, type Published, TOKEN, TRANSACTION_ID } from './published.js';

/** Excludes `parkedEvent`, which only the webhook handler starts. */
type PublishedFlow = Exclude<keyof typeof FLOWS, 'parkedEvent'>;

const TEXTS: Readonly<Record<PublishedFlow, Omit<Published, 'schema'>>> = {
  charge: {
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
  authorizeAndCapture: {
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
  credit: {
    description:
      'Input of workflow "credit": money to a card, without relation to an earlier payment. Its workflow id must be ' +
      '"payment-<reference>".',
    examples: [{ reference: 'payout-17', amount: 6000, currency: 'USD', paymentMethod: PAYMENT_METHOD }],
  },
  analyseRisk: {
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
  paymentActions: {
    description:
      'Input of workflow "paymentActions": what is done to a payment after the flow that made it has ended. Its ' +
      'workflow id must be "payment-actions-<paymentId>", its id reuse policy "allow duplicate" and its conflict ' +
      'policy "use existing".',
    examples: [
      { paymentId: PAYMENT_ID, currency: 'USD', paymentReference: 'order-1001' },
      { paymentId: PAYMENT_ID, currency: 'USD', businessUnit: 'default' },
    ],
  },
  resolvePending: {
    description: 'Input of workflow "resolvePending". Its workflow id must be "resolve-<transactionId>".',
    examples: [{ paymentId: PAYMENT_ID, transactionId: TRANSACTION_ID, kind: 'charge', amount: 1095, currency: 'USD' }],
  },
  storeCard: {
    description:
      'Input of workflow "storeCard": customer, consent, and the card on file. Its workflow id must be ' +
      '"payment-<reference>".',
    examples: [
      {
        reference: 'card-77',
        amount: 100,
        currency: 'USD',
        paymentMethod: PAYMENT_METHOD,
        customer: { customerReference: 'customer-77' },
      },
      {
        reference: 'card-78',
        amount: 999,
        currency: 'EUR',
        paymentMethod: PAYMENT_METHOD,
        customer: { customerReference: 'customer-78', firstName: 'Ada', lastName: 'Byron', email: 'ada@shop.example' },
        consent: { for: 'cardOnFile', by: 'charge' },
        networkTokens: true,
        onNotStored: 'keep',
      },
    ],
  },
  listCards: {
    description: 'Input of workflow "listCards". Its workflow id must be "card-<customerId>-<commandId>".',
    examples: [{ customerId: CUSTOMER_ID, commandId: 'list-1' }],
  },
  removeCard: {
    description: 'Input of workflow "removeCard". Its workflow id must be "card-<customerId>-<commandId>".',
    examples: [{ customerId: CUSTOMER_ID, commandId: 'remove-1', token: TOKEN, businessUnit: 'default' }],
  },
  subscription: {
    description:
      'Input of workflow "subscription", on task queue "holdfast-billing". Its workflow id must be ' +
      '"subscription-<reference>". An anchor in the past needs missedPeriods.',
    examples: [
      {
        reference: 'club-7',
        customerId: CUSTOMER_ID,
        token: TOKEN,
        amount: 999,
        currency: 'EUR',
        interval: { every: 1, unit: 'month' },
        anchor: '2027-01-31',
        timeZone: 'Europe/Rome',
      },
      {
        reference: 'club-8',
        customerId: CUSTOMER_ID,
        token: TOKEN,
        consentTransactionId: '483297487231504',
        entryMode: 'cof_merchant_initiated_transaction',
        amount: 2_500,
        currency: 'USD',
        interval: { every: 4, unit: 'week' },
        anchor: '2027-03-01',
        timeZone: 'America/New_York',
        billAt: '06:30',
        trialDays: 14,
        endsOn: '2029-03-01',
        missedPeriods: 'billAll',
        dunning: { retryDays: [2, 5, 9], localHour: 9, maxAttempts: 4, onGivenUp: 'pause' },
        jitter: '1 hour',
        notify: { url: 'https://shop.example/holdfast' },
        businessUnit: 'default',
        statementSoftDescriptor: 'CLUB',
      },
    ],
  },
};

/** Inputs of the flows, by file name, for example `authorize-and-capture-input` for `authorizeAndCapture`. */
export const FLOW_INPUTS: Readonly<Record<string, Published>> = Object.fromEntries(
  Object.entries(TEXTS).map(([type, texts]) => [
    `${type.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}-input`,
    { ...texts, schema: FLOWS[type as PublishedFlow].schema.zod },
  ]),
);
