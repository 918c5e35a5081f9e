import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { MAX_SEARCH_ATTRIBUTE_BYTES } from '../../src/contract/cut-attribute.js';
import {
  FAILURE_TYPES,
  attemptReference,
  cardWorkflowId,
  MEMO_KEYS,
  parkedEventWorkflowId,
  paymentActionsWorkflowId,
  PAYMENTS_TASK_QUEUE,
  paymentWorkflowId,
  QUERY_NAMES,
  referenceOfWorkflowId,
  resolveWorkflowId,
  riskWorkflowId,
  SIGNAL_NAMES,
  subscriptionWorkflowId,
  UPDATE_NAMES,
  WIRE_DETAILS,
  WORKFLOW_TYPES,
  SEARCH_ATTRIBUTES,
} from '../../src/contract/names.js';
import { REFERENCE_PATTERN } from '../../src/contract/fields.js';
import { KEYED_OPERATIONS } from '../../src/contract/idempotency.js';
import { KNOWN_BY, PAYMENT_STATUSES, TRANSACTION_STATUSES, WAITING_FOR } from '../../src/contract/statuses.js';
import { TRANSACTION_KINDS } from '../../src/contract/records.js';
import { isUndecodable, undecodable, UNDECODABLE_REASONS } from '../../src/contract/payload-marks.js';

describe('workflow ids', () => {
  test('lead from a reference to its flow and back', () => {
    fc.assert(
      fc.property(fc.stringMatching(REFERENCE_PATTERN), (reference) => {
        expect(referenceOfWorkflowId(paymentWorkflowId(reference))).toBe(reference);
      }),
    );
    expect(paymentWorkflowId('order-1001')).toBe('payment-order-1001');
  });

  test.each(['resolve-0a1b2c3d', 'Payment-order-1001', 'order-1001', '', 'paymentorder'])(
    'of other flows, such as %p, have no reference',
    (workflowId) => {
      expect(referenceOfWorkflowId(workflowId)).toBeUndefined();
    },
  );

  test('are what was released: an event or a command finds its flow by them alone', () => {
    expect(paymentActionsWorkflowId('150f1279-6d2c')).toBe('payment-actions-150f1279-6d2c');
    expect(resolveWorkflowId('150f1279-6d2c')).toBe('resolve-150f1279-6d2c');
    expect(riskWorkflowId('order-1001')).toBe('risk-order-1001');
    const customer = '150f1279-6d2c-4728-9e23-6b303f3f1f2f';
    expect(cardWorkflowId(customer, 'remove-1')).toBe(`card-${customer}-remove-1`);
    // Hyphens of its own: another customer and command would share the id.
    expect(cardWorkflowId('cus-1', 'a')).toBe('card-cus-1:a');
    expect(cardWorkflowId('cus', '1-a')).toBe('card-cus:1-a');
    // An id that only begins or ends as a UUID does is of another scheme.
    expect(cardWorkflowId(`${customer}-1`, 'a')).toBe(`card-${customer}-1:a`);
    expect(cardWorkflowId(`1-${customer}`, 'a')).toBe(`card-1-${customer}:a`);
    expect(subscriptionWorkflowId('club-7')).toBe('subscription-club-7');
    expect(attemptReference('club-7', 12, 3)).toBe('club-7.12.3');
    const hash = 'ab'.repeat(32);
    expect(parkedEventWorkflowId(hash)).toBe(`parked-event-${hash}`);
  });

  test.each([
    ['paymentWorkflowId', paymentWorkflowId],
    ['paymentActionsWorkflowId', paymentActionsWorkflowId],
    ['resolveWorkflowId', resolveWorkflowId],
    ['riskWorkflowId', riskWorkflowId],
    ['parkedEventWorkflowId', parkedEventWorkflowId],
    ['subscriptionWorkflowId', subscriptionWorkflowId],
    ['cardWorkflowId', (id: string) => cardWorkflowId('customer', id)],
    ['attemptReference', (id: string) => attemptReference(id, 1, 1)],
  ])('by %s of what is alike for 200 characters are two: no flow takes what is meant for another', (_name, idOf) => {
    const alike = 'a'.repeat(200);
    const ids = [`${alike}1`, `${alike}2`, `1${alike}`, `2${alike}`, alike];
    expect(new Set(ids.map((id) => idOf(id))).size).toBe(ids.length);
  });

  test('of two different references or kinds of flow are never the same', () => {
    const reference = fc.stringMatching(REFERENCE_PATTERN);
    fc.assert(
      fc.property(reference, reference, (a, b) => {
        expect(paymentWorkflowId(a) === paymentWorkflowId(b)).toBe(a === b);
        expect(resolveWorkflowId(a)).not.toBe(paymentWorkflowId(b));
      }),
    );
    expect(resolveWorkflowId('0a1b2c3d')).toBe('resolve-0a1b2c3d');
  });
});

