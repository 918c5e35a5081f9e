import { WORKFLOW_TYPES } from '../../contract/names.js';
import type { Finding, FindingKind, FlowFacts } from '../../contract/reconcile.js';
import { TRANSACTION_KINDS, type TransactionKind } from '../../contract/records.js';
import { knownRows, type KnownToOpen } from './known.js';
import { type Accounted, isSameSum, type Match, type Pair, type Row } from './match.js';
import { days, iso, nameOf, sayAsked, sayClaim, sayRow } from './sentences.js';
import { groupedByIntent, intentOf, isOnce, twinsOfAdopted } from './twins.js';
import { referenceOf } from './unfollowed.js';
import { releasedPayments, voidsOfOthers } from './voided.js';

/** What the rows are, and what they can prove. */
export interface Frame {
  readonly source: Finding['source'];
  /** Epoch ms between which every transaction of `kinds` and `units` is among the rows. */
  readonly covers: { readonly from: number; readonly until: number };
  readonly kinds: ReadonlySet<TransactionKind>;
  /** undefined: all. */
  readonly units: ReadonlySet<string> | undefined;
  /** How long money may be on its way: what is in flight for longer is late. */
  readonly windowMs: number;
  /** How long after it was made a transaction is among the rows at the latest. */
  readonly listedAfterMs: number;
  readonly now: number;
  /** Rows that flows which nobody knows any more, or another system, may account for. A statement leaves these out. */
  readonly ofOthers?: ReadonlySet<Row>;
  readonly knownToOpen: KnownToOpen;
}

/** An open flow in one of these does not know yet how its money operation ended. */
const UNDECIDED: ReadonlySet<string | undefined> = new Set(['started', 'underReview', 'pending', 'unknown', undefined]);

/**
 * Every difference between the rows and the flows. What is in flight, or within the settlement window, is none.
 */
export function differences(matched: Match, frame: Frame): Finding[] {
  const known = new Set([...knownRows(matched, frame.knownToOpen), ...(frame.ofOthers ?? [])]);
  const twins = groupedByIntent(matched, known);
  const beside = { voidOf: voidsOfOthers(matched, known), twinOf: twinsOfAdopted(matched, twins) };
  const ofPairs = matched.pairs.flatMap((pair) => ofPair(pair, matched, frame, beside));
  const { found, unclear } = ofRows(matched, frame, known, twins);
  return [...ofPairs, ...found, ...ofClaims(matched, unclear, frame)];
}

/** The rows whose open flows must say whether they know them, by workflow id. */
export function toBeKnown(matched: Match): Map<string, string[]> {
  const asked = new Map<string, string[]>();
  for (const row of matched.rows) {
    if (row.transactionId === undefined) continue;
    for (const { flow } of matched.flowsOf(row))
      if (flow.state === 'open') asked.set(flow.workflowId, [...(asked.get(flow.workflowId) ?? []), row.transactionId]);
  }
  return asked;
}

function ofPair(
  { row, claim }: Pair,
  { flows }: Match,
  frame: Frame,
  { voidOf, twinOf }: Record<'voidOf' | 'twinOf', (row: Row) => Row | undefined>,
): Finding[] {
  const flow = flows.get(claim.workflowId)?.flow;
  const make = (kind: FindingKind, explanation: string): Finding[] => [
    finding(kind, row.transactionId ?? claim.transactionId ?? nameOf(claim), explanation, frame, row, flow),
  ];
  const says = `${claim.workflowId} says that ${sayClaim(claim)} succeeded`;
  if (row.status === 'Failed') return make('flowWithoutMoney', `${says}, and ${who(frame)} has it as Failed.`);
  const cancelling = voidOf(row);
  if (cancelling !== undefined)
    return make('flowWithoutMoney', `${says}, and ${who(frame)} has its payment as voided, by ${sayRow(cancelling)}.`);
  const twin = twinOf(row);
  if (twin !== undefined) return make(...sayTwice(row, twin, frame));
  // A flow's clock stands still while it calls: the service's own time may be later.
  const known = Math.max(claim.known, claim.to);
  const isPending = row.status === 'Pending';
  const booked = isPending ? Math.min(frame.covers.until, frame.now) : row.settled;
  const delay = booked === undefined ? 0 : booked - known;
  const isLate = delay > frame.windowMs;
  if (isPending && !isLate) return [];
  if (!isSameSum(row, claim) || (claim.kind ?? row.kind) !== row.kind)
    return make('otherAmount', `${says}, and ${who(frame)} has it as ${sayRow(row)}.`);
  if (!isLate) return [];
  const when = isPending
    ? `has it as Pending ${days(delay)} later`
    : `has booked it ${days(delay)} later, at ${iso(booked ?? 0)}`;
  return make('late', `${says} by ${iso(known)}, and ${who(frame)} ${when}.`);
}

