import { ActivityFailure, sleep } from '@temporalio/workflow';
import type { TransactionEvent } from '../../src/contract/messages.js';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import type { MadeTransactions } from '../../src/contract/payment-actions.js';
import {
  LISTED_KINDS,
  type ListedKind,
  type PaymentAndTransactions,
  type TransactionRecord,
} from '../../src/contract/records.js';
import { listsLag, sumsOf, withTold, withUnlisted } from '../../src/domain/payment-sums.js';
import { OPERATOR_AFTER_MS } from '../../src/domain/schedules.js';
import { nextMessage } from '../flow/inbox.js';
import { noteRestore } from '../flow/restored.js';
import { type FlowState, noteDeclines, noteRequestId, type Refusal } from '../flow/state.js';
import { isOfPayment } from '../flow/told.js';
import { noteWanted } from '../kit/outbox.js';
import { decidesAfterReset } from '../kit/start-guard.js';
import { ignore } from '../kit/run.js';
import { readAll } from '../policies.js';
import { noteLimits } from './clear-outgoing.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { actionsOf, type Creator, type ReadFacts } from './earlier-actions.js';
import { noteDispute } from './follow-dispute.js';
import { classifyFailure, noteListAnswer, noteListRefusal, type ReadRefusal, refusedAs } from './failures.js';
import { askUntilRead, credentialsWork, handleFailedRead, noteAnswered, pollWait } from './operator.js';
import { READS } from './read.js';

export interface Unreadable {
  unreadable: string;
  /** The service knows no such payment, or none in this business unit. */
  notFound: boolean;
}

/**
 * Reads the payment and all its transactions. A list that is missing in the first answer is asked for alone. If the
 * service doesn't offer it, the record of the creating flow is used instead, since the service can't be asked.
 */
export async function readFacts(flow: FlowState, creator: Creator): Promise<ReadFacts | Unreadable | Refusal> {
  const { businessUnit, madeUnder, currency, paymentId = '' } = flow;
  const without = LISTED_KINDS.filter((kind) => flow.refusedLists[kind] !== undefined);
  const answered = await tried(flow, () =>
    readAll.getPaymentAndTransactions({ businessUnit, madeUnder, currency, paymentId, without }),
  );
  if ('unreadable' in answered) return answered;
  const { payment, lists: answers, retryAfterMs = 0 } = decodedOrRetry(answered.answer);
  // Read under another environment or app id than the payment's, the lists would be empty, as if nothing had been
  // captured or refunded.
  flow.madeUnder ??= payment.madeUnder;
  noteRestore(flow, payment);
  noteWanted(flow, payment);
  noteDeclines(flow, payment);
  noteLimits(flow, payment);
  flow.madeBy ??= payment.holdfastWorkflowId;
  if (payment.disputed === true) noteDispute(flow, 'read', creator.workflowId ?? payment.holdfastWorkflowId);
  // What its own retries would do.
  if (retryAfterMs > 0) await sleep(Math.min(retryAfterMs, LONGEST_DELAY_MS), { summary: 'Until lists may be read' });
  const listed = await tried(flow, () => listsOf(flow, answers));
  if ('unreadable' in listed) return listed;
  const lists = listed.answer;
  credentialsWork(flow);
  const { status, amount, currency: ofPayment, holdfastWorkflowId, requestId } = payment;
  noteRequestId(flow, requestId);
  const refused = Object.values(lists).flatMap((list) => ('refusal' in list ? [list] : []));
  const waits = refused.find(({ refusal }) => !refusal.notOffered);
  if (waits !== undefined) return { unreadable: waits.unreadable, notFound: false };
  const known = refused.length === 0 ? NOTHING_MADE : whatIsKnown(flow, creator);
  if ('refusal' in known) return known;
  const facts: ReadFacts = {
    status,
    amount,
    currency: ofPayment,
    authorizations: recordsOf(lists.authorization) ?? known.authorizations,
    charges: recordsOf(lists.charge) ?? known.charges,
    captures: recordsOf(lists.capture) ?? known.captures,
    refunds: recordsOf(lists.refund) ?? known.refunds,
    voids: recordsOf(lists.void) ?? known.voids,
    ...(holdfastWorkflowId !== undefined && { holdfastWorkflowId }),
  };
  return countMade(flow, creator, facts);
}

/** ms. A service that wants to be left alone for longer is asked at the next look. */
const LONGEST_DELAY_MS = 30_000;

/** Lists lag: a void after a capture that its flow has recorded, or that a signed event tells of, could undo it. */
export function countMade(flow: FlowState, creator: Creator, facts: ReadFacts): ReadFacts {
  const { made } = creator;
  const actions = actionsOf(flow, creator);
  const told = (creator.told ?? []).filter(({ agrees, seen, event }) => {
    return agrees !== true && seen !== true && event.status === 'Succeed';
  });
  const unlisted = withUnlisted(facts, made?.paymentId === flow.paymentId ? made : undefined, actions);
  return withTold(unlisted, [...told.map(({ event }) => event), ...unplacedOf(flow)], actions);
}

/** What is kept until it can be placed is a signed word as well. */
function unplacedOf(flow: FlowState): TransactionEvent[] {
  const kept = (flow.unplaced ?? []).map(({ event }) => event);
  const moved = kept.filter((event) => event.trusted && event.status === 'Succeed' && isOfPayment(flow, event));
  // After a reset it may be of the very command, which the engine gives again after it.
  return moved.length > 0 && decidesAfterReset() ? [] : moved;
}

