import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import { TRANSACTION_KINDS, type TransactionKind } from '../../src/contract/records.js';
import type { FlowFacts } from '../../src/contract/reconcile.js';
import type { Row } from '../../src/domain/reconcile/match.js';
import { reconcileStatement } from '../../src/domain/reconcile/reconcile.js';
import { DAY, flow, NOW, portOf, row, THEN } from './in-memory-port.js';

export interface More {
  known?: Record<string, string[]>;
  covers?: { from: number; until: number };
  kinds?: TransactionKind[];
  units?: string[];
}

/** What a statement of these rows finds beside these flows, as kind and subject. */
export async function found(rows: Row[], flows: FlowFacts[], more: More = {}): Promise<string[]> {
  const { known, covers = { from: THEN - DAY, until: NOW }, kinds = [...TRANSACTION_KINDS], units } = more;
  const statement = {
    chargebacks: [],
    rows,
    covers,
    kinds: new Set(kinds),
    units: units && new Set(units),
  };
  const findings = await reconcileStatement(statement, portOf(flows, known), { windowMs: DAY, now: NOW });
  return findings.map(({ kind, subject }) => `${kind} ${subject}`);
}

export const open = (change: Partial<FlowFacts> = {}): FlowFacts => {
  const { closedAt: _closed, ...rest } = flow({ state: 'open', status: 'pending', ...change });
  return rest;
};
export const hold = (result: object, change: Partial<FlowFacts> = {}): FlowFacts =>
  flow({ type: WORKFLOW_TYPES.authorizeAndCapture, ...change }, { authorizationId: 'auth-1', ...result });
export const actions = (list: object[], change: Partial<FlowFacts> = {}): FlowFacts => ({
  workflowId: 'payment-actions-pay-1',
  type: WORKFLOW_TYPES.paymentActions,
  state: 'ended',
  status: 'idle',
  paymentId: 'pay-1',
  currency: 'USD',
  startedAt: THEN,
  ...(change.state !== 'open' && { closedAt: THEN, result: { status: 'idle', paymentId: 'pay-1', actions: list } }),
  ...change,
});
export const auth = (change: Partial<Row> = {}): Row =>
  row({ kind: 'authorization', transactionId: 'auth-1', ...change });
export const capture = (id: string, amount: number, change: Partial<Row> = {}): Row =>
  row({ kind: 'capture', transactionId: id, amount, ...change });
export const refund = (id: string, amount: number, change: Partial<Row> = {}): Row =>
  row({ kind: 'refund', transactionId: id, amount, ...change });
