import type { FailureType } from '../../src/contract/names.js';
import { idempotencyKey } from '../../src/contract/idempotency.js';
import type { FinalStepOutcome, VoidedTransaction, VoidOfPending } from '../../src/contract/outcome.js';
import type { PaymentRecord, TransactionRecord } from '../../src/contract/records.js';
import { pollDelay, WINDOW_MARGIN_MS } from '../../src/domain/schedules.js';
import { addLasting } from '../flow/new-state.js';
import { nextMessage, putAside, returnFromAside } from '../flow/inbox.js';
import { noteAction } from '../flow/outcomes.js';
import { resumable } from '../flow/continue.js';
import type { FlowState, Message, PendingVoids, VoidOf } from '../flow/state.js';
import { toldAgainst } from '../flow/told.js';
import { takeBackReason } from '../flow/explain.js';
import { read } from '../policies.js';
import { beginStep, moneyStep, tryExecute } from './money-step.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { foundBefore } from './open-tries.js';
import { READS } from './read.js';
import { handleFailedRead } from './operator.js';
import { readRefusal } from './failures.js';
import { hasBeenVoided, settle, type Voids } from './settle.js';

/** ms for which a read's offer of a void counts: a void sent later could reverse what has been captured since. */
const OFFER_HOLDS_MS = 60_000;

/** @param count continues the count of the voids that the flow has sent before */
export function noPendingVoids(count: PendingVoids['count'] = { sequence: 0, ids: [] }): PendingVoids {
  return { count, sent: [], notFound: [] };
}

/** How a void is sent: with which key, and which other voids the payment has. */
interface VoidPlan {
  readonly sequence: number | string;
  readonly own: string[];
  /**
   * Minor units that it releases, unless the service says otherwise: all that is held, not only the amount of a partial
   * capture.
   */
  readonly amount: number;
  /** Voids of others; undefined if only this flow voids. */
  readonly noted?: string[];
}

/** A void on command, for a flow that doesn't count its voids. */
interface PlannedVoid {
  plan: VoidPlan;
  /** Why no void may be sent. A void that an earlier run has sent is still followed. */
  whyNot?: string | undefined;
  /** The void that an earlier run has created for this very command: it is followed, and nothing is sent. */
  made?: TransactionRecord | undefined;
}

/** @returns an answer if the command was executed before */
export type PlanVoid = (command: VoidOf) => Promise<PlannedVoid | { answer: NonNullable<VoidOf['answer']> }>;

/**
 * Voids an operation of the flow while it is pending: only on a command, and only if a read at that moment offers a
 * void. Both are followed to their end, so that neither counts as ended while it may still move money.
 * @param so saved state that continue-as-new carries along, nothing that only this run remembers
 */
export function pendingVoids(flow: FlowState, so: PendingVoids, planVoid?: PlanVoid): Voids {
  const carryOut = (command: VoidOf): Promise<void> =>
    resumable(
      flow,
      'voidPending',
      (): Voiding => ({}),
      (notes) => voidOnCommand(flow, so, { command, planVoid }, notes),
    );
  return { so, carryOut };
}

interface Voiding {
  /** Set once the void is under way. */
  kept?: Kept;
  plan?: VoidPlan;
  made?: TransactionRecord;
}

