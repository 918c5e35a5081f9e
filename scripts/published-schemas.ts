import type { z } from 'zod';
import { authorizeInputSchema } from '../src/contract/authorize.js';
import { listCardsInputSchema, removeCardInputSchema, storeCardInputSchema } from '../src/contract/cards.js';
import { chargeInputSchema } from '../src/contract/charge.js';
import {
  captureCommandSchema,
  decideReviewSchema,
  reauthorizeCommandSchema,
  refundCommandSchema,
  voidCommandSchema,
} from '../src/contract/commands.js';
import { creditInputSchema } from '../src/contract/credit.js';
import {
  outcomeRequestSchema,
  retryNowSchema,
  settleManuallySchema,
  transactionEventSchema,
} from '../src/contract/messages.js';
import { paymentActionsInputSchema } from '../src/contract/payment-actions.js';
import { resolvePendingInputSchema } from '../src/contract/resolve-pending.js';
import { analyseRiskInputSchema } from '../src/contract/risk.js';
import { subscriptionInputSchema } from '../src/contract/subscription.js';
import {
  billNowSchema,
  cancelSubscriptionSchema,
  changeCardSchema,
  changePlanSchema,
  pauseSchema,
  refundPeriodSchema,
  resumeSchema,
} from '../src/contract/subscription-commands.js';

/** One schema as it is published. */
export interface Published {
  schema: z.ZodType;
  description: string;
  /** Kept valid by a test. */
  examples: readonly unknown[];
}

const TOKEN = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';
const PAYMENT_METHOD = { type: 'tokenized', token: TOKEN };
const CUSTOMER_ID = '7d9a1f60-2c4b-4e8d-9a3f-6b5c4d3e2f10';
const PAYMENT_ID = '6f3d2c1a-0b9e-4a77-8c55-1d2e3f405162';
const TRANSACTION_ID = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
const SHA_256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

