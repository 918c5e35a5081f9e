import type { FailureType } from '../../src/contract/failure-types.js';
import { idempotencyKey } from '../../src/contract/idempotency-key.js';
import type { FinalStepOutcome, VoidedTransaction, VoidOfPending } from '../../src/contract/outcome.js';
import type { PaymentRecord, TransactionRecord } from '../../src/contract/transaction.js';
import { pollDelay } from '../../src/domain/schedules.js';
import { addLasting } from '../flow/lasting.js';
import { nextLetter, putAside, takeFromAside } from '../flow/mailbox.js';
import { noteAction } from '../flow/note-action.js';
import { stage } from '../flow/stages.js';
import type { FlowState, Letter, PendingVoids, VoidOf } from '../flow/state.js';
import { enter, publish } from '../flow/visibility.js';
import { read } from '../policies.js';
import { beginStep } from './begin-step.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import { READS } from './read.js';
import { moneyStep, tryStep } from './money-step.js';
import { heedFailedRead } from './operator.js';
import { readRefusal } from './refused-read.js';
import type { Voids } from './settle.js';
import { hasBeenVoided, settle } from './settle.js';

/** What a read has said is true for so long: a void that is sent later could give back what has been taken since. */
const OFFER_HOLDS_MS = 60_000;

/** @param count goes on from the voids that the flow has sent before */
export function noPendingVoids(count: PendingVoids['count'] = { sequence: 0, ids: [] }): PendingVoids {
  return { count, sent: [], notFound: [] };
}

/** How a void is sent: with which key, and beside which other voids of the payment. */
interface VoidPlan {
  readonly sequence: number | string;
  readonly own: string[];
  /** Minor units that it lets go, unless the service says otherwise: all that is held, and not what a capture in part takes. */
  readonly amount: number;
  /** Of others; undefined where only this flow voids. */
  readonly noted?: string[];
}

/** A void that is asked for, where the flow does not count its voids. */
interface PlannedVoid {
  plan: VoidPlan;
  /** Why none may be sent. One that an earlier run has sent is followed all the same. */
  whyNot?: string | undefined;
  /** What an earlier run has made of this very command: it is followed, and nothing is sent. */
  made?: TransactionRecord | undefined;
}

/** @returns an answer where the command was carried out before */
export type PlanVoid = (command: VoidOf) => Promise<PlannedVoid | { answer: NonNullable<VoidOf['answer']> }>;

/**
 * For an operation of the flow that may be voided while it pends: only on a command, and only where a read of that
 * moment offers it. Both are followed to their end, so that neither is called over while it may yet move money.
 * @param so notes of a stage, and nothing that only this run remembers
 */
export function pendingVoids(flow: FlowState, so: PendingVoids, planVoid?: PlanVoid): Voids {
  const carryOut = (command: VoidOf): Promise<void> =>
    stage(
      flow,
      'voidPending',
      (): Voiding => ({}),
      (notes) => voidOnCommand(flow, so, { command, planVoid }, notes),
    );
  return { so, carryOut };
}

