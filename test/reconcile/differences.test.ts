import { describe, expect, test } from 'vitest';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { FlowFacts } from '../../src/contract/reconcile.js';
import { TRANSACTION_KINDS } from '../../src/contract/records.js';
import type { Row } from '../../src/domain/reconcile/match.js';
import { reconcileStatement } from '../../src/domain/reconcile/reconcile.js';
import { action, DAY, flow, NOW, portOf, row, THEN } from './in-memory-port.js';
import { actions, auth, capture, found, hold, type More, open, refund } from './found.js';

test('a line without an id that is no difference itself hides none', async () => {
  const voided = row({ kind: 'void', transactionId: undefined, paymentId: undefined, amount: undefined });
  expect(await found([voided], [flow()])).toEqual(['flowWithoutMoney tx-1']);
});

describe('what agrees is no difference', () => {
  test.each<[string, Row[], FlowFacts[]]>([
    ['a charge', [row()], [flow()]],
    [
      'one in a currency without decimals',
      [row({ currency: 'JPY' })],
      [flow({ currency: 'JPY' }, { currency: 'JPY' })],
    ],
    ['a declined charge', [row({ status: 'Failed' })], [flow({ status: 'declined' }, { status: 'declined' })]],
    [
      'a hold that was captured in part and whose rest was voided',
      [auth(), capture('cap-1', 500), row({ kind: 'void', transactionId: 'void-1', amount: undefined })],
      [
        hold({
          status: 'captured',
          transactionId: 'cap-1',
          capturedAmount: 500,
          released: { amount: 595, by: 'void', transactionId: 'void-1' },
        }),
      ],
    ],
    [
      'a hold that was captured several times, by commands after its end too',
      [auth(), capture('cap-1', 300), capture('cap-2', 300), capture('cap-3', 100)],
      [
        hold({ status: 'captured', transactionId: 'cap-1', capturedAmount: 300, released: { by: 'expiry' } }),
        actions([action('capture', 'cap-2', 300), action('capture', 'cap-3', 100)]),
      ],
    ],
    ['a hold that has lapsed', [auth()], [hold({ status: 'expired', transactionId: undefined })]],
    [
      'a hold that was authorized again on another payment',
      [
        auth({ transactionId: 'auth-0', paymentId: 'pay-0' }),
        row({ kind: 'void', transactionId: 'void-0', paymentId: 'pay-0', amount: undefined }),
        auth(),
        capture('cap-1', 1095),
      ],
      [
        hold({
          status: 'captured',
          transactionId: 'cap-1',
          capturedAmount: 1095,
          earlierHolds: [{ paymentId: 'pay-0', authorizationId: 'auth-0', status: 'voided' }],
        }),
      ],
    ],
    [
      'partial refunds with references of their own',
      [
        row(),
        refund('ref-1', 500, { reconciliationId: 'back-1' }),
        refund('ref-2', 500, { reconciliationId: 'back-2' }),
      ],
      [flow(), actions([action('refund', 'ref-1', 500), action('refund', 'ref-2', 500)])],
    ],
    [
      'refunds of commands whose flow is open, as it is for 30 days',
      [row(), refund('ref-1', 500)],
      [flow(), actions([], { state: 'open', openResult: { actions: [action('refund', 'ref-1', 500)] } })],
    ],
    ['a credit', [row({ kind: 'credit' })], [flow({ type: WORKFLOW_TYPES.credit })]],
    [
      'a transaction that was adopted',
      [row({ reconciliationId: undefined })],
      [{ ...flow({ type: WORKFLOW_TYPES.resolvePending }), workflowId: 'resolve-tx-1' }],
    ],
    [
      'the consent to a card, and its refund',
      [row(), refund('ref-1', 1095)],
      [
        flow(
          { type: WORKFLOW_TYPES.storeCard },
          { status: 'stored', money: { status: 'refunded', transactionId: 'ref-1' } },
        ),
      ],
    ],
    [
      'a consent whose hold was captured elsewhere: its hold is named',
      [auth({ transactionId: 'tx-1' })],
      [flow({ type: WORKFLOW_TYPES.storeCard }, { status: 'stored', money: { status: 'capturedElsewhere' } })],
    ],
    [
      'an acquirer that has no ids of the service, one to one',
      [row({ transactionId: undefined, paymentId: undefined }), refund('', 500, { transactionId: undefined })],
      [flow(), actions([action('refund', 'ref-1', 500)])],
    ],
    [
      'a charge whose id was never known, by its sum',
      [row()],
      [flow({}, { transactionId: undefined, evidence: { knownBy: 'operator' } })],
    ],
  ])('%s', async (_name, rows, flows) => {
    expect(await found(rows, flows)).toEqual([]);
  });
});

