import {
  approvalSchema,
  captureCommandSchema,
  decideReviewSchema,
  reauthorizeCommandSchema,
  refundCommandSchema,
  voidCommandSchema,
  outcomeRequestSchema,
  retryNowSchema,
  settleManuallySchema,
  transactionEventSchema,
} from '../../src/contract/messages.js';
import {
  billNowSchema,
  cancelSubscriptionSchema,
  changeCardSchema,
  changePlanSchema,
  changeTermsSchema,
  pauseSchema,
  refundPeriodSchema,
  resumeSchema,
  setAmountSchema,
  skipPeriodSchema,
} from '../../src/contract/subscription-commands.js';
import { PAYMENT_ID, type Published, SHA_256, TRANSACTION_ID, TOKEN } from './published.js';

/** Arguments of the messages to a payment's flows. */
export const MESSAGES = {
  'capture-command': {
    schema: captureCommandSchema.zod,
    description: 'Argument of update "capture": takes what is held, or the part that it names.',
    examples: [{}, { commandId: 'ship-1004-1', amount: 15_000, reference: 'order-1004-1', who: 'ada', why: 'shipped' }],
  },
  'void-command': {
    schema: voidCommandSchema.zod,
    description: 'Argument of update "void": releases what is held.',
    examples: [{}, { commandId: 'cancel-1004', who: 'ada', why: 'out of stock' }],
  },
  'reauthorize-command': {
    schema: reauthorizeCommandSchema.zod,
    description:
      'Argument of update "reauthorize": voids the authorization, and once that is proven makes a new one with the stored card.',
    examples: [
      {},
      { commandId: 'longer-1', entryMode: 'cof_merchant_initiated_transaction', who: 'ada', why: 'on back order' },
    ],
  },
  'refund-command': {
    schema: refundCommandSchema.zod,
    description: 'Argument of update "refund": refunds what was captured, or the part that it names.',
    examples: [
      {},
      { amount: 500, reference: 'return-1' },
      { commandId: 'return-2', amount: 500, captureId: TRANSACTION_ID, reason: 'returned', who: 'ada', why: 'case 17' },
    ],
  },
  'approve-command': {
    schema: approvalSchema.zod,
    description:
      'Argument of updates "approve" and "reject": decides on a credit or refund above a limit of its business unit.',
    examples: [{ commandId: 'return-2', who: 'grace', why: 'case 17' }],
  },
  'decide-review-command': {
    schema: decideReviewSchema.zod,
    description: 'Argument of update "decideReview": ends a risk review, and says who decided and why.',
    examples: [
      { decision: 'approve', who: 'ada', why: 'known customer' },
      { commandId: 'case-18', decision: 'decline', who: 'ada', why: 'case 18' },
    ],
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
} satisfies Record<string, Published>;

/** Arguments of the commands to a subscription. */
export const SUBSCRIPTION_COMMANDS = {
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
    description:
      'Argument of update "changePlan": amounts, interval or time of day from the next period on, or amounts from a later one.',
    examples: [
      { amount: 1_299 },
      { amount: 1_499, fromPeriod: 13, who: 'ada', why: 'announced in May' },
      { commandId: 'yearly', interval: { every: 1, unit: 'year' }, billAt: '12:00' },
    ],
  },
  'change-terms-command': {
    schema: changeTermsSchema.zod,
    description: 'Argument of update "changeTerms": what is neither card nor plan, from now on.',
    examples: [
      { dunning: { retryDays: [2, 5], onGivenUp: 'pause' } },
      { commandId: 'moved', notify: { url: 'https://shop.example/hooks' }, who: 'ada', why: 'new shop' },
    ],
  },
  'skip-period-command': {
    schema: skipPeriodSchema.zod,
    description: 'Argument of update "skipPeriod": bills nothing for a period that is not due yet, or takes that back.',
    examples: [{ period: 4 }, { commandId: 'skip-4-not', period: 4, undo: true, who: 'ada', why: 'case 21' }],
  },
  'set-amount-command': {
    schema: setAmountSchema.zod,
    description: 'Argument of update "setAmount" of a metered subscription: what a period costs.',
    examples: [
      { period: 3, amount: 4_210 },
      { commandId: 'usage-4', period: 4, amount: 0, who: 'ada' },
    ],
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
    description: 'Argument of update "refundPeriod": refunds a billed period, or a part of it.',
    examples: [{}, { commandId: 'back-3', period: 3, amount: 500, who: 'ada', why: 'case 20' }],
  },
} satisfies Record<string, Published>;
