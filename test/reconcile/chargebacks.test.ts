import { describe, expect, test } from 'vitest';
import { type Finding, findingWorkflowId, type FlowFacts } from '../../src/contract/reconcile.js';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import { TRANSACTION_KINDS } from '../../src/contract/records.js';
import type { Row } from '../../src/domain/reconcile/match.js';
import { reconcileStatement } from '../../src/domain/reconcile/reconcile.js';
import { actions } from './found.js';
import { action, DAY, flow, NOW, portOf, row, THEN } from './in-memory-port.js';

async function disputesOf(
  chargebacks: readonly Partial<Row>[],
  charge: Partial<Row> = {},
  flows: FlowFacts[] = [flow()],
): Promise<Finding[]> {
  const statement = {
    chargebacks: chargebacks.map((one) => row({ transactionId: undefined, amount: 1_000, ...one })),
    rows: [row(charge)],
    covers: { from: THEN - DAY, until: NOW },
    kinds: new Set(TRANSACTION_KINDS),
    units: undefined,
  };
  const all = await reconcileStatement(statement, portOf(flows), { windowMs: DAY, now: NOW });
  return all.filter(({ kind }) => kind === 'disputed');
}

const idsOf = async (...chargebacks: Partial<Row>[]): Promise<string[]> =>
  (await disputesOf(chargebacks)).map((one) => findingWorkflowId(one));

/** As a line carries it whose dispute has no id of its own. */
const OF_CHARGE = { transactionId: 'tx-1' };

describe('each chargeback of a payment is a finding of its own, and the same when it is read again', () => {
  test.each<[string, Partial<Row>, Partial<Row>]>([
    ['of another sum', {}, { amount: 3_000 }],
    ['of another day', {}, { created: THEN + DAY }],
    ['equal, in one statement', {}, {}],
    ['that both carry the id of the charge', OF_CHARGE, OF_CHARGE],
    ['of another sum, under the id of the charge', OF_CHARGE, { ...OF_CHARGE, amount: 3_000 }],
    [
      'pending after the first one was booked, under the id of the charge',
      { ...OF_CHARGE, settled: THEN + DAY },
      { ...OF_CHARGE, status: 'Pending', created: THEN + 2 * DAY },
    ],
  ])('%s', async (_what, one, other) => {
    const ids = await idsOf(one, other);
    expect(new Set(ids).size).toBe(2);
    expect(await idsOf(one, other)).toEqual(ids);
  });

  test('of another statement, under the id of the charge', async () => {
    const [[first], [second]] = [await idsOf(OF_CHARGE), await idsOf({ ...OF_CHARGE, created: THEN + DAY })];
    expect(first).not.toBe(second);
    expect(await idsOf({ ...OF_CHARGE, created: THEN + DAY }, OF_CHARGE)).toEqual([second, first]);
  });

  test('although only the flow of the charge tells whose id it is', async () => {
    const elsewhere = { transactionId: 'tx-0', paymentId: 'pay-0' };
    expect(await disputesOf([OF_CHARGE, OF_CHARGE], elsewhere)).toHaveLength(2);
    // A later capture is known to the flow of the commands alone, and nobody knows the money of others.
    const later = actions([action('capture', 'cap-1', 500)]);
    const ofCapture = { transactionId: 'cap-1' };
    expect(await disputesOf([ofCapture, ofCapture], elsewhere, [flow(), later])).toHaveLength(2);
    expect(await disputesOf([ofCapture, ofCapture], elsewhere, [])).toHaveLength(2);
    const refunds = actions([action('refund', 'ref-1', 100)]);
    expect(await disputesOf([ofCapture, ofCapture], elsewhere, [refunds])).toHaveLength(2);
  });
});

