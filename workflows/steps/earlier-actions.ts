import { ActivityFailure } from '@temporalio/workflow';
import { canonical, describeReuse, idempotencyKey } from '../../src/contract/idempotency.js';
import { FAILURE_TYPES, paymentWorkflowId, referenceOfWorkflowId } from '../../src/contract/names.js';
import type { TransactionEvent } from '../../src/contract/messages.js';
import type {
  ActionRecord,
  MadeTransactions,
  PaymentCreator,
  ToldOfCreator,
} from '../../src/contract/payment-actions.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import { findOurs } from '../../src/domain/ownership.js';
import type { PaymentFacts } from '../../src/domain/payment-sums.js';
import { hasFailed } from '../../src/domain/settling.js';
import { isLater } from '../../src/domain/told-otherwise.js';
import type { FlowState, MoneyCommand, Refusal } from '../flow/state.js';
import { showLasting } from '../flow/explain.js';
import { isOfPayment, noteTold, showUnseen } from '../flow/told.js';
import { engineLookup, read } from '../policies.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { whyOpen } from './acted.js';

/** What is known of the flow that created the payment. */
export interface Creator {
  /** undefined for a foreign payment, and before the service has been read. */
  workflowId: string | undefined;
  actions: ActionRecord[];
  /** The transactions that its result names; undefined for a foreign payment. */
  made?: MadeTransactions | undefined;
  /** A run of `paymentActions` has ended without recording what it did. */
  incomplete?: boolean;
  /** Not everything that the creating flow did on command is known. */
  lost?: boolean;
  /** Transactions that, by an operator's decision, no command given now has created. */
  disowned: string[];
  told?: ToldOfCreator[];
  /** Found as the run was opened. */
  found?: PaymentCreator | undefined;
  /** Epoch ms: when its flow was looked up last. */
  lookedAt?: number;
}

/** A payment as one read of the service shows it; our record stands in for lists that the service doesn't offer. */
export type ReadFacts = PaymentFacts & { holdfastWorkflowId?: string };

type Answer = NonNullable<MoneyCommand['answer']>;

/** @param paymentReference reference of the flow that created the payment; undefined for a foreign payment */
export function creatorOf(paymentReference: string | undefined): Creator {
  const workflowId = paymentReference === undefined ? undefined : paymentWorkflowId(paymentReference);
  return { workflowId, actions: [], incomplete: false, disowned: [] };
}

/** Takes over what earlier runs of `paymentActions` did on command. Looks the creating flow up for the first command. */
export async function restoreActions(flow: FlowState, creator: Creator): Promise<true> {
  const first = flow.queue.length > 0 ? creator.workflowId : undefined;
  const { result: earlier, creator: found } = decodedOrRetry(await engineLookup.findActionsBefore(first));
  creator.found = found;
  flow.actions.push(...(earlier?.actions ?? []));
  creator.told = [...(earlier?.toldOfCreator ?? [])];
  showUnseen(flow, creator.told);
  Object.assign(flow.refusedLists, earlier?.refusedLists);
  if (earlier?.disputed !== undefined) flow.dispute = { ...earlier.disputed, passedOn: true };
  creator.incomplete = earlier?.incomplete === true;
  return true;
}

/** Only the creating flow may act on the payment while that flow is open, also if a reset has reopened it. */
export async function creatorsWord(
  flow: FlowState,
  creator: Creator,
  workflowId: string | undefined,
): Promise<Answer | undefined> {
  if (workflowId === undefined) return undefined;
  const { open, handsOver, actions, made, told = [], lost = false } = await lookUp(creator, workflowId);
  if (open) return { refusal: whyOpen(workflowId, handsOver) };
  creator.workflowId = workflowId;
  creator.actions = actions;
  creator.made = made;
  creator.lost = lost;
  // They came while no run was open.
  const ofIt = told.filter((event) => isOfPayment(flow, event));
  const isNews = ofIt.map((event) => keepTold(creator, event, false)).includes(true);
  if (isNews) showUnseen(flow, creator.told ?? []);
  if (isNews) showLasting(flow);
  noteNews(flow, creator);
  return undefined;
}

/** ms. A flow may be reset at any time, and the next look must not be older than a look of its own would be. */
const AS_GOOD_AS_NEW_MS = 10_000;

/** Its age is that of the look and not of the task, which a reset or a lack of workers may bring hours later. */
function isNew(lookedAt = 0): boolean {
  return Math.abs(Date.now() - lookedAt) < AS_GOOD_AS_NEW_MS;
}

