import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createActivities } from '../../activities/index.js';
import { createBulkActivities } from '../../activities/bulk.js';
import { createBillingActivities } from '../../activities/billing.js';
import { createNotificationActivities } from '../../activities/notifications.js';
import { NOTIFICATION_TYPES, NOTIFICATIONS_FLOW } from '../../src/contract/notifications.js';
import { createReconcileActivities } from '../../activities/reconcile.js';
import * as names from '../../src/contract/names.js';
import * as brakes from '../../src/contract/brakes.js';
import * as bulk from '../../src/contract/bulk.js';
import * as reconcile from '../../src/contract/reconcile.js';
import { FLOWS } from '../../src/contract/flows.js';
import { commandSequence, idempotencyKey, KEYED_OPERATIONS } from '../../src/contract/idempotency.js';
import { KNOWN_BY, PAYMENT_STATUSES, TRANSACTION_STATUSES, WAITING_FOR } from '../../src/contract/statuses.js';
import { NOT_CARRIED } from '../../workflows/flow/continue.js';
import { newState } from '../../workflows/flow/new-state.js';
import { TRANSACTION_KINDS } from '../../src/contract/records.js';

const FILE = resolve(import.meta.dirname, 'durable-surface.json');
const SCHEMAS = resolve(import.meta.dirname, '../../docs/schemas');
const WORKFLOWS = resolve(import.meta.dirname, '../../workflows');
const ID = '150F1279-6d2c-4728-9e23-6b303f3f1f2f';
const TOKEN = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';

const common = { reference: 'order-1001', amount: 1095, currency: 'USD', businessUnit: 'default' };
const paid = { ...common, paymentMethod: { type: 'tokenized', token: TOKEN } };
const subscribed = {
  ...{ ...common, customerId: 'customer-1', token: TOKEN, interval: { every: 1, unit: 'month' } },
  ...{ anchor: '2027-01-31', timeZone: 'Europe/Rome', billAt: '10:00', trialDays: 14, periods: 12, jitter: '1 hour' },
  dunning: { retryDays: [1, 3], localHour: 10, maxAttempts: 3, onGivenUp: 'pause' },
};

/** What the server and other flows remember of a flow with this input. */
function remembered(type: Exclude<names.WorkflowType, 'parkedEvent'>, input: object) {
  const flow = FLOWS[type];
  return {
    type: flow.type,
    workflowId: flow.workflowId(input as never),
    fingerprint: flow.fingerprint(input as never),
  };
}

