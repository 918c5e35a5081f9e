import { listCardsInputSchema, removeCardInputSchema, storeCardInputSchema } from '../../src/contract/cards.js';
import {
  billNowSchema,
  cancelSubscriptionSchema,
  changeCardSchema,
  changePlanSchema,
  pauseSchema,
  refundPeriodSchema,
  resumeSchema,
} from '../../src/contract/subscription-commands.js';
import { subscriptionInputSchema } from '../../src/contract/subscription.js';
import type { Published } from './published.js';
import { TOKEN, PAYMENT_METHOD, CUSTOMER_ID } from './published.js';

/** Inputs of the flows of cards on file, subscriptions and their commands. */
export const CARDS_AND_SUBSCRIPTIONS = {
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
} satisfies Record<string, Published>;