interface Voiding {
  /** Present once the void is under way. */
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
    // After a reset the engine gives several at once, and no validator has refused the later ones.
    if (hasBeenVoided(so)) {
      command.answer = { refusal: HAS_BEEN_VOIDED };
      return;
    }
    const { plan, made } = planned;
    const why = made === undefined ? (planned.whyNot ?? (await whyNotOffered(flow))) : undefined;
    const sentBefore = why === undefined ? made : await listedVoid(flow, plan.sequence);
    if (why !== undefined && (sentBefore === undefined || sentBefore === 'none')) {
      const unread = `${why}, and whether one was sent before can not be read`;
      // Nobody follows it then: a caller who asks again hears this once more.
      if (planVoid !== undefined && sentBefore === undefined)
        addLasting(flow, `void "${command.commandId}": ${unread}`);
      if (planVoid !== undefined) so.notFound.push(plan.sequence);
      command.answer = { refusal: `nothing is sent now: ${sentBefore === undefined ? unread : why}` };
      return;
    }
    notes.kept = keep(flow);
    notes.plan = plan;
    // A void that is counted is made by this flow alone: its activity looks for it before it sends.
    if (planVoid !== undefined && typeof sentBefore === 'object') notes.made = sentBefore;
    flow.beingVoided = { kind: notes.kept.kind, transactionId: notes.kept.perhaps.transactionId };
    putAside(flow);
    beginStep(flow, 'void', plan.amount);
    count.sequence += 1;
    enter(flow, { status: 'voiding', waitingFor: 'provider', needsOperator: null, dueAt: null });
    publish(flow);
  }
  const { kept, made, plan = counted(flow, count, count.sequence) } = notes;
  const ended = made === undefined ? await sendVoid(flow, plan) : await settle(flow, { record: made, knownBy: 'poll' });
  restore(flow, kept);
  publish(flow);
  if ('refused' in ended) {
    const { message, type } = ended.refused;
    command.answer = { refusal: message, type: type as FailureType };
  } else {
    if (ended.transactionId !== undefined) count.ids.push(ended.transactionId);
    so.sent.push({ command, sequence: plan.sequence, outcome: ended });
    // One that has succeeded is answered once it is known whether it came in time.
    if (ended.status !== 'succeeded') told(flow, { command, sequence: plan.sequence, outcome: ended });
  }
}

function counted({ amount }: FlowState, { ids }: PendingVoids['count'], sequence: number): VoidPlan {
  return { sequence, own: [...ids], amount };
}

/** Whether the operation has failed since it was voided, or has succeeded all the same: both are told, and by whom. */
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
    if (done !== undefined) told(flow, done, why);
    return { despiteVoid: { status, ...(transactionId !== undefined && { transactionId }) } };
  }
  if (done === undefined) return undefined;
  const { status, transactionId } = ended;
  const unconfirmed = status === 'declined' && !ended.confirmed;
  if (unconfirmed) {
    // It may have taken the money all the same, and then the void has not undone it.
    const why =
      `nobody has confirmed that the ${flow.kind} ${transactionId ?? ''} has failed, which was voided while it was ` +
      `pending (void ${done.outcome.transactionId ?? 'of unknown id'}: ${done.outcome.status})`;
    addLasting(flow, why);
    told(flow, done, why);
  } else told(flow, done);
  const voided = {
    status,
    ...(transactionId !== undefined && { transactionId }),
    ...(status === 'declined' && { category: ended.category }),
    ...(unconfirmed && { confirmed: false as const }),
  };
  return { voided, outcome: done.outcome };
}

/** @param refusal why it has not done what its name says, although it has succeeded: a repeated command is told the same */
function told(flow: FlowState, { command, sequence, outcome }: PendingVoids['sent'][number], refusal?: string): void {
  command.answer = noteAction(flow, command, sequence, outcome, refusal);
}

async function sendVoid(flow: FlowState, { sequence, own, noted }: VoidPlan) {
  const { paymentId = '' } = flow;
  const until = Date.now() + OFFER_HOLDS_MS;
  return await tryStep(
    flow,
    moneyStep(flow, {
      paymentId,
      operation: 'void',
      sequence,
      knownTransactionIds: own,
      ...(noted !== undefined && { notedTransactionIds: noted }),
      postUntil: until,
      post: (activities, call) => activities.createVoid(call),
    }),
  );
}

/** Undefined where the service offers it now. */
async function whyNotOffered(flow: FlowState): Promise<string | undefined> {
  const { businessUnit, madeUnder, paymentId = '' } = flow;
  let payment: PaymentRecord;
  try {
    payment = await read.getPayment({ businessUnit, madeUnder, paymentId });
  } catch (error) {
    heedFailedRead(flow, error);
    return 'the service could not be asked whether it offers a void of what is pending';
  }
  const { status, nextActions } = decodedOrRetry(payment);
  // What has ended is no more to be let go of: a void of it might give back what was taken.
  if (status !== 'Pending' && status !== 'unknown') return `the service shows the payment as ${status}`;
  return nextActions?.includes('Void') === true ? undefined : 'the service offers no void of what is pending';
}

