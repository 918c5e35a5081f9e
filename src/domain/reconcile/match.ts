import {
  paymentActionsWorkflowId,
  paymentWorkflowId,
  resolveWorkflowId,
  WORKFLOW_TYPES,
} from '../../contract/names.js';
import type { FlowFacts } from '../../contract/reconcile.js';
import type { TransactionKind } from '../../contract/records.js';
import type { TransactionStatus } from '../../contract/statuses.js';
import { type Account, accountOf, type Claim } from './account.js';

/** One transaction as the payment service, or an acquirer, shows it. Times are epoch ms. */
export interface Row {
  readonly kind: TransactionKind;
  readonly status: TransactionStatus;
  /** Minor units. A void has none. */
  readonly amount: number | undefined;
  readonly currency: string | undefined;
  readonly reconciliationId: string | undefined;
  readonly paymentId: string | undefined;
  /** Only the service says it, as in `Voided`. */
  readonly paymentStatus?: string | undefined;
  readonly transactionId: string | undefined;
  readonly created: number | undefined;
  /** When the money was booked. */
  readonly settled: number | undefined;
}

/** A flow with what it accounts for. */
export interface Accounted {
  readonly flow: FlowFacts;
  readonly account: Account;
}

export interface Pair {
  readonly row: Row;
  readonly claim: Claim;
}

export interface Match {
  readonly pairs: readonly Pair[];
  /** Rows whose money moved and that no claim accounts for, the earliest first. */
  readonly rows: readonly Row[];
  readonly claims: readonly Claim[];
  readonly flows: ReadonlyMap<string, Accounted>;
  /** The flows that a row may belong to. */
  readonly flowsOf: (row: Row) => readonly Accounted[];
}

/** References of payment flows; other texts make no workflow id. */
const REFERENCE = /^[A-Za-z0-9_.-]{1,70}$/;

/** Workflow ids of the flows that a row may belong to, by arithmetic on what it carries. */
export function idsOf({ reconciliationId, paymentId, transactionId }: Row): string[] {
  const isReference = reconciliationId !== undefined && REFERENCE.test(reconciliationId);
  return [
    ...(isReference ? [paymentWorkflowId(reconciliationId)] : []),
    ...(paymentId === undefined ? [] : [paymentActionsWorkflowId(paymentId)]),
    ...(transactionId === undefined ? [] : [resolveWorkflowId(transactionId)]),
  ];
}

/**
 * Matches rows with what flows claim, one to one: by transaction id, and where either has none by flow, kind, sum and
 * currency. What only the sum tells apart is matched last, where there is one of each.
 */
export function match(rows: readonly Row[], facts: Iterable<FlowFacts>): Match {
  const flows = new Map<string, Accounted>();
  for (const flow of facts) flows.set(flow.workflowId, { flow, account: accountOf(flow) });
  const flowsOf = flowFinder(flows, rows);
  const pairs: Pair[] = [];
  const left = new Set<Claim>(claimsOf(flows));
  const byId = new Map([...left].map((claim) => [claim.transactionId, claim]));
  const take = (row: Row, claim: Claim): void => {
    left.delete(claim);
    pairs.push({ row, claim });
  };
  const open: Row[] = [];
  for (const row of [...rows].sort(byTime)) {
    const claim = row.transactionId === undefined ? undefined : byId.get(row.transactionId);
    if (claim !== undefined && left.has(claim)) take(row, claim);
    else if (row.status === 'Succeed' && claim === undefined) open.push(row);
  }
  const claimsFor = (row: Row): Claim[] =>
    flowsOf(row).flatMap(({ account }) => account.claims.filter((claim) => left.has(claim) && mayBe(row, claim)));
  const takenBy =
    (isIts: (row: Row, claim: Claim) => boolean) =>
    (row: Row): boolean => {
      const claim = claimsFor(row).find((each) => isSameSum(row, each) && isIts(row, each));
      if (claim !== undefined) take(row, claim);
      return claim === undefined;
    };
  // An equal row of somebody else must not take what another row names.
  const unnamed = open.filter(
    takenBy((row, { reconciliationId: id }) => id !== undefined && id === row.reconciliationId),
  );
  const unmatched = unnamed.filter(takenBy(() => true));
  const wanted = new Map<Claim, number>();
  for (const row of unmatched) for (const claim of claimsFor(row)) wanted.set(claim, (wanted.get(claim) ?? 0) + 1);
  const unaccounted = unmatched.filter((row) => {
    const [claim, ...others] = claimsFor(row);
    if (claim === undefined || others.length > 0 || wanted.get(claim) !== 1) return true;
    take(row, claim);
    return false;
  });
  return { pairs, rows: unaccounted, claims: [...left], flows, flowsOf };
}