async function voidOnCommand(
  flow: FlowState,
  so: PendingVoids,
  { command, planVoid }: { command: VoidOf; planVoid: PlanVoid | undefined },
  notes: Voiding,
): Promise<void> {
  const { count } = so;
  if (notes.kept === undefined) {
    const planned = (await planVoid?.(command)) ?? { plan: counted(flow, count, count.sequence + 1) };
    if ('answer' in planned) {
      command.answer = planned.answer;
      return;
    }
    // After a reset Temporal delivers several voids at once, and no validator has refused the later ones.
    if (hasBeenVoided(so)) {
      command.answer = { refusal: HAS_BEEN_VOIDED };
      return;
    }
    const { plan, made } = planned;
    const why = made === undefined ? (planned.whyNot ?? (await whyNotOffered(flow))) : undefined;
    const sentBefore = why === undefined ? made : await listedVoid(flow, plan.sequence);
    if (why !== undefined && (sentBefore === undefined || sentBefore === 'none')) {
      const unread = `${why}, and whether one was sent before can not be read`;
      // A void that an earlier run may have sent is not followed then: the command, repeated, gets this answer again.
      if (planVoid !== undefined && sentBefore === undefined)
        addLasting(flow, `void "${command.commandId}": ${unread}`);
      if (planVoid !== undefined) so.notFound.push(plan.sequence);
      command.answer = { refusal: `nothing is sent now: ${sentBefore === undefined ? unread : why}` };
      return;
    }
    notes.kept = keep(flow);
    notes.plan = plan;
    // A counted void is sent by this flow alone: its activity looks for it before it sends.
    if (planVoid !== undefined && typeof sentBefore === 'object') notes.made = sentBefore;
    flow.beingVoided = { kind: notes.kept.kind, transactionId: notes.kept.perhaps.transactionId };
    putAside(flow);
    beginStep(flow, 'void', plan.amount);
    count.sequence += 1;
    takeBackReason(flow, { status: 'voiding', waitingFor: 'provider', dueAt: null });
  }
  const { kept, made, plan = counted(flow, count, count.sequence) } = notes;
  const ended = made === undefined ? await sendVoid(flow, plan) : await settle(flow, foundBefore(made));
  restore(flow, kept);
  if ('refused' in ended) {
    const { message, type } = ended.refused;
    command.answer = { refusal: message, type: type as FailureType };
  } else {
    if (ended.transactionId !== undefined) count.ids.push(ended.transactionId);
    flow.voidsOfPending = [...count.ids];
    so.sent.push({ command, sequence: plan.sequence, outcome: ended });
    // A succeeded void is answered once it is known whether it came in time.
    if (ended.status !== 'succeeded') answerVoid(flow, { command, sequence: plan.sequence, outcome: ended });
  }
}

function counted({ amount }: FlowState, { ids }: PendingVoids['count'], sequence: number): VoidPlan {
  return { sequence, own: [...ids], amount };
}

/**
 * Whether the operation has failed since it was voided, or has succeeded all the same. Answers the void accordingly.
 */
export function endOfVoids(
  flow: FlowState,
  { sent }: PendingVoids,
  ended: FinalStepOutcome,
): { despiteVoid: VoidOfPending } | { voided: VoidedTransaction; outcome: FinalStepOutcome } | undefined {
  const done = sent.find(({ outcome }) => outcome.status === 'succeeded');
  const last = done ?? sent.at(-1);
  if (last === undefined) return undefined;
  if (ended.status === 'succeeded') {
    const { status, transactionId } = last.outcome;
    const why =
      `the ${flow.kind} ${ended.transactionId ?? ''} has succeeded although it was voided while it was pending ` +
      `(void ${transactionId ?? 'of unknown id'}: ${status})`;
    addLasting(flow, why);
    if (done !== undefined) answerVoid(flow, done, why);
    return { despiteVoid: { status, ...(transactionId !== undefined && { transactionId }) } };
  }
  if (done === undefined) return undefined;
  const { status, transactionId } = ended;
  const unconfirmed = status === 'declined' && !ended.confirmed;
  if (unconfirmed) {
    // The operation may have taken the money all the same, and then the void has not reversed it.
    const why =
      `nobody has confirmed that the ${flow.kind} ${transactionId ?? ''} has failed, which was voided while it was ` +
      `pending (void ${done.outcome.transactionId ?? 'of unknown id'}: ${done.outcome.status})`;
    addLasting(flow, why);
    answerVoid(flow, done, why);
  } else answerVoid(flow, done);
  const voided = {
    status,
    ...(transactionId !== undefined && { transactionId }),
    ...(status === 'declined' && { category: ended.category }),
    ...(unconfirmed && { confirmed: false as const }),
  };
  return { voided, outcome: done.outcome };
}

/** @param refusal why a succeeded void may have reversed nothing: a repeated command gets the same answer */
function answerVoid(
  flow: FlowState,
  { command, sequence, outcome }: PendingVoids['sent'][number],
  refusal?: string,
): void {
  command.answer = noteAction(flow, command, sequence, outcome, refusal);
}

async function sendVoid(flow: FlowState, { sequence, own, noted }: VoidPlan) {
  const { paymentId = '' } = flow;
  return await tryExecute(
    flow,
    moneyStep(flow, {
      paymentId,
      operation: 'void',
      sequence,
      knownTransactionIds: own,
      // A void that leaves after news of an earlier capture could undo that one.
      ...(noted !== undefined && { notedTransactionIds: noted, unwanted: () => toldAgainst(flow, 'void').length > 0 }),
      postUntil: Date.now() + OFFER_HOLDS_MS,
      post: (activities, call) => activities.createVoid({ ...call, postUntil: call.postUntil + WINDOW_MARGIN_MS }),
    }),
  );
}