describe('what is in flight, or may still be, is no difference', () => {
  test.each<[string, Row[], FlowFacts[], More?]>([
    ['a pending transaction of an open flow', [row({ status: 'Pending' })], [open()]],
    ['money that a flow has not seen yet, within the window', [row({ created: NOW - DAY / 2 })], [open()]],
    ['money without a time of its own, in a statement that ends now', [row({ created: undefined })], [open()]],
    ['money that the open flow knows', [row()], [open()], { known: { 'payment-order-1': ['tx-1'] } }],
    [
      'money that pended for days and was booked just now',
      [row({ settled: NOW - 3_600_000 })],
      [open()],
      { known: { 'payment-order-1': ['tx-1'] } },
    ],
    [
      'a hold that waits for its capture',
      [auth()],
      [open({ type: WORKFLOW_TYPES.authorizeAndCapture })],
      {
        known: { 'payment-order-1': ['auth-1'] },
      },
    ],
    [
      'a refund whose answer is not there yet',
      [row(), refund('ref-1', 500)],
      [flow(), actions([], { state: 'open', status: 'refunding' })],
      {
        known: { 'payment-actions-pay-1': ['ref-1'] },
      },
    ],
    [
      'a claim that is younger than the window',
      [],
      [flow({}, { evidence: {}, details: { createdAt: new Date(NOW - DAY / 2).toISOString() } })],
    ],
    ['a claim from before the statement', [], [flow()], { covers: { from: THEN + 1, until: NOW } }],
    ['a claim of a kind that the statement does not have', [], [flow()], { kinds: ['refund'] }],
    ['a claim, in a statement that has chargebacks alone', [], [flow()], { kinds: [] }],
    ['a claim of a unit that the statement does not have', [], [flow()], { units: ['other'] }],
    ['a failed transaction of nobody', [row({ status: 'Failed' })], []],
    ['a hold of nobody that was voided', [auth(), row({ kind: 'void', transactionId: 'void-1' })], []],
    [
      'more commands than a result keeps',
      [row(), refund('ref-9', 1)],
      [
        flow(),
        actions(Array.from({ length: 100 }, (_, at) => ({ action: 'void', outcome: { status: 'declined', at } }))),
      ],
    ],
  ])('%s', async (_name, rows, flows, more = {}) => {
    expect(await found(rows, flows, more)).toEqual([]);
  });
});

describe('a payment that was voided although it was captured, at a service where that cancels the capture', () => {
  const voided = { paymentStatus: 'Voided' };
  const void1 = row({ kind: 'void', transactionId: 'void-1', amount: undefined, ...voided });
  const captured = hold({ status: 'captured', transactionId: 'cap-1', capturedAmount: 1095 });
  const rows = [auth(voided), capture('cap-1', 1095, voided), void1];

  test('is money that a flow says is there, where nobody here has sent the void', async () => {
    expect(await found(rows, [captured])).toEqual(['flowWithoutMoney cap-1']);
    expect(await found([row(voided), void1], [flow()])).toEqual(['flowWithoutMoney tx-1']);
  });

  test('is none where a flow knows of the void, and where the service has the payment as captured', async () => {
    expect(await found(rows, [captured, actions([action('void', 'void-1', 1095)])])).toEqual([]);
    expect(
      await found(
        rows.map((one) => ({ ...one, paymentStatus: 'Captured' })),
        [captured],
      ),
    ).toEqual([]);
    expect(await found([row(voided), { ...void1, status: 'Failed' }], [flow()])).toEqual([]);
  });
});