/**
 * @returns `unclear`: the references of findings without an id. Which of a flow's claims such a row is, nobody can tell,
 * and one finding of it is enough.
 */
function ofRows(
  matched: Match,
  frame: Frame,
  known: ReadonlySet<Row>,
  twins: Map<string, Row[]>,
): { found: Finding[]; unclear: Set<string | undefined> } {
  const found: Finding[] = [];
  const unclear = new Set<string | undefined>();
  const released = releasedPayments([...matched.pairs.map(({ row }) => row), ...matched.rows]);
  const names = new Map<string, number>();
  for (const row of matched.rows) {
    // A void moves no money: what it has not released shows as a hold.
    if (row.kind === 'void' || (row.kind === 'authorization' && released.has(row.paymentId ?? 'none'))) continue;
    const flows = matched.flowsOf(row);
    const alike = twins.get(intentOf(row)) ?? [];
    const made = known.has(row) ? ofKnown(row, flows, alike, frame) : ofRow(row, flows, alike, frame);
    if (made === undefined) continue;
    if (row.transactionId === undefined) unclear.add(row.reconciliationId);
    const name = row.transactionId ?? nameOfLine(row);
    const times = (names.get(name) ?? 0) + 1;
    names.set(name, times);
    const [kind, explanation] = made;
    const subject = times === 1 ? name : `${name}-${times}`;
    found.push(finding(kind, subject, explanation, frame, row, flows[0]?.flow));
    // What is only late is accounted for: a second one beside it is one too many.
    if (kind === 'late') twins.set(intentOf(row), [...(twins.get(intentOf(row)) ?? []), row]);
  }
  return { found, unclear };
}

/** With its time: an equal line of another day is another transaction, whatever was said of this one. */
function nameOfLine({ reconciliationId, kind, amount, currency, created, settled }: Row): string {
  const time = created ?? settled;
  return [reconciliationId, kind, amount, currency, ...(time === undefined ? [] : [iso(time)])].join('-');
}

type Told = [kind: FindingKind, explanation: string];
type Made = Told | undefined;

/** A flow may know of two charges of its reference, and an open one neither take a sum nor come to an end. */
function ofKnown(row: Row, flows: readonly Accounted[], alike: readonly Row[], frame: Frame): Made {
  const [first] = alike;
  if (isOnce(row) && first !== undefined && first !== row) return sayTwice(row, first, frame);
  const own = openMaker(row, flows);
  if (own === undefined) return undefined;
  if (isOtherSum(row, own)) return sayOtherSum(row, own, frame);
  // Since it was made it may have been pending.
  return row.settled === undefined ? undefined : ofWaiting(row, own, frame.now - row.settled, frame);
}

function ofRow(row: Row, flows: readonly Accounted[], twins: readonly Row[], frame: Frame): Made {
  const what = `${who(frame)} has ${sayRow(row)}`;
  const own = openMaker(row, flows);
  if (own !== undefined && isOtherSum(row, own)) return sayOtherSum(row, own, frame);
  // In flight: the flow may come to know of it. Without a time the row is as young as it can be.
  const age = frame.now - (row.settled ?? row.created ?? frame.covers.until);
  if (flows.some(({ flow }) => flow.state === 'open') && age <= frame.windowMs) return undefined;
  const [twin] = twins;
  if (twin !== undefined) return sayTwice(row, twin, frame);
  const waiting = own === undefined ? undefined : ofWaiting(row, own, age, frame);
  return waiting ?? ['moneyWithoutFlow', `${what}, ${whyNobody(row, flows)}.`];
}

function ofWaiting(row: Row, flow: FlowFacts, age: number, frame: Frame): Made {
  if (age <= frame.windowMs || !UNDECIDED.has(flow.status)) return undefined;
  return ['late', `${who(frame)} has ${sayRow(row)}, and ${flow.workflowId} still waits for it, ${days(age)} later.`];
}