/** Returns undefined if the service offers the void now. */
async function whyNotOffered(flow: FlowState): Promise<string | undefined> {
  const { businessUnit, madeUnder, paymentId = '' } = flow;
  let payment: PaymentRecord;
  try {
    payment = await read.getPayment({ businessUnit, madeUnder, paymentId });
  } catch (error) {
    handleFailedRead(flow, error);
    return 'the service could not be asked whether it offers a void of what is pending';
  }
  const { status, nextActions } = decodedOrRetry(payment);
  // An operation that has ended must not be voided: that could reverse money that was taken. A credit leaves its payment as it
  // was, and nothing can be voided of one that has ended.
  const isWhilePending = status === 'Pending' || (status === 'Initialized' && flow.kind === 'credit');
  if (!isWhilePending && status !== 'unknown') return `the service shows the payment as ${status}`;
  return nextActions?.includes('Void') === true ? undefined : 'the service offers no void of what is pending';
}

/** Reads of the voids, over about 20 minutes, before the caller gets an answer without them. */
const MOST_READS_OF_VOIDS = 6;

/** The void that an earlier run has sent under this key; undefined if that can't be read. */
async function listedVoid(flow: FlowState, sequence: number | string): Promise<TransactionRecord | 'none' | undefined> {
  const key = idempotencyKey(flow.workflowId, 'void', sequence);
  const listed = await listVoids(flow);
  return listed && (listed.find(({ holdfastKey }) => holdfastKey === key) ?? 'none');
}

/**
 * A failed read of the list is repeated: taking it for an empty list would lose a void that was sent. Returns an empty
 * list if the service refuses the list; undefined if it can't be read.
 */
export async function listVoids(flow: FlowState): Promise<TransactionRecord[] | undefined> {
  const { businessUnit, madeUnder, paymentId = '', currency } = flow;
  const meanwhile: Message[] = [];
  try {
    for (let reads = 1; ; reads += 1) {
      let records: TransactionRecord[] | undefined;
      try {
        records = await READS.void.list({ businessUnit, madeUnder, paymentId, currency });
      } catch (error) {
        handleFailedRead(flow, error);
        if (readRefusal(error) !== undefined) return [];
      }
      // Outside the try: what this worker can't decode must fail the task, for a worker that can.
      if (records !== undefined) return decodedOrRetry(records);
      if (reads === MOST_READS_OF_VOIDS) return undefined;
      const message = await nextMessage(flow, pollDelay(reads - 1), 'Until the voids can be read');
      if (message !== undefined) meanwhile.push(message);
    }
  } finally {
    flow.inbox.unshift(...meanwhile);
  }
}

type Kept = ReturnType<typeof keep>;

/** What the flow knows of the pending operation, saved while that is being voided. */
function keep(flow: FlowState) {
  const { kind, stepAmount, stepStartedAt, transactionId, otherTransactionIds, hintedTransactionId } = flow;
  const { ambiguousIds, notLooked, moneyPostMayHaveLeft, details, redirectUrl, redirectUntil, attempts } = flow;
  return {
    kind,
    stepAmount,
    stepStartedAt,
    otherTransactionIds: [...otherTransactionIds],
    ambiguousIds: [...ambiguousIds],
    notLooked,
    moneyPostMayHaveLeft,
    attempts,
    /** JSON drops undefined fields; `restore` reads these by name, so they are undefined in a later run as well. */
    perhaps: { transactionId, hintedTransactionId, details, redirectUrl, redirectUntil, approved: flow.approved },
    requestIds: [...flow.requestIds],
    status: flow.status,
    waitingFor: flow.waitingFor,
  };
}

function restore(flow: FlowState, kept: Kept): void {
  const { perhaps, requestIds, status, waitingFor, ...state } = kept;
  const { transactionId, hintedTransactionId, details, redirectUrl, redirectUntil, approved } = perhaps;
  Object.assign(flow, state, { transactionId, hintedTransactionId, details, redirectUrl, redirectUntil, approved });
  flow.beingVoided = undefined;
  returnFromAside(flow);
  flow.requestIds.splice(0, flow.requestIds.length, ...requestIds);
  takeBackReason(flow, { status, waitingFor });
}

/** Why a `void` is refused now by a flow that accepts it only while its one operation is pending. */
export function refusesVoid(flow: FlowState): string | undefined {
  const { voidable, queue, type, status } = flow;
  if (queue.length > 0 || status === 'voiding') return 'a void has been asked for, and is being carried out';
  if (voidable === undefined) return `a ${type} is voided only while it is pending, and this one is ${status}`;
  return hasBeenVoided(voidable) ? HAS_BEEN_VOIDED : undefined;
}

const HAS_BEEN_VOIDED = 'it has been voided, and what becomes of it is waited for';
