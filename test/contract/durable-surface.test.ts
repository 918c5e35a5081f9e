import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createActivities } from '../../activities/index.js';
import { createBillingActivities } from '../../activities/billing/index.js';
import { authorizeSpec, cardFingerprint, chargeSpec, creditSpec, riskSpec } from '../../src/client/flow-spec.js';
import { storeCardSpec, subscriptionSpec } from '../../src/client/flow-spec.js';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import { fingerprint } from '../../src/contract/fingerprint.js';
import { commandSequence, idempotencyKey, KEYED_OPERATIONS } from '../../src/contract/idempotency-key.js';
import * as names from '../../src/contract/names.js';
import { SEARCH_ATTRIBUTES } from '../../src/contract/search-attributes.js';
import { KNOWN_BY, PAYMENT_STATUSES, TRANSACTION_STATUSES, WAITING_FOR } from '../../src/contract/statuses.js';
import { TRANSACTION_KINDS } from '../../src/contract/transaction.js';

const FILE = resolve(import.meta.dirname, 'durable-surface.json');
const SCHEMAS = resolve(import.meta.dirname, '../../docs/schemas');
const ID = '150F1279-6d2c-4728-9e23-6b303f3f1f2f';
const TOKEN = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';

const common = { reference: 'order-1001', amount: 1095, currency: 'USD', businessUnit: 'default' };
const paid = { ...common, paymentMethod: { type: 'tokenized', token: TOKEN } };
const subscribed = {
  ...{ ...common, customerId: 'customer-1', token: TOKEN, interval: { every: 1, unit: 'month' } },
  ...{ anchor: '2027-01-31', timeZone: 'Europe/Rome', billAt: '10:00', trialDays: 14, periods: 12, jitter: '1 hour' },
  dunning: { retryDays: [1, 3], localHour: 10, maxAttempts: 3, onGivenUp: 'pause' },
};

/** The part of a specification of a flow that the server and other flows remember. */
function remembered({
  type,
  workflowId,
  fingerprint: print,
}: {
  type: string;
  workflowId: string;
  fingerprint: string;
}) {
  return { type, workflowId, fingerprint: print };
}

function durableSurface(): object {
  const { paymentActions, resolvePending } = names.WORKFLOW_TYPES;
  const other = { reference: ID, amount: 1095, currency: 'USD', businessUnit: 'default' };
  const none = { providers: new Map(), engine: {}, now: Date.now } as never;
  return {
    taskQueues: [names.PAYMENTS_TASK_QUEUE, names.BILLING_TASK_QUEUE],
    deployment: names.DEPLOYMENT_NAME,
    workflows: names.WORKFLOW_TYPES,
    updates: names.UPDATE_NAMES,
    signals: names.SIGNAL_NAMES,
    queries: names.QUERY_NAMES,
    memo: names.MEMO_KEYS,
    wireDetails: names.WIRE_DETAILS,
    searchAttributes: SEARCH_ATTRIBUTES,
    failures: FAILURE_TYPES,
    values: { PAYMENT_STATUSES, WAITING_FOR, KNOWN_BY, TRANSACTION_STATUSES, TRANSACTION_KINDS },
    activities: Object.keys(createActivities(none)).toSorted(),
    billingActivities: Object.keys(createBillingActivities(none)).toSorted(),
    keys: KEYED_OPERATIONS.map((operation) => idempotencyKey('payment-order-1001', operation, 1)),
    commandSequence: commandSequence('command-1'),
    attemptReference: names.attemptReference('club-7', 12, 3),
    flows: [
      chargeSpec(paid as never),
      chargeSpec({ ...paid, customerId: ID } as never),
      authorizeSpec(paid as never),
      creditSpec(paid as never),
      storeCardSpec({ ...paid, customer: { customerReference: 'customer-1' } } as never),
      riskSpec(paid as never),
      subscriptionSpec(subscribed as never),
    ].map(remembered),
    otherFlows: [
      names.resolveWorkflowId(ID),
      fingerprint({ type: resolvePending, ...other }),
      names.paymentActionsWorkflowId(ID),
      fingerprint({ type: paymentActions, ...other, amount: 0 }),
      names.parkedEventWorkflowId('ab'.repeat(32)),
      names.cardWorkflowId(ID, 'remove-1'),
      names.cardWorkflowId('customer-1', 'remove-1'),
      ...(['listCards', 'removeCard'] as const).map((type) =>
        cardFingerprint(type, {
          customerId: 'customer-1',
          commandId: 'remove-1',
          businessUnit: 'default',
          token: TOKEN,
        }),
      ),
    ],
    schemas: Object.fromEntries(
      readdirSync(SCHEMAS)
        .toSorted()
        .map((file) => [
          file,
          createHash('sha256')
            .update(readFileSync(resolve(SCHEMAS, file)))
            .digest('hex'),
        ]),
    ),
  };
}

test('what histories, dashboards and other services remember is what it was: names, ids, keys, fingerprints, schemas', async () => {
  // Print `JSON.stringify(durableSurface(), null, 2)` into the file where a change is meant, and say why in the commit.
  expect(durableSurface()).toEqual(JSON.parse(readFileSync(FILE, 'utf8')));
});
