import type { FailureType } from '../../src/contract/failure-types.js';
import { idempotencyKey } from '../../src/contract/idempotency-key.js';
import type { FinalStepOutcome, VoidedTransaction, VoidOfPending } from '../../src/contract/outcome.js';
import type { PaymentRecord, TransactionRecord } from '../../src/contract/transaction.js';
import { judgeEvent } from '../../src/domain/transitions.js';
import { noteAction } from '../flow/note-action.js';
import { happen, happened } from '../flow/phase.js';
import type { FlowState, Letter, PendingVoids } from '../flow/state.js';
import { enter, publish } from '../flow/visibility.js';
import { read } from '../policies.js';
import { beginStep } from './begin-step.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import { READS } from './kinds.js';
import { moneyStep, tryStep } from './money-step.js';
import { askOperatorIfRejected } from './operator.js';

/** What a read has said is true for so long: a void that is sent later could give back what has been taken since. */
const OFFER_HOLDS_MS = 60_000;

/** How the voids of a flow are counted: their keys, and the transactions they have made. */
export interface VoidCount {
  /** The number of the last one. */
  sequence: number;
  readonly ids: string[];
}

/**
 * For an operation of the flow that may be voided while it pends: only on a command, and only where a read of that
 * moment offers it. Both are followed to their end, so that neither is called over while it may yet move money.
 */
export function pendingVoids(flow: FlowState, count: VoidCount): PendingVoids {
  const voids: PendingVoids = {
    sent: [],
    async carryOut(command) {
      const why = await whyNotOffered(flow);
      if (why !== undefined && !(await isListed(flow, count.sequence + 1))) {
        command.answer = { refusal: `nothing was sent: ${why}` };
        return;
      }
      const kept = keep(flow);
      const aside = setAside(flow);
      happen(flow, 'void');
      beginStep(flow, 'void', flow.stepAmount);
      count.sequence += 1;
      const { sequence } = count;
      enter(flow, { status: 'voiding', waitingFor: 'provider', needsOperator: null, dueAt: null });
      publish(flow);
      const ended = await sendVoid(flow, count);
      if ('refused' in ended) happen(flow, 'refused');
      else happened(flow, ended);
      Object.assign(flow, kept.state);
      flow.setsAside = undefined;
      flow.mailbox.unshift(...aside);
      flow.requestIds.splice(0, flow.requestIds.length, ...kept.requestIds);
      enter(flow, { status: kept.status, waitingFor: kept.waitingFor });
      publish(flow);
      if ('refused' in ended) {
        const { message, type } = ended.refused;
        command.answer = { refusal: message, type: type as FailureType };
      } else {
        if (ended.transactionId !== undefined) count.ids.push(ended.transactionId);
        voids.sent.push({ command, sequence, outcome: ended });
        // One that has succeeded is answered once it is known whether it came in time.
        if (ended.status !== 'succeeded') told(flow, { command, sequence, outcome: ended });
      }
    },
  };
  return voids;
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
    flow.lasting =
      `the ${flow.kind} ${ended.transactionId ?? ''} has succeeded although it was voided while it was pending ` +
      `(void ${transactionId ?? 'of unknown id'}: ${status})`;
    if (done !== undefined) done.command.answer = { refusal: flow.lasting };
    return { despiteVoid: { status, ...(transactionId !== undefined && { transactionId }) } };
  }
  if (done === undefined) return undefined;
  told(flow, done);
  const { status, transactionId } = ended;
  const voided = {
    status,
    ...(transactionId !== undefined && { transactionId }),
    ...(status === 'declined' && { category: ended.category }),
  };
  return { voided, outcome: done.outcome };
}

function told(flow: FlowState, { command, sequence, outcome }: PendingVoids['sent'][number]): void {
  noteAction(flow, command, sequence, outcome);
  command.answer = { outcome };
}

async function sendVoid(flow: FlowState, { sequence, ids }: VoidCount) {
  const { paymentId = '' } = flow;
  const until = Date.now() + OFFER_HOLDS_MS;
  return await tryStep(
    flow,
    moneyStep(flow, {
      paymentId,
      operation: 'void',
      sequence,
      knownTransactionIds: [...ids],
      postUntil: until,
      post: (activities, call) => activities.createVoid(call),
    }),
  );
}

/** Undefined where the service offers it now. */
async function whyNotOffered(flow: FlowState): Promise<string | undefined> {
  const { businessUnit, paymentId = '' } = flow;
  let payment: PaymentRecord;
  try {
    payment = await read.getPayment({ businessUnit, paymentId });
  } catch (error) {
    askOperatorIfRejected(flow, error);
    return 'the service could not be asked whether it offers a void of what is pending';
  }
  const { status, nextActions } = decodedOrRetry(payment);
  // What has ended is no more to be let go of: a void of it might give back what was taken.
  if (status !== 'Pending' && status !== 'unknown') return `the service shows the payment as ${status}`;
  return nextActions?.includes('Void') === true ? undefined : 'the service offers no void of what is pending';
}

/** The run before a reset has sent it: it is adopted under its key. */
async function isListed(flow: FlowState, sequence: number): Promise<boolean> {
  const { businessUnit, paymentId = '', currency, workflowId } = flow;
  const key = idempotencyKey(workflowId, 'void', sequence);
  let records: TransactionRecord[];
  try {
    records = decodedOrRetry(await READS.void.list({ businessUnit, paymentId, currency }));
  } catch {
    return false;
  }
  return records.some(({ holdfastKey }) => holdfastKey === key);
}

/** From here on what settles the operation that pends is kept for it: for the void it would be news of something else. */
function setAside(flow: FlowState): Letter[] {
  const { kind, businessUnit, paymentId, transactionId } = flow;
  const own = { kind, businessUnit, paymentId, transactionId };
  const aside: Letter[] = [];
  flow.setsAside = (letter) => {
    if (letter.kind !== 'event' || judgeEvent(letter.event, own).verdict !== 'settles') return false;
    aside.push(letter);
    return true;
  };
  flow.mailbox.push(...flow.mailbox.splice(0).filter((letter) => flow.setsAside?.(letter) !== true));
  return aside;
}

/** What a flow knows of the operation that pends, while it voids it. */
function keep(flow: FlowState) {
  const { kind, stepAmount, stepStartedAt, transactionId, otherTransactionIds, hintedTransactionId } = flow;
  const { couldBeOurs, notLooked, moneyPostMayHaveLeft, details, redirectUrl, redirectUntil, attempts } = flow;
  return {
    state: {
      kind,
      stepAmount,
      stepStartedAt,
      transactionId,
      otherTransactionIds,
      hintedTransactionId,
      couldBeOurs,
      notLooked,
      moneyPostMayHaveLeft,
      details,
      redirectUrl,
      redirectUntil,
      attempts,
    },
    requestIds: [...flow.requestIds],
    status: flow.status,
    waitingFor: flow.waitingFor,
  };
}

/** Why a `void` can't be taken now by a flow that takes it only while its one operation is pending. */
export function refusesVoid(flow: FlowState): string | undefined {
  const { voidable, queue, type, status } = flow;
  if (queue.length > 0 || status === 'voiding') return 'a void has been asked for, and is being carried out';
  if (voidable === undefined) return `a ${type} is voided only while it is pending, and this one is ${status}`;
  const done = voidable.sent.some(({ outcome }: { outcome: FinalStepOutcome }) => outcome.status === 'succeeded');
  return done ? 'it has been voided, and what becomes of it is waited for' : undefined;
}
