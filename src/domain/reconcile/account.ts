import { WORKFLOW_TYPES } from '../../contract/names.js';
import { TOLD_OF_CREATOR } from '../../contract/payment-actions.js';
import type { FlowFacts } from '../../contract/reconcile.js';
import type { TransactionKind } from '../../contract/records.js';
import { madeByFlow, UNKNOWN_ID } from '../ownership.js';

/** One transaction that a flow says has succeeded. */
export interface Claim {
  readonly workflowId: string;
  /** undefined: the flow has adopted the transaction by its id, and does not say of which kind it is. */
  readonly kind: TransactionKind | undefined;
  readonly transactionId: string | undefined;
  /** What the operation was sent with, if that is not the reference of its flow. */
  readonly reconciliationId?: string | undefined;
  readonly paymentId: string | undefined;
  /** Minor units; undefined of a void, which has no sum of its own. */
  readonly amount: number | undefined;
  readonly currency: string | undefined;
  /** Epoch ms between which the service has made it. */
  readonly from: number;
  readonly to: number;
  /** Epoch ms: since when the flow knows that it succeeded. */
  readonly known: number;
}

/** Why the service is asked about a flow although that has ended. */
type Doubt = 'unconfirmed' | 'operator' | 'contradicted';

/** What a flow accounts for. */
export interface Account {
  readonly claims: readonly Claim[];
  /** Transactions that it says have failed. */
  readonly failed: ReadonlySet<string>;
  /** Every short text of its result, and so every id. */
  readonly named: ReadonlySet<string>;
  readonly doubts: ReadonlySet<Doubt>;
}

/** Types of flow that may move money. */
export const MONEY_TYPES: readonly string[] = [
  WORKFLOW_TYPES.charge,
  WORKFLOW_TYPES.authorizeAndCapture,
  WORKFLOW_TYPES.credit,
  WORKFLOW_TYPES.storeCard,
  WORKFLOW_TYPES.paymentActions,
  WORKFLOW_TYPES.resolvePending,
];

type Result = Readonly<Record<string, unknown>>;
type Part = Partial<Pick<Claim, 'reconciliationId' | 'amount' | 'currency' | 'from' | 'to' | 'known'>>;

const LISTS = {
  authorizations: 'authorization',
  charges: 'charge',
  captures: 'capture',
  refunds: 'refund',
  voids: 'void',
} as const;

/** What a flow accounts for by its result. Without a result that is nothing. */
export function accountOf(flow: FlowFacts): Account {
  const result = asObject(flow.result ?? flow.openResult);
  const claims = new Map<string, Claim>();
  const add = (kind: TransactionKind | undefined, id: unknown, part: Part = {}): void => {
    const transactionId = isNamed({ transactionId: id }) ? (id as string) : undefined;
    const key = transactionId ?? `${kind} without an id ${claims.size}`;
    const known = claims.get(key);
    const { reconciliationId } = part;
    if (known !== undefined) {
      // Of a hold's capture only its command says what it was sent with.
      if (reconciliationId !== undefined) claims.set(key, { ...known, reconciliationId });
      return;
    }
    claims.set(key, { ...whole(flow, result), ...part, kind, transactionId, workflowId: flow.workflowId });
  };
  claimsOfStory(flow.type, result, add);
  const failed = new Set<string>();
  // In doubt, the time that the whole flow took: an operation of its own has its own evidence.
  const claimed = new Set<string>();
  // What names its transaction comes first: a command that was asked for again has answered again.
  for (const action of listOf(result['actions']).sort(namedFirst))
    claimOfAction(flow, action, { add, failed, claimed });
  if (hasFailed(result)) note(failed, result['transactionId']);
  note(failed, asObject(result['voided'])['transactionId']);
  const named = new Set<string>();
  const doubts = new Set<Doubt>();
  walk(result, named, doubts);
  return { claims: [...claims.values()], failed, named, doubts };
}

type Add = (kind: TransactionKind | undefined, id: unknown, part?: Part) => void;

function claimsOfStory(type: string, result: Result, add: Add): void {
  const { status, transactionId } = result;
  if (type === WORKFLOW_TYPES.storeCard) return claimsOfConsent(result, add);
  if (type === WORKFLOW_TYPES.credit || type === WORKFLOW_TYPES.resolvePending) {
    const kind = type === WORKFLOW_TYPES.credit ? ('credit' as const) : undefined;
    if (status === 'succeeded') add(kind, transactionId, timesOf(result, true));
    return;
  }
  const made = madeByFlow(type, result);
  if (made === undefined) return;
  for (const [list, kind] of Object.entries(LISTS) as [keyof typeof LISTS, TransactionKind][]) {
    for (const { transactionId: id, amount } of made[list]) {
      // That a hold has lapsed is told as a void of unknown id: the service shows none.
      if (kind === 'void' && id === UNKNOWN_ID) continue;
      const own = id === transactionId ? timesOf(result, true) : {};
      add(kind, id, { amount: kind === 'void' ? undefined : amount, ...own } as Part);
    }
  }
}