describe('one chargeback is one finding', () => {
  const PENDING = { status: 'Pending' } as const;
  const OWN = { transactionId: 'cb-1' };

  test.each<[string, Partial<Row>[]]>([
    [
      'that is pending first and then booked',
      [
        { ...OWN, ...PENDING },
        { ...OWN, settled: THEN },
      ],
    ],
    [
      'the same, under another sum',
      [
        { ...OWN, ...PENDING },
        { ...OWN, settled: THEN, amount: 900 },
      ],
    ],
    ['the same, without an id', [PENDING, { settled: THEN }]],
    [
      'the same, under the id of the charge',
      [
        { ...OF_CHARGE, ...PENDING },
        { ...OF_CHARGE, settled: THEN },
      ],
    ],
    ['whose line stands twice', [OWN, OWN]],
    ['that has a line when it came and one when it was booked', [OWN, { ...OWN, created: undefined, settled: NOW }]],
    [
      'that pends in two lines',
      [
        { ...OWN, ...PENDING },
        { ...OWN, ...PENDING, created: THEN + DAY },
      ],
    ],
  ])('%s', async (_what, lines) => {
    expect(await idsOf(...lines)).toHaveLength(1);
  });

  test('also where the flow of the payment follows a transaction of others, whose kind it does not tell', async () => {
    const follows = flow({ type: WORKFLOW_TYPES.resolvePending });
    expect(await disputesOf([OWN, OWN], {}, [follows])).toHaveLength(1);
  });

  test('of two that pend and one of them that is booked, the other is another one', async () => {
    for (const under of [OF_CHARGE, {}])
      expect(
        await idsOf({ ...under, ...PENDING }, { ...under, ...PENDING }, { ...under, settled: THEN + DAY }),
      ).toHaveLength(2);
  });

  test('that was turned down is none, although it was pending before', async () => {
    for (const under of [OWN, OF_CHARGE, {}]) {
      expect(await idsOf({ ...under, status: 'Failed' })).toEqual([]);
      expect(await idsOf({ ...under, ...PENDING }, { ...under, status: 'Failed', settled: THEN + DAY })).toEqual([]);
    }
  });
});

describe('a chargeback whose line has only the id of the disputed transaction is of the payment', () => {
  const bare = { paymentId: undefined, reconciliationId: undefined };
  const elsewhere = { transactionId: 'tx-0', paymentId: 'pay-0', reconciliationId: 'order-0' };
  const CREATOR = { workflowId: 'payment-order-1', paymentId: 'pay-1', businessUnit: 'default' };
  const { closedAt: _closed, ...open } = flow({ state: 'open', status: 'pending' });

  test.each<[string, string, Partial<Row>, FlowFacts[], object]>([
    ['whose flow claims it', 'tx-1', elsewhere, [flow()], CREATOR],
    ['whose flow has it as declined', 'tx-1', elsewhere, [flow({}, { status: 'declined' })], CREATOR],
    [
      'whose commands have captured it',
      'cap-1',
      elsewhere,
      [actions([action('capture', 'cap-1', 500)], { businessUnit: 'default' })],
      { ...CREATOR, workflowId: 'payment-actions-pay-1' },
    ],
    ['that its row names', 'tx-1', {}, [open], CREATOR],
    ['that its row names, although the flow does not yet', 'tx-1', {}, [{ ...open, paymentId: 'pay-9' }], CREATOR],
  ])('%s', async (_what, transactionId, charge, flows, expected) => {
    const [dispute] = await disputesOf([{ ...bare, transactionId }], charge, flows);
    expect(dispute).toMatchObject(expected);
  });

  test('unless none is known: it says what it lacks, and given again with that it is another one', async () => {
    const line = { ...bare, transactionId: 'tx-1' };
    const [unknown] = await disputesOf([line], elsewhere, []);
    expect(unknown?.explanation).toContain('names only transaction tx-1: give payment_id or reconciliation_id');
    const [given] = await disputesOf([{ ...line, paymentId: 'pay-1' }], elsewhere);
    expect(given).toMatchObject(CREATOR);
    expect(findingWorkflowId(given as Finding)).not.toBe(findingWorkflowId(unknown as Finding));
  });
});
