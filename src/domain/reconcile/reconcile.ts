import { type Finding, type FlowFacts, type ReconcilePort, UnreadableFlow } from '../../contract/reconcile.js';
import { TRANSACTION_KINDS, type TransactionKind } from '../../contract/records.js';
import { paymentsOf, rowsOfOthers } from './creators.js';
import { differences, type Frame, toBeKnown } from './differences.js';
import { idsOf, type Match, match, type Pair, type Row } from './match.js';
import { disputes } from './disputes.js';
import type { ReconcilableStatement } from './statement-rows.js';
import { unfollowed } from './unfollowed.js';

const ALL_KINDS: ReadonlySet<TransactionKind> = new Set(TRANSACTION_KINDS);
/** Lists of the service lag by minutes; so long after a flow has ended they show all that it did. */
const SERVICE_LAG_MS = 3_600_000;

interface When {
  readonly windowMs: number;
  /** Epoch ms. */
  readonly now: number;
}

/**
 * Why a statement can't be compared; undefined if it can. Flows that the namespace has forgotten would make money without a
 * flow of all of it.
 */
export async function whyTooOld({ covers }: ReconcilableStatement, port: ReconcilePort): Promise<string | undefined> {
  const since = await port.keptSince();
  if (covers.from >= since) return undefined;
  return (
    `line 1: covers: begins at ${new Date(covers.from).toISOString()}, and Temporal keeps flows that ended since ` +
    `${new Date(since).toISOString()}: take what is older out, and compare it with an export of that time`
  );
}

/**
 * Compares a statement with the flows of its time, in both directions.
 * @throws UnreadableFlow
 */
export async function reconcileStatement(
  { rows, chargebacks, covers, kinds, units }: ReconcilableStatement,
  port: ReconcilePort,
  when: When,
): Promise<Finding[]> {
  const flows = new Map<string, FlowFacts>();
  for await (const flow of port.flowsBetween(covers.from, covers.until)) flows.set(flow.workflowId, flow);
  await addFlowsOf(rows, flows, port);
  const frame = { source: 'statement', covers, kinds, units, listedAfterMs: when.windowMs, ...when } as const;
  const matched = match(rows, flows.values());
  return [...(await judged(matched, frame, port)), ...(await disputes({ chargebacks, rows }, matched, port))];
}

/** The flows of rows that are not among those of the statement's time: older ones, and what their payment tells. */
async function addFlowsOf(rows: readonly Row[], flows: Map<string, FlowFacts>, port: ReconcilePort): Promise<void> {
  const claimed = claimedById(match(rows, flows.values()));
  const ids = rows.filter((row) => !claimed.has(row)).flatMap(idsOf);
  for (const flow of await port.flowsById([...new Set(ids)].filter((id) => !flows.has(id))))
    flows.set(flow.workflowId, flow);
  const { rows: unaccounted, flowsOf } = match(rows, flows.values());
  const nobodys = unaccounted.filter((row) => flowsOf(row).length === 0).flatMap(({ paymentId }) => paymentId ?? []);
  for (const flow of await port.flowsOfPayments([...new Set(nobodys)])) flows.set(flow.workflowId, flow);
  refuseUnreadable(flows.values());
}

/** No further flow is needed for these, which nearly all are: each other one may be of three. */
function claimedById({ pairs }: Match): Set<Row> {
  // One that was adopted may be of an older flow too, which says of which kind it is.
  const isOfId = ({ row, claim }: Pair): boolean =>
    claim.kind !== undefined && row.transactionId !== undefined && row.transactionId === claim.transactionId;
  return new Set(pairs.filter(isOfId).map(({ row }) => row));
}

function refuseUnreadable(flows: Iterable<FlowFacts>): void {
  for (const { unreadable } of flows) if (unreadable !== undefined) throw new UnreadableFlow(unreadable);
}

/**
 * The rows of the service's answer about a payment, or why there are none. `isFinal`: asking again changes nothing.
 * `isAbsent`: the service has no such payment; false: a 404 says so that may not be the service's.
 */
export type Answer = { rows: readonly Row[] } | { why: string; isFinal: boolean; isAbsent?: boolean };

interface Reconciled {
  findings: Finding[];
  /** False: there is no payment that the service could be asked about. */
  isAsked: boolean;
  /** Why it gave no answer. */
  unanswered?: string;
  /** Asking again may bring one. */
  askAgain?: true;
}

/**
 * Compares one flow with what the service says of its payments.
 * @param ask reads a payment of a business unit
 * @throws UnreadableFlow
 */
export async function reconcileFlow(
  flow: FlowFacts,
  ask: (paymentId: string, flow: FlowFacts) => Promise<Answer>,
  port: ReconcilePort,
  when: When,
): Promise<Reconciled> {
  refuseUnreadable([flow]);
  const payments = paymentsOf(flow);
  if (payments.length === 0) {
    const why = 'no payment of it is known, so that only a statement can show its money';
    return { findings: flow.state === 'stopped' ? [unfollowed(flow, why)] : [], isAsked: false };
  }
  const flows = new Map([[flow.workflowId, flow]]);
  const rows: Row[] = [];
  for (const paymentId of payments) {
    const answer = await ask(paymentId, flow);
    // Then a flow that has ended with money of it is wrong, or the service is.
    if ('why' in answer && answer.isAbsent === true && flow.state === 'ended') continue;
    if ('why' in answer) {
      const why = `payment ${paymentId} could not be read (${answer.why})`;
      // What can be read tomorrow is no difference today.
      const isFinding = answer.isFinal && flow.state === 'stopped';
      const findings = isFinding ? [unfollowed(flow, why)] : [];
      return { findings, isAsked: true, unanswered: why, ...(!answer.isFinal && { askAgain: true as const }) };
    }
    rows.push(...answer.rows);
  }
  for (const other of await port.flowsOfPayments(payments))
    if (!flows.has(other.workflowId)) flows.set(other.workflowId, other);
  await addFlowsOf(rows, flows, port);
  const read = new Set(payments);
  const matched = match(rows, flows.values());
  const ofOthers = await rowsOfOthers(matched, port);
  const covers = { from: Number.NEGATIVE_INFINITY, until: when.now };
  const frame = {
    source: 'service',
    covers,
    kinds: ALL_KINDS,
    units: undefined,
    listedAfterMs: SERVICE_LAG_MS,
    ofOthers,
  } as const;
  // Another flow of the payment may have made others, which were not read.
  const claims = matched.claims.filter(({ paymentId }) => paymentId !== undefined && read.has(paymentId));
  const findings = await judged({ ...matched, claims }, { ...frame, ...when }, port);
  if (flow.state !== 'stopped' || findings.some(({ workflowId }) => workflowId === flow.workflowId))
    return { findings, isAsked: true };
  const isIts = (row: Row): boolean => row.status === 'Succeed' && row.kind !== 'void' && !ofOthers.has(row);
  const moved = rows.filter(isIts).length;
  const why = moved === 0 ? 'the service shows no money of it' : 'other flows account for what the service shows';
  return { findings: [...findings, unfollowed(flow, why)], isAsked: true };
}

async function judged(matched: Match, frame: Omit<Frame, 'knownToOpen'>, port: ReconcilePort): Promise<Finding[]> {
  const knownToOpen = new Map<string, ReadonlySet<string>>();
  for (const [workflowId, ids] of toBeKnown(matched))
    knownToOpen.set(workflowId, await port.knownToOpen(workflowId, ids));
  return differences(matched, { ...frame, knownToOpen });
}