/** Two flows may claim one transaction: the one that made it, which says of which kind it is, goes first. */
function claimsOf(flows: ReadonlyMap<string, Accounted>): Claim[] {
  const byId = new Map<string, Claim>();
  const nameless: Claim[] = [];
  for (const { account } of flows.values()) {
    for (const claim of account.claims) {
      if (claim.transactionId === undefined) nameless.push(claim);
      else if (byId.get(claim.transactionId)?.kind === undefined) byId.set(claim.transactionId, claim);
    }
  }
  return [...byId.values(), ...nameless];
}

function flowFinder(flows: ReadonlyMap<string, Accounted>, rows: readonly Row[]): Match['flowsOf'] {
  const byPayment = new Map<string, Set<Accounted>>();
  const byReconciliation = new Map<string, Set<Accounted>>();
  const note = (to: Map<string, Set<Accounted>>, name: string | undefined, flow: Accounted | undefined): void => {
    if (name === undefined || flow === undefined) return;
    to.set(name, (to.get(name) ?? new Set()).add(flow));
  };
  for (const each of flows.values()) {
    note(byPayment, each.flow.paymentId, each);
    for (const { paymentId, reconciliationId } of each.account.claims) {
      note(byPayment, paymentId, each);
      note(byReconciliation, reconciliationId, each);
    }
  }
  // A refund may carry a reference of its own: the charge of its payment says whose it is.
  for (const row of rows.filter(isFirst)) for (const id of idsOf(row)) note(byPayment, row.paymentId, flows.get(id));
  return (row) => {
    const found = idsOf(row).flatMap((id) => flows.get(id) ?? []);
    const ofPayment = byPayment.get(row.paymentId ?? '') ?? [];
    const all = [...new Set([...found, ...ofPayment, ...(byReconciliation.get(row.reconciliationId ?? '') ?? [])])];
    // It acts on what others have charged, held or credited, and so lists that too.
    return isFirst(row) ? all.filter(({ flow }) => flow.type !== WORKFLOW_TYPES.paymentActions) : all;
  };
}

/** The operations that take, hold or send money first: all others follow one of these. */
export function isFirst({ kind }: Pick<Row, 'kind'>): boolean {
  return kind === 'charge' || kind === 'authorization' || kind === 'credit';
}

/** Only where one of them has no id: two ids that differ are two transactions. */
function mayBe({ kind, transactionId, paymentId, reconciliationId }: Row, claim: Claim): boolean {
  if (transactionId !== undefined && claim.transactionId !== undefined) return false;
  if (paymentId !== undefined && claim.paymentId !== undefined && paymentId !== claim.paymentId) return false;
  return claim.kind === kind && (paymentId !== undefined || reconciliationId !== undefined);
}

/** A void has no sum of its own. */
export function isSameSum({ kind, amount, currency }: Row, claim: Claim): boolean {
  if (kind === 'void') return true;
  const isSame = claim.amount === undefined || amount === undefined || claim.amount === amount;
  return isSame && (claim.currency === undefined || currency === undefined || claim.currency === currency);
}

/** Rows without a time last, in the order in which they stand. */
function byTime(a: Row, b: Row): number {
  return (a.created ?? Number.MAX_SAFE_INTEGER) - (b.created ?? Number.MAX_SAFE_INTEGER);
}