async function lookUp(creator: Creator, workflowId: string): Promise<PaymentCreator> {
  const look = async (): Promise<PaymentCreator> => {
    // The answer may come hours later, and the clock of a worker may be wrong.
    creator.lookedAt = Date.now();
    return decodedOrRetry(await engineLookup.findCreator(workflowId));
  };
  const { found } = creator;
  delete creator.found;
  const isSame = found !== undefined && workflowId === creator.workflowId;
  if (isSame) creator.lookedAt = found.lookedAt;
  const looked = isSame ? found : await look();
  return isNew(looked.lookedAt) && isNew(creator.lookedAt) ? looked : await look();
}

/**
 * Asks again once the payment was read: it may name another flow, and reads may take a day, in which a reset can open the
 * creating flow again.
 * @param maker the creating flow as the payment itself names it; a service need not echo it
 */
export async function answeredSince(
  flow: FlowState,
  creator: Creator,
  command: MoneyCommand,
  maker: string | undefined,
): Promise<{ answer: Answer; isOpen: boolean } | undefined> {
  const ask = async (workflowId: string | undefined) => {
    const open = await creatorsWord(flow, creator, workflowId);
    const answer = open ?? alreadyDone(flow, creator, command);
    return answer && { answer, isOpen: open !== undefined };
  };
  const late = maker === creator.workflowId ? undefined : await ask(maker);
  if (late !== undefined || creator.workflowId === undefined || isNew(creator.lookedAt)) return late;
  return await ask(creator.workflowId);
}

/** No real payment has more. */
const MOST_TOLD = 50;

/**
 * The creating flow has ended and learns nothing more: what contradicts its end counts for the commands here, until it is
 * taken back.
 * @returns whether it is news
 */
export function keepTold(creator: Creator, event: TransactionEvent, agrees: boolean): boolean {
  const { trusted, status, transactionId, created } = event;
  if (!trusted || status === undefined || status === 'Pending') return false;
  const { told = [] } = creator;
  const known = told.find((one) => one.event.transactionId === transactionId);
  // An event that takes back what comes after it is kept as well.
  if (known === undefined ? agrees && status === 'Succeed' : !isLater(created, known.event.created)) return false;
  creator.told = [...told.filter((one) => one !== known), { event, ...(agrees && { agrees }) }].slice(-MOST_TOLD);
  return true;
}

/**
 * Marks the commands, of this flow and of the creating one, that signed events contradict: what came before they were
 * known, which is kept until it is placed, and what was placed.
 */
export function noteNews(flow: FlowState, creator: Creator): void {
  flow.creatorsActions = creator.actions;
  for (const { event, seen } of creator.told ?? []) {
    noteTold(flow, event);
    if (seen !== true) continue;
    const ofIt = [...flow.actions, ...creator.actions].filter(
      ({ outcome }) => outcome.transactionId === event.transactionId,
    );
    for (const action of ofIt) if (action.told?.created === event.created) action.toldSeen = true;
  }
  for (const { event } of flow.unplaced ?? []) noteTold(flow, event);
}

/** Answers a repeated command with the first one's result, from this run, an earlier run or the creating flow. */
export function alreadyDone(
  flow: FlowState,
  creator: Creator,
  { commandId, name, request }: MoneyCommand,
): Answer | undefined {
  const earlier = actionsOf(flow, creator).find((action) => action.commandId === commandId);
  if (earlier === undefined) return undefined;
  if (earlier.action === name && earlier.request === canonical(request)) {
    const { refusal, outcome } = earlier;
    return refusal === undefined ? { outcome } : { refusal };
  }
  return {
    refusal: describeReuse(commandId, earlier.action),
    type: FAILURE_TYPES.referenceConflict,
  };
}

/**
 * Finds what an earlier run executed for this very command, if a reset or termination made us forget it. It is
 * followed, not sent again: the service may have forgotten the key, and the sums already count the transaction.
 */
export function madeBefore(
  flow: FlowState,
  { name, request }: MoneyCommand,
  sequence: string,
  facts: ReadFacts,
  actions: readonly ActionRecord[],
): TransactionRecord | undefined {
  const key = idempotencyKey(flow.workflowId, name, sequence);
  const reconciliationId = name === 'void' ? undefined : reconciliationIdOf(name, request, sequence);
  const known = new Set(actions.map(({ outcome }) => outcome.transactionId));
  const unknown = facts[`${name}s`].filter(({ transactionId }) => !known.has(transactionId));
  const named = unknown.filter(({ holdfastKey, reconciliationId: theirs }) =>
    holdfastKey === undefined ? theirs !== undefined && theirs === reconciliationId : holdfastKey === key,
  );
  return findOurs(named, { key, reconciliationId }).found;
}

