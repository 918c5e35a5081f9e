import { describe, expect, test } from 'vitest';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { FlowFacts } from '../../src/contract/reconcile.js';
import { TRANSACTION_KINDS } from '../../src/contract/records.js';
import type { Row } from '../../src/domain/reconcile/match.js';
import { reconcileStatement } from '../../src/domain/reconcile/reconcile.js';
import { action, DAY, flow, NOW, portOf, row, THEN } from './in-memory-port.js';
import { actions, auth, capture, found, hold, type More, open, refund } from './found.js';

const DECLINED = { ...action('capture', 'cap-1', 500), outcome: { status: 'declined', transactionId: 'cap-1' } };
const TOLD = { event: { transactionId: 'cap-1', status: 'Succeed', trusted: true } };

const adopted = (transactionId: string): FlowFacts => ({
  ...flow({ type: WORKFLOW_TYPES.resolvePending, paymentId: `pay-${transactionId.slice(3)}` }, { transactionId }),
  workflowId: `resolve-${transactionId}`,
});

describe('every difference is found, by its kind', () => {
  test.each<[string, string[], Row[], FlowFacts[], More?]>([
    ['money of no flow', ['moneyWithoutFlow tx-1'], [row()], []],
    ['money with no reference at all', ['moneyWithoutFlow tx-1'], [row({ reconciliationId: undefined })], []],
    ['a hold of no flow', ['moneyWithoutFlow auth-1'], [auth()], []],
    ['money of a flow that was stopped', ['moneyWithoutFlow tx-1'], [row()], [flow({ state: 'stopped' })]],
    [
      'money of a flow that was declined',
      ['moneyWithoutFlow tx-1'],
      [row()],
      [flow({ status: 'declined' }, { status: 'declined' })],
    ],
    [
      'money of a flow that says nothing was executed',
      ['moneyWithoutFlow tx-1'],
      [row()],
      [flow({}, { status: 'notExecuted', transactionId: undefined })],
    ],
    [
      'money of a flow that has failed',
      ['moneyWithoutFlow tx-1'],
      [row()],
      [{ ...flow({ status: 'refused' }), result: undefined }],
    ],
    ['a refund by hand', ['moneyWithoutFlow ref-9'], [row(), refund('ref-9', 500)], [flow()]],
    [
      'money that an event has told the later commands of, whose own flow says that it was declined',
      ['moneyTwice cap-1'],
      [auth(), capture('cap-1', 500), capture('cap-2', 500)],
      [
        hold({ status: 'captured', transactionId: 'cap-2', capturedAmount: 500, actions: [DECLINED] }),
        actions([], { result: { status: 'idle', paymentId: 'pay-1', actions: [], toldOfCreator: [TOLD] } }),
      ],
    ],
    [
      'a refund by hand beside open commands',
      ['moneyWithoutFlow ref-9'],
      [row(), refund('ref-9', 500)],
      [flow(), actions([], { state: 'open', openResult: { actions: [] } })],
    ],
    [
      'a capture by hand of an open hold',
      ['moneyWithoutFlow cap-9'],
      [auth(), capture('cap-9', 10)],
      [open({ type: WORKFLOW_TYPES.authorizeAndCapture, status: 'authorized' })],
      { known: { 'payment-order-1': ['auth-1'] } },
    ],
    [
      'a second charge',
      ['moneyTwice tx-2'],
      [row(), row({ transactionId: 'tx-2', paymentId: 'pay-2', created: THEN + 1 })],
      [flow()],
    ],
    [
      'a second charge that somebody has adopted, also where it was made before the one of the flow',
      ['moneyTwice tx-2'],
      [row(), row({ transactionId: 'tx-2', paymentId: 'pay-2', created: THEN - 1 })],
      [flow(), adopted('tx-2')],
    ],
    [
      'two charges of one reference that were both adopted, once',
      ['moneyTwice tx-3'],
      [2, 3].map((at) => row({ transactionId: `tx-${at}`, paymentId: `pay-${at}`, created: THEN + at })),
      [adopted('tx-2'), adopted('tx-3')],
    ],
    [
      'a second charge that was adopted, beside one that an open flow knows of, once',
      ['moneyTwice tx-2'],
      [row(), row({ transactionId: 'tx-2', paymentId: 'pay-2', created: THEN + 1 })],
      [open({ status: 'unknown' }), adopted('tx-2')],
      { known: { 'payment-order-1': ['tx-1'] } },
    ],
    [
      'a second charge of another sum',
      ['moneyTwice tx-2'],
      [row(), row({ transactionId: 'tx-2', amount: 5, created: THEN + 1 })],
      [flow()],
    ],
    [
      'a second charge beside open commands',
      ['moneyTwice tx-2'],
      [row(), row({ transactionId: 'tx-2', created: NOW })],
      [flow(), actions([], { state: 'open' })],
      { known: { 'payment-actions-pay-1': ['tx-2'] } },
    ],
    [
      'a refund twice',
      ['moneyTwice ref-2'],
      [row(), refund('ref-1', 500), refund('ref-2', 500, { created: THEN + 1 })],
      [flow(), actions([action('refund', 'ref-1', 500)])],
    ],
    [
      'a line without ids twice',
      ['moneyTwice order-1-charge-1095-USD-2027-01-27T12:00:00.000Z'],
      [row({ transactionId: undefined }), row({ transactionId: undefined })],
      [flow()],
    ],
    ['another sum', ['otherAmount tx-1'], [row({ amount: 1096 })], [flow()]],
    ['another currency', ['otherAmount tx-1'], [row({ currency: 'EUR' })], [flow()]],
    ['another sum of an open flow', ['otherAmount tx-1'], [row({ amount: 1096, created: NOW })], [open()]],
    [
      'another sum of a line without ids',
      ['otherAmount tx-1'],
      [row({ transactionId: undefined, amount: 1096 })],
      [flow()].map((one) => one),
    ],
    [
      'a capture of another sum',
      ['otherAmount cap-1'],
      [auth(), capture('cap-1', 1095)],
      [hold({ status: 'captured', transactionId: 'cap-1', capturedAmount: 500 })],
    ],
    [
      'a refund of another sum',
      ['otherAmount ref-1'],
      [row(), refund('ref-1', 1095)],
      [flow(), actions([], { state: 'open', openResult: { actions: [action('refund', 'ref-1', 500)] } })],
    ],
    ['a flow without money', ['flowWithoutMoney tx-1'], [], [flow()]],
    ['a flow whose money has failed', ['flowWithoutMoney tx-1'], [row({ status: 'Failed' })], [flow()]],
    [
      'a flow of commands without money',
      ['flowWithoutMoney ref-1'],
      [row()],
      [flow(), actions([action('refund', 'ref-1', 500)])],
    ],
    [
      'a flow whose operator says so, and nobody knows an id',
      ['flowWithoutMoney payment-order-1-charge'],
      [],
      [flow({}, { transactionId: undefined })],
    ],
    ['money that was booked late', ['late tx-1'], [row({ settled: THEN + 2 * DAY })], [flow()]],
    ['money that its open flow should long know', ['late tx-1'], [row()], [open()]],
    [
      'another sum that its open flow knows of, and does not take',
      ['otherAmount tx-1'],
      [row({ amount: 1096 })],
      [open({ status: 'unknown' })],
      { known: { 'payment-order-1': ['tx-1'] } },
    ],
    [
      'money that its open flow waits for by its id, long after it was booked',
      ['late tx-1'],
      [row({ settled: NOW - 2 * DAY })],
      [open()],
      { known: { 'payment-order-1': ['tx-1'] } },
    ],
    [
      'a second one beside it',
      ['late tx-1', 'moneyTwice tx-2'],
      [row(), row({ transactionId: 'tx-2', created: THEN + 1 })],
      [open()],
    ],
  ])('%s', async (_name, expected, rows, flows, more = {}) => {
    expect(await found(rows, flows, more)).toEqual(expected);
  });

  test('and explained by what both sides say, in the decimals of the currency', async () => {
    const statement = {
      chargebacks: [],
      rows: [row({ amount: 1096, currency: 'KWD' })],
      covers: { from: THEN, until: NOW },
      kinds: new Set(TRANSACTION_KINDS),
      units: undefined,
    };
    const port = portOf([flow({ currency: 'KWD' }, { currency: 'KWD' })]);
    const [finding] = await reconcileStatement(statement, port, { windowMs: DAY, now: NOW });
    expect(finding).toEqual({
      kind: 'otherAmount',
      subject: 'tx-1',
      explanation:
        'payment-order-1 says that its charge tx-1 over 1.095 KWD succeeded, and the statement has it as a charge tx-1 over 1.096 KWD as Succeed.',
      source: 'statement',
      transactionKind: 'charge',
      workflowId: 'payment-order-1',
      reference: 'order-1',
      paymentId: 'pay-1',
      transactionId: 'tx-1',
      amount: 1096,
      currency: 'KWD',
      businessUnit: 'default',
    });
  });
});
