import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { FlowFacts } from '../../src/contract/reconcile.js';
import { TRANSACTION_KINDS } from '../../src/contract/records.js';
import { minorUnitsToDecimal } from '../../src/domain/money.js';
import { match, type Row } from '../../src/domain/reconcile/match.js';
import { reconcileStatement } from '../../src/domain/reconcile/reconcile.js';
import { parseReconcilable } from '../../src/domain/reconcile/statement-rows.js';
import { action, DAY, flow, iso, NOW, portOf, row, THEN } from './in-memory-port.js';

const anyCurrency = fc.constantFrom('EUR', 'JPY', 'KWD', 'USD', 'CLF');
const anyAmount = fc.integer({ min: 2, max: Number.MAX_SAFE_INTEGER - 1 });

/** One payment, whole: what its flows say, and what the service has. */
interface Payment {
  flows: FlowFacts[];
  rows: Row[];
}

const parts = (total: number, weights: readonly number[]): number[] =>
  weights.map((weight) => Math.max(1, Math.floor((total / (weights.length + 1)) * weight)));
const anyWeights = (most: number) => fc.array(fc.double({ min: 0.1, max: 0.9, noNaN: true }), { maxLength: most });

const anyPayment = (index: number): fc.Arbitrary<Payment> =>
  fc
    .record({
      type: fc.constantFrom('charge', 'credit', 'hold', 'declined', 'open'),
      currency: anyCurrency,
      amount: anyAmount,
      captures: anyWeights(3),
      refunds: anyWeights(3),
      ownReferences: fc.boolean(),
      actionsAreOpen: fc.boolean(),
    })
    .map(({ type, currency, amount, captures, refunds, ownReferences, actionsAreOpen }) => {
      const [reference, paymentId, first] = [`order-${index}`, `pay-${index}`, `first-${index}`];
      const common = { currency, paymentId, reconciliationId: reference, created: THEN + index };
      const base = { reference, paymentId, currency, amount };
      const result = { paymentId, amount, currency, reference, transactionId: first };
      const one = row({ ...common, amount, transactionId: first });
      if (type === 'declined')
        return {
          flows: [flow({ ...base, status: 'declined' }, { ...result, status: 'declined' })],
          rows: [{ ...one, status: 'Failed' as const }],
        };
      if (type === 'credit')
        return {
          flows: [flow({ ...base, type: WORKFLOW_TYPES.credit }, result)],
          rows: [{ ...one, kind: 'credit' as const }],
        };
      if (type === 'open') {
        const { closedAt: _none, ...open } = flow({ ...base, state: 'open', status: 'pending' });
        return { flows: [open], rows: [{ ...one, status: 'Pending' as const }] };
      }
      const later = (kind: 'capture' | 'refund', weights: readonly number[]) =>
        parts(amount, weights).map((sum, at) => {
          const id = `${kind}-${index}-${at}`;
          return {
            row: row({
              ...common,
              kind,
              amount: sum,
              transactionId: id,
              ...(ownReferences && { reconciliationId: id }),
            }),
            action: action(kind, id, sum, currency),
          };
        });
      const isHold = type === 'hold';
      const commands = [...(isHold ? later('capture', captures) : []), ...later('refund', refunds)];
      const actions = { status: 'idle', paymentId, actions: commands.map((each) => each.action) };
      const acting: FlowFacts = {
        workflowId: `payment-actions-${paymentId}`,
        type: WORKFLOW_TYPES.paymentActions,
        state: actionsAreOpen ? 'open' : 'ended',
        status: 'idle',
        paymentId,
        currency,
        startedAt: THEN,
        ...(actionsAreOpen ? { openResult: actions } : { closedAt: THEN, result: actions }),
      };
      const own = isHold
        ? flow(
            { ...base, type: WORKFLOW_TYPES.authorizeAndCapture },
            {
              ...result,
              status: 'captured',
              authorizationId: first,
              transactionId: `main-${index}`,
              capturedAmount: 1,
            },
          )
        : flow(base, result);
      const rows = [
        isHold ? { ...one, kind: 'authorization' as const } : one,
        ...(isHold ? [row({ ...common, kind: 'capture', amount: 1, transactionId: `main-${index}` })] : []),
        ...commands.map((each) => each.row),
      ];
      return { flows: commands.length > 0 ? [own, acting] : [own], rows };
    });

const anyShop = fc
  .integer({ min: 1, max: 12 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => anyPayment(index))))
  .map((payments) => ({ flows: payments.flatMap(({ flows }) => flows), rows: payments.flatMap(({ rows }) => rows) }));

async function found(rows: readonly Row[], flows: readonly FlowFacts[]): Promise<string[]> {
  const covers = { from: THEN - DAY, until: NOW };
  const statement = {
    chargebacks: [],
    rows,
    covers,
    kinds: new Set(TRANSACTION_KINDS),
    units: undefined,
  };
  const findings = await reconcileStatement(statement, portOf(flows), { windowMs: DAY, now: NOW });
  return findings.map(({ kind, subject }) => `${kind} ${subject}`);
}

