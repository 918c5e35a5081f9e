import { FLOWS } from '../../src/contract/flows.js';
import { PAYMENTS_TASK_QUEUE } from '../../src/contract/names.js';
import { CUSTOMER_ID, PAYMENT_ID, PAYMENT_METHOD, type Published, TOKEN, TRANSACTION_ID } from './published.js';

/** Excludes `parkedEvent`, which only the webhook handler starts. */
type PublishedFlow = Exclude<keyof typeof FLOWS, 'parkedEvent'>;

interface Texts extends Pick<Published, 'examples'> {
  /** What it does, where its name does not say it. */
  what?: string;
  /** Follows the workflow id. */
  more?: string;
}

const OF_A_CARD = ', with "-" instead of ":" if the customer id is a UUID';

const TEXTS: Readonly<Record<PublishedFlow, Texts>> = {
  charge: {
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
    what: 'money to a card, without relation to an earlier payment',
    examples: [{ reference: 'payout-17', amount: 6000, currency: 'USD', paymentMethod: PAYMENT_METHOD }],
  },
  analyseRisk: {
    what: 'a score and a decision',
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
    what: 'what is done to a payment after the flow that made it has ended',
    more: ', its id reuse policy "allow duplicate" and its conflict policy "use existing"',
    examples: [
      { paymentId: PAYMENT_ID, currency: 'USD', paymentReference: 'order-1001' },
      { paymentId: PAYMENT_ID, currency: 'USD', businessUnit: 'default' },
    ],
  },
  resolvePending: {
    examples: [{ paymentId: PAYMENT_ID, transactionId: TRANSACTION_ID, kind: 'charge', amount: 1095, currency: 'USD' }],
  },
  storeCard: {
    what: 'customer, consent, and the card on file',
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
    more: OF_A_CARD,
    examples: [{ customerId: CUSTOMER_ID, commandId: 'list-1' }],
  },
  removeCard: {
    more: OF_A_CARD,
    examples: [{ customerId: CUSTOMER_ID, commandId: 'remove-1', token: TOKEN, businessUnit: 'default' }],
  },
  subscription: {
    more:
      '. It needs amount, unless metered is true. An anchor in the past needs billedThrough, the last period that was ' +
      'billed before, or missedPeriods',
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
        billedThrough: 1,
        endsOn: '2029-03-01',
        missedPeriods: 'billAll',
        dunning: { retryDays: [2, 5, 9], localHour: 9, maxAttempts: 4, onGivenUp: 'pause' },
        jitter: '1 hour',
        notify: { url: 'https://shop.example/holdfast' },
        businessUnit: 'default',
        statementSoftDescriptor: 'CLUB',
        amounts: [{ fromPeriod: 4, amount: 3_000 }],
        notices: { beforeRenewal: 7, beforeTrialEnds: 3 },
        metadata: { tier: 'gold' },
      },
      {
        reference: 'power-9',
        customerId: CUSTOMER_ID,
        token: TOKEN,
        metered: true,
        currency: 'EUR',
        interval: { every: 1, unit: 'month' },
        anchor: '2027-02-01',
        timeZone: 'Europe/Rome',
      },
    ],
  },
};

/** Stands for the fields of which workflow ids are made. */
const PLACEHOLDERS = Object.fromEntries(
  ['reference', 'paymentId', 'transactionId', 'customerId', 'commandId'].map((field) => [field, `<${field}>`]),
);

function describe(flow: PublishedFlow, { what, more = '' }: Texts): string {
  const { type, taskQueue, workflowId } = FLOWS[flow];
  const queue = taskQueue === PAYMENTS_TASK_QUEUE ? '' : `, on task queue "${taskQueue}"`;
  const purpose = what === undefined ? '' : `: ${what}`;
  const id = workflowId(PLACEHOLDERS as never);
  return `Input of workflow "${type}"${queue}${purpose}. Its workflow id must be "${id}"${more}.`;
}

/** Inputs of the flows, by file name, for example `authorize-and-capture-input` for `authorizeAndCapture`. */
export const FLOW_INPUTS: Readonly<Record<string, Published>> = Object.fromEntries(
  (Object.keys(TEXTS) as PublishedFlow[]).map((flow) => [
    `${flow.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}-input`,
    { description: describe(flow, TEXTS[flow]), examples: TEXTS[flow].examples, schema: FLOWS[flow].schema.zod },
  ]),
);