/**
 * Transactions that the creating flow may have executed for this very command, with no record saying so. That flow's
 * key differs from this flow's, so the service would execute the command a second time.
 * @param amount minor units that the command would move
 */
export function perhapsDone(
  { workflowId, lost = false, disowned }: Creator,
  { name }: MoneyCommand,
  amount: number,
  facts: ReadFacts,
  actions: readonly ActionRecord[],
): TransactionRecord[] {
  if (workflowId === undefined) return [];
  const ids = new Set([...disowned, ...actions.flatMap(({ outcome }) => outcome.transactionId ?? [])]);
  const keys = new Set(actions.map(({ key }) => key));
  const itsReference = referenceOfWorkflowId(workflowId);
  return facts[`${name}s`].filter((record) => {
    const { transactionId, holdfastKey, reconciliationId, amount: moved = facts.amount } = record;
    if (ids.has(transactionId) || (holdfastKey !== undefined && keys.has(holdfastKey))) return false;
    if (hasFailed(record) || (name !== 'void' && moved !== amount)) return false;
    if (holdfastKey !== undefined) return holdfastKey.startsWith(`${workflowId}:`);
    // Without a key and a reconciliation id it may be anyone's: it counts only if the creating flow's record is lost.
    return reconciliationId === undefined ? lost : reconciliationId === itsReference;
  });
}

export function actionsOf(flow: FlowState, { actions }: Creator): ActionRecord[] {
  return [...actions, ...flow.actions];
}

export function ownIds(actions: readonly ActionRecord[], name: MoneyCommand['name']): string[] {
  return actions.filter(({ action }) => action === name).flatMap(({ outcome }) => outcome.transactionId ?? []);
}

/**
 * Transactions of others, listed before this operation's first POST. After a reset the list may hold the operation's
 * own transaction, which its key or reconciliation id excludes.
 */
export function othersOf(
  records: readonly TransactionRecord[],
  own: readonly string[],
  key: string,
  reconciliationId: string,
): string[] {
  return records
    .filter((record) => record.holdfastKey !== key && record.reconciliationId !== reconciliationId)
    .map(({ transactionId }) => transactionId)
    .filter((id) => !own.includes(id));
}

export function reconciliationIdOf(name: string, request: MoneyCommand['request'], sequence: string): string {
  return ('reference' in request ? request.reference : undefined) ?? `${name}-${sequence}`;
}

/**
 * Checks that the flow named when this run was opened created this payment, before its record is used. If someone
 * opened the run by hand and named another payment's flow, a command would be answered with what was done to that
 * payment, or refused for as long as that flow is open.
 */
export async function isForeignPayment(
  flow: FlowState,
  creator: Creator,
  wouldAnswer: boolean,
): Promise<Refusal | undefined> {
  const { businessUnit, madeUnder, paymentId = '' } = flow;
  const { workflowId, made } = creator;
  // The creating flow's own result names this payment.
  if (workflowId === undefined || made?.paymentId === paymentId) return undefined;
  if (made === undefined && !wouldAnswer) return undefined;
  try {
    const { holdfastWorkflowId } = decodedOrRetry(await read.getPayment({ businessUnit, madeUnder, paymentId }));
    return isOfForeignFlow(flow, creator, holdfastWorkflowId);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return undefined;
  }
}

/** @param maker the creating flow as the payment itself names it; a service need not echo it */
export function isOfForeignFlow(
  { paymentId }: FlowState,
  creator: Creator,
  maker: string | undefined,
): Refusal | undefined {
  const { workflowId, made } = creator;
  if (workflowId === undefined) return undefined;
  const again = 'nothing was sent; open the commands to this payment with its own reference';
  if (maker !== undefined && maker !== workflowId)
    return { refusal: `payment ${paymentId} was made by "${maker}", not by "${workflowId}": ${again}` };
  if (maker === undefined && made !== undefined && made.paymentId !== paymentId)
    return { refusal: `"${workflowId}" has made payment ${made.paymentId}, not ${paymentId}: ${again}` };
  return undefined;
}