describe('a void by hand in a statement, which shows no status of a payment,', () => {
  const void1 = row({ kind: 'void', transactionId: 'void-1', reconciliationId: undefined, amount: undefined });

  test('is money that a flow says is there, where it cancels the charge', async () => {
    expect(await found([row(), void1], [flow()])).toEqual(['flowWithoutMoney tx-1']);
  });

  test.each<[string, Row[], FlowFacts[]]>([
    ['where a flow knows of it', [row(), void1], [flow(), actions([action('void', 'void-1', 1095)])]],
    ['where it may be of another charge', [row(), row({ kind: 'charge', transactionId: 'tx-2' }), void1], [flow()]],
    ['where it may be of a hold', [row(), auth(), void1], [flow()]],
    ['where it is of another payment', [row(), { ...void1, paymentId: 'pay-2' }], [flow()]],
    [
      'where neither says of which payment it is',
      [row({ paymentId: undefined }), { ...void1, paymentId: undefined }],
      [flow()],
    ],
    [
      'where the hold was captured, whose rest it may have released',
      [auth(), capture('cap-1', 500), void1],
      [hold({ status: 'captured', transactionId: 'cap-1', capturedAmount: 500 })],
    ],
  ])('is none of that %s', async (_how, rows, flows) => {
    expect((await found(rows, flows)).filter((each) => each.startsWith('flowWithoutMoney'))).toEqual([]);
  });
});

describe('of the flows that a statement needs', () => {
  const OF_NINE = ['payment-order-9', 'payment-actions-pay-9', 'resolve-tx-9'];
  const nine = row({ reconciliationId: 'order-9', paymentId: 'pay-9', transactionId: 'tx-9' });
  async function askedFor(rows: Row[], flows: FlowFacts[]) {
    const asked: string[] = [];
    const port = portOf(flows);
    const flowsById = async (ids: readonly string[]) => {
      asked.push(...ids);
      return await port.flowsById(ids);
    };
    const covers = { from: THEN - DAY, until: NOW };
    const statement = { chargebacks: [], rows, covers, kinds: new Set(TRANSACTION_KINDS), units: undefined };
    const findings = await reconcileStatement(statement, { ...port, flowsById }, { windowMs: DAY, now: NOW });
    return { asked, kinds: findings.map(({ kind }) => kind) };
  }

  test('only those of lines that no flow of its time claims are asked for by their ids', async () => {
    const flows = [flow(), actions([action('refund', 'ref-1', 500)])];
    const { asked, kinds } = await askedFor([row(), refund('ref-1', 500), nine], flows);
    expect({ asked, kinds }).toEqual({ asked: OF_NINE, kinds: ['moneyWithoutFlow'] });
  });

  test('an older one is found so', async () => {
    const older = { startedAt: THEN - 9 * DAY, closedAt: THEN - 8 * DAY };
    const flows = [
      flow(),
      flow({ reference: 'order-9', paymentId: 'pay-9', ...older }, { paymentId: 'pay-9', transactionId: 'tx-9' }),
    ];
    expect(await askedFor([row(), nine], flows)).toEqual({ asked: OF_NINE, kinds: [] });
  });

  test('those of a line without an id, and of one that was adopted, are asked for too', async () => {
    const adopted = { ...flow({ type: WORKFLOW_TYPES.resolvePending }), workflowId: 'resolve-tx-1' };
    expect(await askedFor([row()], [adopted])).toEqual({
      asked: ['payment-order-1', 'payment-actions-pay-1'],
      kinds: [],
    });
    const line = row({ transactionId: undefined });
    expect(await askedFor([line], [flow()])).toEqual({ asked: ['payment-actions-pay-1'], kinds: [] });
  });
});