const moved = (rows: readonly Row[]): Row[] => rows.filter(({ status }) => status === 'Succeed');
/** With a row that moved money, if there is one. */
const withOne = anyShop
  .filter(({ rows }) => moved(rows).length > 0)
  .chain((shop) => fc.record({ shop: fc.constant(shop), chosen: fc.constantFrom(...moved(shop.rows)) }));

describe('of any shop', () => {
  test('whose flows and statement agree nothing is found, in whatever order it stands', async () => {
    await fc.assert(
      fc.asyncProperty(anyShop, fc.infiniteStream(fc.nat()), async ({ flows, rows }, order) => {
        const shuffled = rows
          .map((each) => ({ each, at: order.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ each }) => each);
        expect(await found(shuffled, flows)).toEqual([]);
      }),
    );
  });

  test('each row is matched with one claim, and each claim with one row', () => {
    fc.assert(
      fc.property(anyShop, ({ flows, rows }) => {
        const { pairs, rows: left, claims } = match(rows, flows);
        expect(left).toEqual([]);
        expect(claims).toEqual([]);
        expect(new Set(pairs.map((pair) => pair.row)).size).toBe(pairs.length);
        expect(new Set(pairs.map((pair) => pair.claim)).size).toBe(pairs.length);
        for (const { row: one, claim } of pairs) expect(claim.transactionId).toBe(one.transactionId);
      }),
    );
  });

  test('without the ids of an acquirer that has none, sums are matched one to one all the same', async () => {
    await fc.assert(
      fc.asyncProperty(anyShop, async ({ flows, rows }) => {
        const nameless = moved(rows).map((each) => ({ ...each, transactionId: undefined }));
        expect(await found(nameless, flows)).toEqual([]);
      }),
    );
  });

  test('one sum that differs by one minor unit is found, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(withOne, fc.constantFrom(1, -1), async ({ shop, chosen }, by) => {
        const rows = shop.rows.map((each) => (each === chosen ? { ...each, amount: (each.amount ?? 0) + by } : each));
        expect(await found(rows, shop.flows)).toEqual([`otherAmount ${chosen.transactionId}`]);
      }),
    );
  });

  test('one row that is gone is found, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(withOne, async ({ shop, chosen }) => {
        const rows = shop.rows.filter((each) => each !== chosen);
        expect(await found(rows, shop.flows)).toEqual([`flowWithoutMoney ${chosen.transactionId}`]);
      }),
    );
  });

  test('one transaction made twice is found, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(withOne, async ({ shop, chosen }) => {
        const again = { ...chosen, transactionId: 'again', created: NOW - 2 * DAY };
        expect(await found([...shop.rows, again], shop.flows)).toEqual(['moneyTwice again']);
      }),
    );
  });

  test('one flow that is gone leaves money without a flow, all of it and no other', async () => {
    await fc.assert(
      fc.asyncProperty(anyShop, fc.nat(), async ({ flows, rows }, at) => {
        const gone = flows[at % flows.length] as FlowFacts;
        const rest = flows.filter((each) => each.paymentId !== gone.paymentId);
        const lost = moved(rows).filter(({ paymentId }) => paymentId === gone.paymentId);
        expect((await found(rows, rest)).toSorted()).toEqual(
          lost.map(({ transactionId }) => `moneyWithoutFlow ${transactionId}`).toSorted(),
        );
      }),
    );
  });

  test('one that was booked after the window is late, and one within it is not', async () => {
    await fc.assert(
      fc.asyncProperty(withOne, fc.integer({ min: 0, max: 2 * DAY }), async ({ shop, chosen }, delay) => {
        const rows = shop.rows.map((each) => (each === chosen ? { ...each, settled: THEN + delay } : each));
        expect(await found(rows, shop.flows)).toEqual(delay > DAY ? [`late ${chosen.transactionId}`] : []);
      }),
    );
  });

  test('a statement says the same in minor units and in decimals, as JSON and as CSV', () => {
    fc.assert(
      fc.property(anyShop, ({ rows }) => {
        const covers = `${iso(THEN - DAY)},${iso(NOW)}`;
        const fields = (each: Row) => ({
          kind: each.kind,
          status: each.status,
          currency: each.currency,
          reconciliation_id: each.reconciliationId,
          payment_id: each.paymentId,
          transaction_id: each.transactionId,
          created: iso(each.created ?? 0),
        });
        const decimal = (each: Row): string => minorUnitsToDecimal(each.amount ?? 0, each.currency ?? '');
        const json = rows.map((each) => JSON.stringify({ ...fields(each), amount: each.amount }));
        const inDecimals = rows.map((each) => JSON.stringify({ ...fields(each), amount_decimal: decimal(each) }));
        const csv = [
          'kind,status,currency,reconciliation_id,payment_id,transaction_id,created,amount_decimal',
          ...rows.map((each) => [...Object.values(fields(each)), decimal(each)].join(',')),
        ];
        for (const lines of [json, inDecimals, csv]) {
          const parsed = parseReconcilable(lines.join('\n'), { now: NOW, covers });
          expect(parsed).toMatchObject({ statement: { rows } });
        }
      }),
    );
  });
});