describe('names that histories, dashboards and other services hold', () => {
  test('are what was released: names may be added, never changed or taken away', () => {
    expect(PAYMENTS_TASK_QUEUE).toBe('holdfast');
    expect(WORKFLOW_TYPES).toMatchObject({ charge: 'charge', resolvePending: 'resolvePending' });
    expect(UPDATE_NAMES).toMatchObject({ outcome: 'outcome', settleManually: 'settleManually', retryNow: 'retryNow' });
    expect(SIGNAL_NAMES).toMatchObject({ transactionEvent: 'transactionEvent' });
    expect(QUERY_NAMES).toMatchObject({ status: 'status', explain: 'explain' });
    expect(MEMO_KEYS).toMatchObject({ fingerprint: 'holdfastFingerprint', startedBy: 'holdfastStartedBy' });
    expect(WIRE_DETAILS).toMatchObject({ workflowId: 'holdfast_workflow_id', key: 'holdfast_key' });
    expect(KEYED_OPERATIONS).toEqual(expect.arrayContaining(['createPayment', 'createCharge']));
    expect(TRANSACTION_KINDS).toEqual(expect.arrayContaining(['charge']));
  });

  test('of failures are matched as strings, each the name it is called by', () => {
    expect(FAILURE_TYPES).toMatchObject({
      invalidInput: 'InvalidInput',
      referenceConflict: 'ReferenceConflict',
      credentialsRejected: 'CredentialsRejected',
      notFound: 'NotFound',
      stateConflict: 'StateConflict',
      providerUnavailable: 'ProviderUnavailable',
      rateLimited: 'RateLimited',
      outcomeUnknown: 'OutcomeUnknown',
      amountMismatch: 'AmountMismatch',
      unexpectedResponse: 'UnexpectedResponse',
    });
    for (const [name, type] of Object.entries(FAILURE_TYPES)) {
      expect(type).toBe(`${name.charAt(0).toUpperCase()}${name.slice(1)}`);
    }
  });
});

describe('closed lists', () => {
  test('hold the released values and no value twice', () => {
    expect(PAYMENT_STATUSES).toEqual(
      expect.arrayContaining([
        ...['started', 'pending', 'unknown', 'succeeded', 'declined', 'notExecuted', 'refused', 'cancelled'],
      ]),
    );
    expect(WAITING_FOR).toEqual(
      expect.arrayContaining(['provider', 'settlement', 'proof', 'credentials', 'operator', 'nothing']),
    );
    expect(KNOWN_BY).toEqual(['reply', 'webhook', 'poll', 'operator']);
    expect(TRANSACTION_STATUSES).toEqual(['Pending', 'Succeed', 'Failed']);
    for (const list of [PAYMENT_STATUSES, WAITING_FOR, KNOWN_BY, TRANSACTION_STATUSES, UNDECODABLE_REASONS]) {
      expect(new Set<string>(list).size).toBe(list.length);
    }
  });

  test('of search attribute values never hold "failed" for what is not known', () => {
    expect(PAYMENT_STATUSES.filter((status) => /fail/i.test(status))).toEqual([]);
  });

  test('of search attributes stay within what SQLite visibility can hold', () => {
    const types = Object.values(SEARCH_ATTRIBUTES) as string[];
    const count = (type: string): number => types.filter((each) => each === type).length;
    expect(count('KEYWORD')).toBeLessThanOrEqual(10);
    for (const type of new Set(types)) if (type !== 'KEYWORD') expect(count(type)).toBeLessThanOrEqual(3);
    expect(SEARCH_ATTRIBUTES).toMatchObject({
      PaymentStatus: 'KEYWORD',
      WaitingFor: 'KEYWORD',
      PaymentId: 'KEYWORD',
      BusinessUnit: 'KEYWORD',
      Provider: 'KEYWORD',
      SubCategory: 'KEYWORD',
      NeedsOperator: 'BOOL',
      DueAt: 'DATETIME',
      AmountMinor: 'INT',
      Currency: 'KEYWORD',
    });
    const longest = Math.max(...[...PAYMENT_STATUSES, ...WAITING_FOR].map((value) => Buffer.byteLength(value)));
    expect(longest).toBeLessThanOrEqual(MAX_SEARCH_ATTRIBUTE_BYTES);
  });
});

describe('a payload that can not be read', () => {
  test.each(UNDECODABLE_REASONS)(
    'for the reason "%s" is told from every other value, before and after JSON',
    (reason) => {
      expect(isUndecodable(undecodable(reason))).toBe(true);
      expect(isUndecodable(JSON.parse(JSON.stringify(undecodable(reason))))).toBe(true);
    },
  );

  test.each([null, undefined, 'holdfastUndecodable', {}, [], { reference: 'order-1001' }])(
    'is not mistaken for %p',
    (value) => {
      expect(isUndecodable(value)).toBe(false);
    },
  );
});