/** A refund that was not confirmed is not claimed: it may have failed. */
function claimsOfConsent(result: Result, add: Add): void {
  const { status, transactionId } = result;
  if (status !== 'stored' && status !== 'consentedNotStored') return;
  const money = asObject(result['money']);
  const isHold = ['voided', 'expired', 'capturedElsewhere'].includes(String(money['status']));
  add(isHold ? 'authorization' : 'charge', transactionId, timesOf(result, true));
  if (money['status'] === 'refunded') add('refund', money['transactionId'], timesOf(money));
  if (money['status'] === 'voided' && typeof money['transactionId'] === 'string')
    add('void', money['transactionId'], { amount: undefined, ...timesOf(money) } as Part);
}

function claimOfAction(
  flow: FlowFacts,
  action: Result,
  { add, failed, claimed }: { add: Add; failed: Set<string>; claimed: Set<string> },
): void {
  const { action: kind, key } = action;
  const outcome = asObject(action['outcome']);
  if (kind !== 'refund' && kind !== 'capture' && kind !== 'void') return;
  if (hasFailed(outcome)) note(failed, outcome['transactionId']);
  if (outcome['status'] !== 'succeeded') return;
  const command = typeof key === 'string' ? `${kind}${key.slice(key.lastIndexOf(':'))}` : undefined;
  if (command !== undefined && claimed.has(command) && !isNamed(outcome)) return;
  if (command !== undefined) claimed.add(command);
  const { amount, currency } = outcome;
  add(kind, outcome['transactionId'], {
    reconciliationId: sentWith(flow, kind, action),
    ...(kind === 'void' ? { amount: undefined } : typeof amount === 'number' && { amount }),
    ...(typeof currency === 'string' && { currency }),
    ...timesOf(outcome, true),
  } as Part);
}

function isNamed({ transactionId: id }: Result): boolean {
  return typeof id === 'string' && id !== UNKNOWN_ID;
}

function namedFirst(one: Result, other: Result): number {
  return Number(isNamed(asObject(other['outcome']))) - Number(isNamed(asObject(one['outcome'])));
}

/** A command to an ended payment has a reconciliation id of its own: the caller's reference, or one made of its key. */
function sentWith({ type }: FlowFacts, kind: 'refund' | 'capture' | 'void', action: Result): string | undefined {
  const { reference, key } = action;
  if (typeof reference === 'string') return reference;
  if (type !== WORKFLOW_TYPES.paymentActions || typeof key !== 'string') return undefined;
  return `${kind}-${key.slice(key.lastIndexOf(':') + 1)}`;
}

/** The service's own time where the result has it, otherwise between the start and the end of the operation. */
function timesOf(result: Result, withDetails = false): Part {
  const created = withDetails ? timeOf(asObject(result['details'])['createdAt']) : undefined;
  const { startedAt, settledAt } = asObject(result['evidence']);
  const [from, known] = [created ?? timeOf(startedAt), timeOf(settledAt)];
  const to = created ?? known;
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(known !== undefined && { known }),
  };
}

function whole(
  flow: FlowFacts,
  result: Result,
): Omit<Claim, 'kind' | 'transactionId' | 'reconciliationId' | 'workflowId'> {
  const { amount, currency, paymentId } = result;
  return {
    paymentId: typeof paymentId === 'string' ? paymentId : flow.paymentId,
    amount: typeof amount === 'number' ? amount : flow.amount,
    currency: typeof currency === 'string' ? currency : flow.currency,
    from: flow.startedAt,
    to: flow.closedAt ?? Number.POSITIVE_INFINITY,
    known: flow.closedAt ?? flow.startedAt,
  };
}

/** Longer texts are for people. */
const LONGEST_ID = 255;

function walk(value: unknown, named: Set<string>, doubts: Set<Doubt>): void {
  if (typeof value === 'string' && value.length <= LONGEST_ID) named.add(value);
  if (typeof value !== 'object' || value === null) return;
  const { confirmed, knownBy, despiteVoid } = value as Result;
  if (confirmed === false) doubts.add('unconfirmed');
  if (knownBy === 'operator') doubts.add('operator');
  if (despiteVoid !== undefined) doubts.add('contradicted');
  for (const [name, part] of Object.entries(value)) if (name !== TOLD_OF_CREATOR) walk(part, named, doubts);
}

/** An operator may have said of a transaction with an id that it was not executed: the service may know better. */
function hasFailed({ status }: Result): boolean {
  return status === 'declined' || status === 'notExecuted';
}

function note(to: Set<string>, id: unknown): void {
  if (typeof id === 'string') to.add(id);
}

function asObject(value: unknown): Result {
  return typeof value === 'object' && value !== null ? (value as Result) : {};
}

function listOf(value: unknown): Result[] {
  return Array.isArray(value) ? value.map(asObject) : [];
}

function timeOf(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
