import { WORKFLOW_TYPES } from '../../contract/names.js';
import { type Finding, findingWorkflowId, type FlowFacts, type ReconcilePort } from '../../contract/reconcile.js';
import { showMoney } from '../money.js';
import { accountOf } from './account.js';
import { idsOf, type Match, type Row } from './match.js';
import { iso } from './sentences.js';
import type { Chargeback, ReconcilableStatement } from './statement-rows.js';

/** A flow that follows a transaction of others does not tell its kind. */
const TAKES: ReadonlySet<string | undefined> = new Set(['charge', 'authorization', 'capture', undefined]);

/** A chargeback with the flow whose payment it is of, if one of ours has made it. */
interface Disputed extends Chargeback {
  readonly flow: FlowFacts | undefined;
  /** Of the dispute itself. A line may have that of the disputed charge or capture instead, as its next dispute will. */
  readonly ownId: string | undefined;
}

/**
 * One finding for each chargeback of a statement that was not turned down.
 * @param matched the rows of the statement, and the flows that were loaded for them
 */
export async function disputes(
  { chargebacks, rows }: Pick<ReconcilableStatement, 'chargebacks' | 'rows'>,
  matched: Match,
  port: ReconcilePort,
): Promise<Finding[]> {
  const ids = new Map(rows.map((row) => [row.transactionId, row]));
  const all: Disputed[] = [];
  for (const line of chargebacks) {
    const { transactionId } = line;
    const disputed = transactionId === undefined ? undefined : ids.get(transactionId);
    const named = await flowsOf(line, port);
    const flows = named.length > 0 ? named : flowsOfTransaction(line, disputed, matched);
    const chargeback = { ...line, paymentId: line.paymentId ?? disputed?.paymentId };
    const taken = flows.flatMap((one) => accountOf(one).claims).filter(({ kind }) => TAKES.has(kind));
    // Where no flow knows the money that was taken, its id may be this one.
    const isOfMoney =
      taken.length === 0 || ids.has(transactionId) || taken.some((claim) => claim.transactionId === transactionId);
    const flow = flows.find(({ type }) => type !== WORKFLOW_TYPES.paymentActions) ?? flows[0];
    all.push({ ...chargeback, flow, ownId: isOfMoney ? undefined : transactionId });
  }
  const names = new Map<string, number>();
  return [...eachOnce(all), ...withoutOwnId(all)].map((one) => {
    const finding = findingOf(one);
    const id = findingWorkflowId(finding);
    const times = (names.get(id) ?? 0) + 1;
    names.set(id, times);
    return times === 1 ? finding : { ...finding, subject: `${finding.subject}-${times}` };
  });
}

/** Of those with an id of their own: a statement may show each change of one as a line. */
function eachOnce(all: readonly Disputed[]): Disputed[] {
  const ended = new Set(all.filter(({ status }) => status !== 'Pending').map(({ ownId }) => ownId));
  const told = new Map<string, Disputed>();
  for (const one of all) {
    const { ownId, status, amount, currency } = one;
    if (ownId === undefined || status === 'Failed' || (status === 'Pending' && ended.has(ownId))) continue;
    const name = JSON.stringify([ownId, amount, currency]);
    if (!told.has(name)) told.set(name, one);
  }
  return [...told.values()];
}

/** Of the others each line is a dispute, but one that pends may have ended in the same statement. */
function withoutOwnId(all: readonly Disputed[]): Disputed[] {
  const others = all.filter(({ ownId }) => ownId === undefined);
  const ends = new Set(others.filter(({ status }) => status !== 'Pending'));
  return others.filter((one) => {
    if (one.status !== 'Pending') return one.status === 'Succeed';
    const end = [...ends].find((each) => isEndOf(one, each));
    // Of two disputes each has an end of its own.
    if (end !== undefined) ends.delete(end);
    return end === undefined;
  });
}

function isEndOf(pending: Chargeback, end: Chargeback): boolean {
  if (nameOf(pending) !== nameOf(end)) return false;
  if (pending.amount !== end.amount || pending.currency !== end.currency) return false;
  const [from, to] = [pending.created, end.settled ?? end.created];
  return from === undefined || to === undefined || from <= to;
}

function nameOf({ transactionId, paymentId, reconciliationId }: Chargeback): string | undefined {
  return transactionId ?? paymentId ?? reconciliationId;
}

/** The flows of the payment that is charged back. */
async function flowsOf(chargeback: Chargeback, port: ReconcilePort): Promise<FlowFacts[]> {
  const { paymentId } = chargeback;
  const named = await port.flowsById(idsOf({ ...chargeback, kind: 'charge', status: 'Succeed' }));
  const all = [...named, ...(paymentId === undefined ? [] : await port.flowsOfPayments([paymentId]))];
  return all.filter((flow) => paymentId === undefined || flow.paymentId === paymentId);
}

/**
 * The flows of the payment where the line says only which charge or capture is disputed.
 * @param disputed that one, if the statement has it
 */
function flowsOfTransaction({ paymentId, transactionId: id }: Chargeback, disputed: Row | undefined, matched: Match) {
  if (id === undefined || paymentId !== undefined) return [];
  const known = [...matched.flows.values()].filter(
    ({ account }) => account.failed.has(id) || account.claims.some(({ transactionId }) => transactionId === id),
  );
  const flows = known.length > 0 || disputed === undefined ? known : matched.flowsOf(disputed);
  return flows.map(({ flow }) => flow);
}

function findingOf({ flow, ownId, ...chargeback }: Disputed): Finding {
  const { reconciliationId: reference, transactionId, amount, currency, created, settled } = chargeback;
  const paymentId = chargeback.paymentId ?? flow?.paymentId;
  const money = amount === undefined || currency === undefined ? 'money' : showMoney(amount, currency);
  const time = created ?? settled;
  const isNameless = flow === undefined && paymentId === undefined && reference === undefined;
  const lacks = isNameless
    ? ` (its line names only transaction ${transactionId}: give payment_id or reconciliation_id)`
    : '';
  const whose = flow === undefined ? `a payment that no flow is known of${lacks}` : `the payment of ${flow.workflowId}`;
  // With its time: another one of the payment is another dispute.
  const ofPayment = [transactionId ?? paymentId ?? reference, ...(time === undefined ? [] : [iso(time)])].join('-');
  return {
    kind: 'disputed',
    // Given again with what it lacks it is another finding, or the flow would never be told.
    subject: isNameless ? `unknown-${ofPayment}` : (ownId ?? ofPayment),
    explanation: `The statement shows a chargeback of ${money} of ${whose}: answer the dispute at the provider, and refund nothing of it unseen.`,
    source: 'statement',
    ...(flow !== undefined && { workflowId: flow.workflowId }),
    ...(reference !== undefined && { reference }),
    ...(paymentId !== undefined && { paymentId }),
    ...(transactionId !== undefined && { transactionId }),
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    ...(flow?.businessUnit !== undefined && { businessUnit: flow.businessUnit }),
  };
}
