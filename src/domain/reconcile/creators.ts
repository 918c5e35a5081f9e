import { resolveWorkflowId, WORKFLOW_TYPES } from '../../contract/names.js';
import type { FlowFacts, ReconcilePort } from '../../contract/reconcile.js';
import { isFirst, type Match, type Row } from './match.js';

/** Types of flow that act on what others have made. */
const ON_OTHERS: ReadonlySet<string> = new Set([WORKFLOW_TYPES.paymentActions, WORKFLOW_TYPES.resolvePending]);

const creates = ({ type }: FlowFacts): boolean => !ON_OTHERS.has(type);

/** The payments that a flow names: a reauthorized hold has several. */
export function paymentsOf({ paymentId, result }: FlowFacts): string[] {
  const ids = new Set(paymentId === undefined ? [] : [paymentId]);
  const { paymentId: own, earlierHolds } = (result ?? {}) as { paymentId?: unknown; earlierHolds?: unknown };
  if (typeof own === 'string') ids.add(own);
  for (const hold of Array.isArray(earlierHolds) ? (earlierHolds as { paymentId?: unknown }[]) : [])
    if (typeof hold.paymentId === 'string') ids.add(hold.paymentId);
  return [...ids];
}

/**
 * Rows that nobody here accounts for and that are no money of nobody: of a payment that no flow here has created. The
 * engine has forgotten that flow, or another system has created the payment. What took its money is one row: a second
 * one is too many, whoever made it. A capture is of that time too if no flow here had acted on the payment yet, and a
 * refund only if its flow may be forgotten as well, since refunds by hand must be told.
 */
export async function rowsOfOthers(matched: Match, port: ReconcilePort): Promise<Set<Row>> {
  if (matched.rows.length === 0) return new Set();
  const keptSince = await port.keptSince();
  const all = [...matched.pairs.map(({ row }) => row), ...matched.rows];
  const created = createdHere(matched, all);
  const firsts = firstOfEach(all);
  const touched = touchedSince(matched, await firstStarts(matched, port));
  const isOfOthers = (row: Row): boolean => {
    const { kind, paymentId, created: at = Number.POSITIVE_INFINITY } = row;
    if (paymentId === undefined || created.has(paymentId)) return false;
    if (isToldOtherwise(row, matched)) return false;
    if (isFirst(row)) return firsts.get(paymentId) === row;
    const isBefore = at < (touched.get(paymentId) ?? Number.POSITIVE_INFINITY);
    return isBefore && (kind === 'capture' || at < keptSince);
  };
  return new Set(matched.rows.filter(isOfOthers));
}

/** A flow here has said that it failed, or was to tell how it ended and was stopped: whoever asked it may charge again. */
function isToldOtherwise(row: Row, { flowsOf }: Match): boolean {
  const { transactionId: id } = row;
  if (id === undefined) return false;
  return flowsOf(row).some(
    ({ flow, account }) =>
      account.failed.has(id) || (flow.state === 'stopped' && flow.workflowId === resolveWorkflowId(id)),
  );
}

/** The payments that a flow has created which is there. */
function createdHere({ flows, flowsOf }: Match, rows: readonly Row[]): Set<string> {
  const ids = new Set<string>();
  for (const { flow } of flows.values()) if (creates(flow)) for (const id of paymentsOf(flow)) ids.add(id);
  for (const row of rows)
    if (row.paymentId !== undefined && isFirst(row) && flowsOf(row).some(({ flow }) => creates(flow)))
      ids.add(row.paymentId);
  return ids;
}

function firstOfEach(rows: readonly Row[]): Map<string, Row> {
  const firsts = new Map<string, Row>();
  for (const row of rows) {
    if (row.paymentId === undefined || !isFirst(row) || row.status === 'Failed') continue;
    const known = firsts.get(row.paymentId);
    if (known === undefined || (row.created ?? Number.POSITIVE_INFINITY) < (known.created ?? Number.POSITIVE_INFINITY))
      firsts.set(row.paymentId, row);
  }
  return firsts;
}

/**
 * Epoch ms by workflow id. Of commands a terminated run may have sent what no later one knows of, and a reset or a continued
 * run begins late.
 */
async function firstStarts({ flows }: Match, port: ReconcilePort): Promise<Map<string, number>> {
  const starts = new Map<string, number>();
  for (const { flow } of flows.values()) {
    if (flow.type !== WORKFLOW_TYPES.paymentActions) continue;
    const first = await port.firstStartedAt(flow.workflowId);
    if (first !== undefined) starts.set(flow.workflowId, first);
  }
  return starts;
}

/** Epoch ms by payment: when a flow here may have acted on it for the first time. */
function touchedSince({ flows, pairs }: Match, starts: ReadonlyMap<string, number>): Map<string, number> {
  const since = new Map<string, number>();
  const note = (paymentId: string, at: number): void => {
    since.set(paymentId, Math.min(since.get(paymentId) ?? at, at));
  };
  for (const { flow } of flows.values())
    for (const id of paymentsOf(flow))
      note(id, Math.min(flow.startedAt, starts.get(flow.workflowId) ?? flow.startedAt));
  for (const { row } of pairs)
    if (row.paymentId !== undefined && row.created !== undefined) note(row.paymentId, row.created);
  return since;
}