async function tried<Answer>(flow: FlowState, call: () => Promise<Answer>): Promise<{ answer: Answer } | Unreadable> {
  try {
    return { answer: await call() };
  } catch (error) {
    // A result or failure that this worker can't decode fails the task, for a worker that can.
    if (!(error instanceof ActivityFailure)) throw error;
    handleFailedRead(flow, error);
    const failure = classifyFailure(error);
    noteWanted(flow, failure);
    const notFound = refusedAs(error, FAILURE_TYPES.notFound) !== undefined;
    return { unreadable: failure.message, notFound };
  }
}

/** `asked`: it is an answer of its own, and may be one that this worker can't decode. */
type Listed = { records: TransactionRecord[]; asked?: true } | { refusal: ReadRefusal; unreadable: string };

/** @param answers what the service has answered already */
async function listsOf(flow: FlowState, answers: PaymentAndTransactions['lists']): Promise<Record<ListedKind, Listed>> {
  const lists = LISTED_KINDS.map(async (kind) => [kind, await listOf(flow, kind, answers[kind])] as const);
  return Object.fromEntries(await Promise.all(lists)) as Record<ListedKind, Listed>;
}

async function listOf(flow: FlowState, kind: ListedKind, answer?: TransactionRecord[]): Promise<Listed> {
  const { businessUnit, madeUnder, currency, paymentId = '' } = flow;
  let asked: TransactionRecord[] | undefined;
  try {
    if (answer === undefined) asked = await READS[kind].list({ businessUnit, madeUnder, currency, paymentId });
  } catch (error) {
    const refusal = noteListRefusal(flow, kind, error);
    if (refusal === undefined) throw error;
    handleFailedRead(flow, error);
    return { refusal, unreadable: classifyFailure(error).message };
  }
  noteListAnswer(flow, kind);
  return asked === undefined ? { records: answer ?? [] } : { records: asked, asked: true };
}

/** Decoded only here: a failure of one list must not keep another from being noted as answered, on any worker. */
function recordsOf(list: Listed): TransactionRecord[] | undefined {
  if (!('records' in list)) return undefined;
  return list.asked === true ? decodedOrRetry(list.records) : list.records;
}

const NOTHING_MADE: Omit<MadeTransactions, 'paymentId'> = {
  authorizations: [],
  charges: [],
  captures: [],
  refunds: [],
  voids: [],
};

/** What our flows did to the payment; a refusal unless that is known without a gap. */
function whatIsKnown(
  { paymentId }: FlowState,
  { workflowId, made, incomplete, lost }: Creator,
): Omit<MadeTransactions, 'paymentId'> | Refusal {
  const type = FAILURE_TYPES.stateConflict;
  const unlisted = `nothing was sent: the service offers no lists of what was done to payment ${paymentId}, and`;
  if (made === undefined || made.paymentId !== paymentId) {
    return {
      refusal: `${unlisted} no flow of ours is known that made it; name the reference of that flow, or act in the service's back office`,
      type,
    };
  }
  if (incomplete === true) {
    return {
      refusal: `${unlisted} an earlier run of its commands ended without leaving what it did; act in the service's back office`,
      type,
    };
  }
  if (lost === true) {
    return {
      refusal: `${unlisted} a run of "${workflowId}" ended without leaving what it did; act in the service's back office`,
      type,
    };
  }
  if (made.despiteVoid === true) {
    return {
      refusal: `${unlisted} what took its money has succeeded although a void of it has succeeded as well; look in the service's back office which of them counts, and act there`,
      type,
    };
  }
  return made;
}

const ASK_OPERATOR_AFTER_READS = 6;

/**
 * Reads the payment until every read answers and its lists fit its state. Nothing has been sent so far, so after 24
 * hours the command is refused: other commands must not wait behind it forever.
 */
export async function consistentFacts(flow: FlowState, creator: Creator): Promise<ReadFacts | Refusal> {
  for (let reads = 0; ; reads += 1) {
    const facts = await readFacts(flow, creator);
    if ('refusal' in facts) return facts;
    const unreadable = 'unreadable' in facts;
    if (unreadable && facts.notFound)
      return { refusal: `nothing was sent: ${facts.unreadable}`, type: FAILURE_TYPES.notFound };
    if (!unreadable && facts.currency !== flow.currency) {
      const refusal = `currency: the payment is over ${facts.currency}, not ${flow.currency}; nothing was sent`;
      return { refusal, type: FAILURE_TYPES.invalidInput };
    }
    if (!unreadable && !listsLag(facts, sumsOf(facts, actionsOf(flow, creator)))) {
      noteAnswered(flow);
      return facts;
    }
    const why = unreadable ? facts.unreadable : `its lists do not fit its status "${facts.status}"`;
    if (Date.now() >= flow.stepStartedAt + OPERATOR_AFTER_MS) {
      const refusal = `nothing was sent, since the payment could not be read for 24 hours: ${why}`;
      return { refusal, type: FAILURE_TYPES.providerUnavailable };
    }
    if (reads === ASK_OPERATOR_AFTER_READS)
      askUntilRead(flow, `nothing is sent before the payment can be read: ${why}`);
    if (flow.lookBeside !== undefined) await flow.lookBeside();
    const message = await nextMessage(flow, pollWait(flow, reads), 'Until the payment can be read');
    if (message?.kind === 'settle') message.command.answer = { refusal: 'nothing has been sent yet' };
    else if (message?.kind === 'event') ignore(flow, 'nothingSentYet');
  }
}