function sayTwice(row: Row, beside: Row, frame: Frame): Told {
  const both = `${sayRow(row)}, beside ${sayRow(beside)}`;
  return ['moneyTwice', `${who(frame)} has ${both} for the same request: one of them is too many.`];
}

function sayOtherSum(row: Row, flow: FlowFacts, frame: Frame): Made {
  return ['otherAmount', `${who(frame)} has ${sayRow(row)}, and ${flow.workflowId} has asked for ${sayAsked(flow)}.`];
}

/** The open flow whose operation this is. */
function openMaker(row: Row, flows: readonly Accounted[]): FlowFacts | undefined {
  return flows.find(({ flow }) => flow.state === 'open' && isMadeBy(row, flow))?.flow;
}

function whyNobody(row: Row, flows: readonly Accounted[]): string {
  const failed = flows.find(({ account }) => account.failed.has(row.transactionId ?? ''));
  if (failed !== undefined) return `and ${failed.flow.workflowId} has ended with it as failed`;
  const stopped = flows.find(({ flow }) => flow.state === 'stopped');
  if (stopped !== undefined)
    return `and ${stopped.flow.workflowId}, which was to follow it, was stopped from outside before it had a result`;
  const [first] = flows;
  if (first === undefined) return 'and no flow has its reference, its payment or its id';
  return `and ${first.flow.workflowId} (${first.flow.status ?? first.flow.state}) knows nothing of it`;
}

function ofClaims({ claims, flows }: Match, unclear: Set<string | undefined>, frame: Frame): Finding[] {
  const { covers, listedAfterMs, kinds, units } = frame;
  return claims.flatMap((claim) => {
    const flow = flows.get(claim.workflowId)?.flow;
    const isCovered = claim.from >= covers.from && claim.to + listedAfterMs <= covers.until;
    const isListed = claim.kind === undefined ? kinds.size === TRANSACTION_KINDS.length : kinds.has(claim.kind);
    const isOfUnit = units === undefined || units.has(flow?.businessUnit ?? '');
    if (!isCovered || !isListed || !isOfUnit || unclear.has(referenceOf(flow) ?? '')) return [];
    const explanation = `${claim.workflowId} says that ${sayClaim(claim)} succeeded, and ${who(frame)} has no such transaction.`;
    const shown = { ...claim, kind: claim.kind ?? 'charge', reconciliationId: undefined } as const;
    return [finding('flowWithoutMoney', claim.transactionId ?? nameOf(claim), explanation, frame, shown, flow)];
  });
}

const FIRST_OF: Readonly<Record<string, TransactionKind>> = {
  [WORKFLOW_TYPES.charge]: 'charge',
  [WORKFLOW_TYPES.authorizeAndCapture]: 'authorization',
  [WORKFLOW_TYPES.credit]: 'credit',
};

/** True for the operation that the flow was started for. */
function isMadeBy({ kind }: Row, flow: FlowFacts): boolean {
  return FIRST_OF[flow.type] === kind;
}

function isOtherSum({ amount, currency }: Row, flow: FlowFacts): boolean {
  const isOther = (shown: unknown, asked: unknown): boolean =>
    shown !== undefined && asked !== undefined && shown !== asked;
  return isOther(amount, flow.amount) || isOther(currency, flow.currency);
}

type Shown = Pick<Row, 'kind' | 'amount' | 'currency' | 'paymentId' | 'transactionId' | 'reconciliationId'>;

function finding(
  kind: FindingKind,
  subject: string,
  explanation: string,
  { source }: Frame,
  shown: Shown,
  flow: FlowFacts | undefined,
): Finding {
  const paymentId = shown.paymentId ?? flow?.paymentId;
  const reference = shown.reconciliationId ?? referenceOf(flow);
  return {
    kind,
    subject,
    explanation,
    source,
    transactionKind: shown.kind,
    ...(flow !== undefined && { workflowId: flow.workflowId }),
    ...(reference !== undefined && { reference }),
    ...(paymentId !== undefined && { paymentId }),
    ...(shown.transactionId !== undefined && { transactionId: shown.transactionId }),
    ...(shown.amount !== undefined && { amount: shown.amount }),
    ...(shown.currency !== undefined && { currency: shown.currency }),
    ...(flow?.businessUnit !== undefined && { businessUnit: flow.businessUnit }),
  };
}

const who = ({ source }: Frame): string => (source === 'service' ? 'the service' : 'the statement');