function durableSurface(): object {
  const adopted = { ...common, paymentId: ID, transactionId: ID };
  const resolving = remembered('resolvePending', adopted);
  const acting = remembered('paymentActions', adopted);
  const ofCard = { customerId: 'customer-1', commandId: 'remove-1', businessUnit: 'default', token: TOKEN };
  const none = { providers: new Map(), engine: {}, now: Date.now } as never;
  return {
    taskQueues: [
      names.PAYMENTS_TASK_QUEUE,
      names.BILLING_TASK_QUEUE,
      names.NOTIFICATIONS_TASK_QUEUE,
      names.DELIVERIES_TASK_QUEUE,
    ],
    deployment: names.DEPLOYMENT_NAME,
    workflows: {
      ...names.WORKFLOW_TYPES,
      notifications: names.NOTIFICATIONS_WORKFLOW,
      outgoing: names.OUTGOING_WORKFLOW,
    },
    outgoing: names.outgoingWorkflowId('default', '2027-01-31'),
    updates: names.UPDATE_NAMES,
    signals: names.SIGNAL_NAMES,
    queries: names.QUERY_NAMES,
    memo: names.MEMO_KEYS,
    environmentMark: names.ENVIRONMENT_MARK,
    wireDetails: names.WIRE_DETAILS,
    searchAttributes: names.SEARCH_ATTRIBUTES,
    failures: names.FAILURE_TYPES,
    values: { PAYMENT_STATUSES, WAITING_FOR, KNOWN_BY, TRANSACTION_STATUSES, TRANSACTION_KINDS },
    activities: Object.keys(createActivities(none)).toSorted(),
    ownActivities: [names.ASK_FLOW_ACTIVITY],
    billingActivities: Object.keys(createBillingActivities(none)).toSorted(),
    notificationActivities: Object.keys(
      createNotificationActivities({
        ...(none as object),
        notifications: { toPrivate: true, units: new Map() },
      } as never),
    ).toSorted(),
    notificationTypes: NOTIFICATION_TYPES,
    brakes: {
      workflow: brakes.BRAKES_WORKFLOW,
      updates: [brakes.BRAKE_UPDATE, brakes.RELEASE_UPDATE],
      memo: brakes.BRAKES_MEMO,
    },
    bulk: {
      workflow: bulk.BULK_WORKFLOW,
      workflowId: bulk.bulkWorkflowId({ name: 'strike' }),
      memos: [bulk.BULK_MEMO, bulk.BULK_ID_MEMO],
      activities: Object.keys(createBulkActivities(none)),
    },
    reconciliation: {
      workflows: reconcile.RECONCILIATION_TYPES,
      schedule: reconcile.RECONCILE_SCHEDULE,
      prefixes: [reconcile.RECONCILE_PREFIX, reconcile.FINDING_PREFIX],
      update: reconcile.ACKNOWLEDGE_UPDATE,
      memo: reconcile.FINDING_MEMO,
      kinds: reconcile.FINDING_KINDS,
      findings: reconcile.FINDING_KINDS.map((kind) => reconcile.findingWorkflowId({ kind, subject: ID })),
      otherSum: reconcile.findingWorkflowId({ kind: 'otherAmount', subject: ID, amount: 1_095, currency: 'USD' }),
      activities: Object.keys(createReconcileActivities(none)).toSorted(),
    },
    keys: KEYED_OPERATIONS.map((operation) => idempotencyKey('payment-order-1001', operation, 1)),
    commandSequence: commandSequence('command-1'),
    attemptReference: names.attemptReference('club-7', 12, 3),
    flows: [
      remembered('charge', paid),
      remembered('charge', { ...paid, customerId: ID }),
      remembered('authorizeAndCapture', paid),
      remembered('credit', paid),
      remembered('storeCard', { ...paid, customer: { customerReference: 'customer-1' } }),
      remembered('analyseRisk', paid),
      remembered('subscription', subscribed),
    ],
    otherFlows: [
      resolving.workflowId,
      resolving.fingerprint,
      acting.workflowId,
      acting.fingerprint,
      NOTIFICATIONS_FLOW.workflowId({ workflowId: 'payment-order-1001' }),
      FLOWS.parkedEvent.workflowId({ event: { hash: 'ab'.repeat(32) } } as never),
      remembered('removeCard', { ...ofCard, customerId: ID }).workflowId,
      remembered('removeCard', ofCard).workflowId,
      remembered('listCards', ofCard).fingerprint,
      remembered('removeCard', ofCard).fingerprint,
    ],
    // What a run hands to the next one: a renamed field or frame would not be found there.
    carried: Object.keys(newState({} as never))
      .filter((field) => !NOT_CARRIED.some((name) => name === field))
      .toSorted(),
    frames: framesOfWorkflows(),
    schemas: Object.fromEntries(
      readdirSync(SCHEMAS)
        .toSorted()
        .map((file) => [
          file,
          createHash('sha256')
            .update(JSON.stringify(withoutTexts(JSON.parse(readFileSync(resolve(SCHEMAS, file), 'utf8')))))
            .digest('hex'),
        ]),
    ),
  };
}

/** A schema's descriptions and examples are for people: what it accepts does not change with them. */
function withoutTexts(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutTexts);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !(key === 'description' && typeof value === 'string') && key !== 'examples')
      .map(([key, value]) => [key, withoutTexts(value)]),
  );
}

/** Names of the calls that a run can continue in the middle of. */
function framesOfWorkflows(): string[] {
  const sources = readdirSync(WORKFLOWS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const names = sources.flatMap((name) =>
    [...readFileSync(resolve(WORKFLOWS, name), 'utf8').matchAll(/\bresumable\(\s*flow,\s*'(\w+)'/g)].map(
      ([, frame = '']) => frame,
    ),
  );
  return [...new Set(names)].toSorted();
}

test('what histories, dashboards and other services remember is what it was: names, ids, keys, fingerprints, schemas', async () => {
  // Print `JSON.stringify(durableSurface(), null, 2)` into the file where a change is meant, and say why in the commit.
  expect(durableSurface()).toEqual(JSON.parse(readFileSync(FILE, 'utf8')));
});