/** What callers in other languages send, by file name: workflow inputs and the arguments of messages. */
export const PUBLISHED_SCHEMAS: Readonly<Record<string, Published>> = {
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
  'store-card-input': {
    schema: storeCardInputSchema.zod,
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
  'list-cards-input': {
    schema: listCardsInputSchema.zod,
    description: 'Input of workflow "listCards". Its workflow id must be "card-<customerId>-<commandId>".',
    examples: [{ customerId: CUSTOMER_ID, commandId: 'list-1' }],
  },
  'remove-card-input': {
    schema: removeCardInputSchema.zod,
    description: 'Input of workflow "removeCard". Its workflow id must be "card-<customerId>-<commandId>".',
    examples: [{ customerId: CUSTOMER_ID, commandId: 'remove-1', token: TOKEN, businessUnit: 'default' }],
  },
  'subscription-input': {
    schema: subscriptionInputSchema.zod,
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
  'pause-command': {
    schema: pauseSchema.zod,
    description: 'Argument of update "pause" of a subscription: no bill leaves until it is resumed.',
    examples: [{}, { commandId: 'pause-1', openPeriod: 'drop', who: 'ada', why: 'asked by the customer' }],
  },
  'resume-command': {
    schema: resumeSchema.zod,
    description: 'Argument of update "resume": goes on after a pause, and says what becomes of the periods since then.',
    examples: [{}, { commandId: 'resume-1', missedPeriods: 'billLatest', who: 'ada' }],
  },
  'change-card-command': {
    schema: changeCardSchema.zod,
    description: 'Argument of update "changeCard": another stored card of the same customer, from the next attempt on.',
    examples: [{ token: TOKEN }, { commandId: 'card-2', token: TOKEN, consentTransactionId: '483297487231504' }],
  },
  'change-plan-command': {
    schema: changePlanSchema.zod,
    description: 'Argument of update "changePlan": amount, interval or time of day from the next period on.',
    examples: [{ amount: 1_299 }, { commandId: 'yearly', interval: { every: 1, unit: 'year' }, billAt: '12:00' }],
  },
  'cancel-command': {
    schema: cancelSubscriptionSchema.zod,
    description: 'Argument of update "cancel": ends a subscription now, or with the present period.',
    examples: [{ when: 'periodEnd' }, { commandId: 'cancel-1', when: 'now', who: 'ada', why: 'case 19' }],
  },
  'bill-now-command': {
    schema: billNowSchema.zod,
    description: 'Argument of update "billNow": bills the period that it names, once.',
    examples: [{ period: 3 }, { commandId: 'early-4', period: 4, who: 'ada' }],
  },
  'refund-period-command': {
    schema: refundPeriodSchema.zod,
    description: 'Argument of update "refundPeriod": gives back a billed period, or a part of it.',
    examples: [{}, { commandId: 'back-3', period: 3, amount: 500, who: 'ada', why: 'case 20' }],
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
  'capture-command': {
    schema: captureCommandSchema.zod,
    description: 'Argument of update "capture": takes what is held, or the part that it names.',
    examples: [{}, { commandId: 'ship-1004-1', amount: 15_000, reference: 'order-1004-1', who: 'ada', why: 'shipped' }],
  },
  'void-command': {
    schema: voidCommandSchema.zod,
    description: 'Argument of update "void": lets go of what is held.',
    examples: [{}, { commandId: 'cancel-1004', who: 'ada', why: 'out of stock' }],
  },
  'reauthorize-command': {
    schema: reauthorizeCommandSchema.zod,
    description:
      'Argument of update "reauthorize": lets the hold go, and once that is proven makes a new one with the stored card.',
    examples: [
      {},
      { commandId: 'longer-1', entryMode: 'cof_merchant_initiated_transaction', who: 'ada', why: 'on back order' },
    ],
  },
  'refund-command': {
    schema: refundCommandSchema.zod,
    description: 'Argument of update "refund": gives back what was taken, or the part that it names.',
    examples: [
      {},
      { amount: 500, reference: 'return-1' },
      { commandId: 'return-2', amount: 500, captureId: TRANSACTION_ID, reason: 'returned', who: 'ada', why: 'case 17' },
    ],
  },
  'decide-review-command': {
    schema: decideReviewSchema.zod,
    description: 'Argument of update "decideReview": ends a risk review, and says who decided and why.',
    examples: [
      { decision: 'approve', who: 'ada', why: 'known customer' },
      { commandId: 'case-18', decision: 'decline', who: 'ada', why: 'case 18' },
    ],
  },
  'resolve-pending-input': {
    schema: resolvePendingInputSchema.zod,
    description: 'Input of workflow "resolvePending". Its workflow id must be "resolve-<transactionId>".',
    examples: [{ paymentId: PAYMENT_ID, transactionId: TRANSACTION_ID, kind: 'charge', amount: 1095, currency: 'USD' }],
  },
  'outcome-request': {
    schema: outcomeRequestSchema.zod,
    description:
      'Argument of update "outcome". The fingerprint is the lower-case hex SHA-256 of the UTF-8 text of the compact ' +
      'JSON array [type, reference, amount, currency, businessUnit, token, customerId], where token and customerId ' +
      'are in lower case, or null when absent; for "storeCard" customerId is the customerReference.',
    examples: [{ type: 'charge', fingerprint: SHA_256, waitFor: '8 seconds' }],
  },
  'settle-manually': {
    schema: settleManuallySchema.zod,
    description: 'Argument of update "settleManually": what an operator found out elsewhere, who says so and why.',
    examples: [
      { status: 'succeeded', transactionId: TRANSACTION_ID, who: 'ada', why: 'seen in the portal of the provider' },
      { commandId: 'case-17', status: 'declined', category: 'payment_method_declined', who: 'ada', why: 'case 17' },
    ],
  },
  'retry-now': {
    schema: retryNowSchema.zod,
    description: 'Argument of update "retryNow": looks at once instead of at the next poll or back-off.',
    examples: [{}, { who: 'ada', why: 'the service is back' }],
  },
  'transaction-event': {
    schema: transactionEventSchema.zod,
    description: 'Argument of signal "transactionEvent": the signed fields of a verified webhook and nothing else.',
    examples: [
      {
        hash: SHA_256,
        eventType: 'payment.charge.update',
        created: '2027-01-31T10:00:00.000Z',
        businessUnit: 'default',
        paymentId: PAYMENT_ID,
        transactionId: TRANSACTION_ID,
        status: 'Succeed',
        reconciliationId: 'order-1001',
        amount: 1095,
        currency: 'USD',
        trusted: true,
      },
    ],
  },
};