/** Reads of the voids, over some 20 minutes, before nobody waits any longer for an answer. */
const MOST_READS_OF_VOIDS = 6;

/** What an earlier run has sent, by its key. Undefined where that can't be read. */
async function listedVoid(flow: FlowState, sequence: number | string): Promise<TransactionRecord | 'none' | undefined> {
  const key = idempotencyKey(flow.workflowId, 'void', sequence);
  const listed = await listVoids(flow);
  return listed && (listed.find(({ holdfastKey }) => holdfastKey === key) ?? 'none');
}

/**
 * One list that fails to be read says nothing, so it is asked for again: to take it for an empty one would drop a void that
 * has left. Empty where the service refuses the list; undefined where it can't be read.
 */
export async function listVoids(flow: FlowState): Promise<TransactionRecord[] | undefined> {
  const { businessUnit, madeUnder, paymentId = '', currency } = flow;
  const meanwhile: Letter[] = [];
  try {
    for (let reads = 1; ; reads += 1) {
      let records: TransactionRecord[] | undefined;
      try {
        records = await READS.void.list({ businessUnit, madeUnder, paymentId, currency });
      } catch (error) {
        heedFailedRead(flow, error);
        if (readRefusal(error) !== undefined) return [];
      }
      // Outside of the try: what this worker can't decode is left to one that can.
      if (records !== undefined) return decodedOrRetry(records);
      if (reads === MOST_READS_OF_VOIDS) return undefined;
      const letter = await nextLetter(flow, pollDelay(reads - 1), 'Until the voids can be read');
      if (letter !== undefined) meanwhile.push(letter);
    }
  } finally {
    flow.mailbox.unshift(...meanwhile);
  }
}

type Kept = ReturnType<typeof keep>;

/** What a flow knows of the operation that pends, while it voids it. */
function keep(flow: FlowState) {
  const { kind, stepAmount, stepStartedAt, transactionId, otherTransactionIds, hintedTransactionId } = flow;
  const { couldBeOurs, notLooked, moneyPostMayHaveLeft, details, redirectUrl, redirectUntil, attempts } = flow;
  return {
    kind,
    stepAmount,
    stepStartedAt,
    otherTransactionIds: [...otherTransactionIds],
    couldBeOurs: [...couldBeOurs],
    notLooked,
    moneyPostMayHaveLeft,
    attempts,
    /** What is unknown goes along by no name: a later run has to find it unknown, too. */
    perhaps: { transactionId, hintedTransactionId, details, redirectUrl, redirectUntil },
    requestIds: [...flow.requestIds],
    status: flow.status,
    waitingFor: flow.waitingFor,
  };
}

function restore(flow: FlowState, kept: Kept): void {
  const { perhaps, requestIds, status, waitingFor, ...state } = kept;
  const { transactionId, hintedTransactionId, details, redirectUrl, redirectUntil } = perhaps;
  Object.assign(flow, state, { transactionId, hintedTransactionId, details, redirectUrl, redirectUntil });
  flow.beingVoided = undefined;
  takeFromAside(flow);
  flow.requestIds.splice(0, flow.requestIds.length, ...requestIds);
  enter(flow, { status, waitingFor });
}

/** Why a `void` can't be taken now by a flow that takes it only while its one operation is pending. */
export function refusesVoid(flow: FlowState): string | undefined {
  const { voidable, queue, type, status } = flow;
  if (queue.length > 0 || status === 'voiding') return 'a void has been asked for, and is being carried out';
  if (voidable === undefined) return `a ${type} is voided only while it is pending, and this one is ${status}`;
  return hasBeenVoided(voidable) ? HAS_BEEN_VOIDED : undefined;
}

const HAS_BEEN_VOIDED = 'it has been voided, and what becomes of it is waited for';
