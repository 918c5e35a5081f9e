import { ActivityFailure } from '@temporalio/workflow';
import { HOUR_MS } from '../../src/contract/time-units.js';
import type { TransactionEvent } from '../../src/contract/messages.js';
import type { EventDelivery, ParkReason } from '../../src/contract/parked-event.js';
import { classifyLateEvent } from '../../src/domain/event-routes.js';
import { GIVEN_UP_AFTER_MS, pollDelay } from '../../src/domain/schedules.js';
import { classifyEvent, hidesTransaction, resourceOf } from '../../src/domain/settling.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { type Creator, keepTold } from './earlier-actions.js';
import { noteSecond } from '../flow/inbox.js';
import { addLasting, addMoreLasting } from '../flow/new-state.js';
import { isOfPayment, noteSeen, noteTold, sayTold, showUnlessAsked, showUnseen } from '../flow/told.js';
import { type FlowState, type Unplaced } from '../flow/state.js';
import { ignore } from '../kit/run.js';
import { showLasting, takeBackReason } from '../flow/explain.js';
import { delivery } from '../policies.js';

/**
 * Handles an event while our transaction is not known yet; true if it warrants a read. A signed event that names a
 * transaction of our kind on our payment is evidence that the operation was executed: its absence can't be proven any
 * more, whatever a list says.
 */
export function handleEvent(flow: FlowState, event: TransactionEvent): boolean {
  const verdict = classifyEvent(event, flow);
  if (verdict.verdict === 'ignore') {
    if (!noteRevealed(flow, event)) {
      noteSecond(flow, event);
      ignore(flow, verdict.reason);
    }
    return false;
  }
  const ofOurKind = resourceOf(event.eventType) === flow.kind;
  if (ofOurKind && event.transactionId !== undefined && flow.otherTransactionIds.includes(event.transactionId)) {
    ignore(flow, 'otherTransaction');
    return false;
  }
  if (event.trusted && event.transactionId !== undefined && ofOurKind) {
    flow.hintedTransactionId = event.transactionId;
    if (event.status !== undefined && event.status !== 'Pending') keepHint(flow, event);
  }
  return true;
}

/** No real payment has more transactions while one of them is sent. */
const MOST_HINTS = 50;

/** Of the flow of a payment's commands, which ends long after them, they are kept by {@link placeEvents}. */
function keepHint(flow: FlowState, event: TransactionEvent): void {
  const { hints = [], unplaced } = flow;
  if (unplaced !== undefined || hints.some(({ hash }) => hash === event.hash)) return;
  if (hints.length === MOST_HINTS) addMoreLasting(flow);
  flow.hints = [...hints, event].slice(-MOST_HINTS);
}

/**
 * True if a signed event shows our own reference on a transaction of our kind: a lost task created and charged that
 * payment. What has failed there is no reason not to charge, unless its failure is unconfirmed.
 */
export function revealsPayment(flow: FlowState, event: TransactionEvent): boolean {
  const hasFailed = event.status === 'Failed' && event.category !== 'provider_network_error';
  return (
    event.trusted &&
    event.businessUnit === flow.businessUnit &&
    !hasFailed &&
    event.reconciliationId === flow.reference &&
    resourceOf(event.eventType) === flow.kind
  );
}

/**
 * Keeps such an event while the flow knows no payment. No later one takes the place of the first, unless that alone has
 * succeeded: what was shown would be followed by nobody.
 * @returns whether the event is such a one
 */
export function noteRevealed(flow: FlowState, event: TransactionEvent): boolean {
  const { paymentId, revealed, kind, lasting } = flow;
  if (paymentId !== undefined || !revealsPayment(flow, event)) return false;
  if (revealed === undefined || revealed.paymentId === event.paymentId) {
    if (revealed?.status !== 'Succeed') flow.revealed = event;
    return true;
  }
  // What has taken the money is followed, and a person is told of the other one.
  const isNews = event.status === 'Succeed' && revealed.status !== 'Succeed';
  const [followed, beside] = isNews ? [event, revealed] : [revealed, event];
  flow.revealed = followed;
  const what = `${kind} ${beside.transactionId ?? ''} of payment ${beside.paymentId}`;
  const said = beside.status ?? 'changed';
  addLasting(flow, `an event calls ${what} ${said}, under this reference, beside payment ${followed.paymentId}`);
  showUnlessAsked(flow, lasting);
  return true;
}

/**
 * Places events that were acknowledged to the service, while no command is under way: no other flow receives them. An
 * event needs an operator if it contradicts an answer that was given, or if neither a command here nor the creating
 * flow knows its transaction: someone else moves money of this payment. An event that can't be placed yet is kept and
 * looked up again.
 */
export async function placeEvents(flow: FlowState, creator: Creator): Promise<void> {
  // A handler may have dropped a signed event.
  showLasting(flow);
  for (const kept of allDue(flow)) {
    // A command goes before events.
    if (flow.queue.length > 0) return;
    if (flow.unplaced?.includes(kept) !== true) continue;
    const placed = await place(flow, creator, kept);
    if (placed === 'later') continue;
    const { unplaced = [] } = flow;
    // Handlers interleave here, so a later event about the same transaction may have replaced it.
    const at = unplaced.indexOf(kept);
    if (at >= 0) unplaced.splice(at, 1);
    if (placed === undefined) continue;
    addLasting(flow, placed.why);
    showLasting(flow);
  }
}

/** Epoch ms of the next look-up of a kept event, or of a dispute that was seen; undefined if there is none. */
export function nextLookAt({ unplaced = [], disputeSeen }: FlowState): number | undefined {
  const times = unplaced.map(({ asked }) => asked?.nextAt ?? 0);
  if (disputeSeen !== undefined) times.push(disputeSeen.nextAt);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** True if a signed event, or a dispute that was seen, is kept: it must reach its flow, or an operator, before the run closes. */
export function keepsSigned({ unplaced = [], disputeSeen }: FlowState): boolean {
  return disputeSeen !== undefined || unplaced.some(({ event }) => event.trusted);
}

/** For a run that closes: unsigned events are counted and dropped, since nothing vouches for them. */
export function dropUnsigned(flow: FlowState): void {
  for (const { event } of flow.unplaced?.splice(0) ?? []) if (!event.trusted) ignore(flow, 'eventNobodyClaims');
}

/** Makes every kept event due now: after an answered command, on `retryNow`, or because the run closes. */
export function lookNow({ unplaced = [], disputeSeen }: FlowState): void {
  if (disputeSeen !== undefined) disputeSeen.nextAt = 0;
  for (const { asked } of unplaced) if (asked !== undefined) asked.nextAt = 0;
}

/**
 * For `retryNow`, which also confirms what an operator has seen.
 * @param seen the reason for the operator at the time of `retryNow`
 */
export function lookAgain(flow: FlowState, { told = [] }: Creator, seen: string | undefined): void {
  const isSeen = seen !== undefined && seen === flow.lasting;
  if (!isSeen && nextLookAt(flow) === undefined) ignore(flow, 'nothingToRetry');
  lookNow(flow);
  if (!isSeen) return;
  noteSeen(flow, seen);
  for (const one of told) if (seen.includes(one.event.transactionId ?? '')) one.seen = true;
  flow.lasting = undefined;
  // A text names but so many.
  showUnseen(flow, told);
  takeBackReason(flow);
}

/**
 * Each due event once, longest waiting first: with many events the first is due again before the last was looked up.
 */
function allDue({ unplaced = [] }: FlowState): Unplaced[] {
  const dueAt = ({ asked }: Unplaced): number => asked?.nextAt ?? 0;
  return unplaced.filter((kept) => dueAt(kept) <= Date.now()).sort((one, other) => dueAt(one) - dueAt(other));
}

/** `why`: an operator must look. */
async function place(
  flow: FlowState,
  creator: Creator,
  kept: Unplaced,
): Promise<{ why: string } | 'later' | undefined> {
  const { event } = kept;
  const { transactionId, status, trusted } = event;
  if (!isOfPayment(flow, event)) return undefined;
  if (hidesTransaction(event)) return await placeHidden(flow, kept);
  if (transactionId === undefined) ignore(flow, 'namesNoTransaction');
  if (transactionId === undefined || transactionId === event.paymentId) return undefined;
  const isOurs = flow.actions.some(({ outcome }) => outcome.transactionId === transactionId);
  if (isOurs) {
    noteTold(flow, event);
    // Its command has come to know of it since.
    creator.told = (creator.told ?? []).filter((one) => one.event.transactionId !== transactionId);
    const contradicts = trusted && classifyLateEvent(event, { result: { actions: flow.actions } }) === 'contradicts';
    return contradicts ? { why: sayTold(transactionId, status) } : undefined;
  }
  const delivery = await handOn(flow, event);
  if (delivery.result === 'late') keepTold(creator, event, true);
  // That flow may be kept no longer, while this one knows whose payment it is.
  const isForgotten = delivery.result === 'foreign' && trusted && creator.workflowId !== undefined;
  if (isForgotten && status === 'Succeed') keepTold(creator, event, false);
  if (isForgotten) return { why: `${sayEvent(event)}, which no command here has made, and no flow knows it` };
  if (delivery.result !== 'unclaimed') return undefined;
  if (delivery.reason === 'lookUpFailed') {
    if (askAgain(kept)) return 'later';
    if (!trusted) {
      ignore(flow, 'eventNobodyClaims');
      return undefined;
    }
  }
  // Nobody has answered it otherwise that is known, and yet it has moved money.
  if (delivery.reason === 'contradictsResult' || status === 'Succeed') keepTold(creator, event, false);
  const who = delivery.workflowId ?? 'its flow';
  return { why: `${sayEvent(event)}, which no command here has made; ${WHY[delivery.reason](who)}` };
}

/** It may be of a command here, of the flow that made the payment, or of others: unless an open flow takes it only a person can tell. */
async function placeHidden(flow: FlowState, kept: Unplaced): Promise<{ why: string } | 'later' | undefined> {
  const { event } = kept;
  const delivery = await handOn(flow, event);
  if (delivery.result === 'delivered') return undefined;
  if (delivery.result === 'unclaimed' && delivery.reason === 'lookUpFailed' && askAgain(kept)) return 'later';
  return { why: `${sayEvent(event)} and does not name it, so that nobody can tell whether a command here has made it` };
}

function sayEvent({ eventType, transactionId, status }: TransactionEvent): string {
  const resource = resourceOf(eventType) ?? 'transaction';
  const which = transactionId === undefined ? `a ${resource}` : `${resource} ${transactionId}`;
  return `an event calls ${which} ${status ?? 'changed'}`;
}

/** ms. Anyone who knows a payment's id can post an unsigned event: it must neither cost much nor keep a run open. */
const UNSIGNED_FOR_MS = HOUR_MS;

/**
 * Schedules the next look-up as for a parked event (see `parked-event.ts`); false once the event was kept for long
 * enough.
 */
function askAgain(kept: Unplaced): boolean {
  const { times, since } = kept.asked ?? { times: 0, since: Date.now() };
  const giveUpAt = since + (kept.event.trusted ? GIVEN_UP_AFTER_MS : UNSIGNED_FOR_MS);
  if (Date.now() >= giveUpAt) return false;
  kept.asked = { times: times + 1, since, nextAt: Math.min(Date.now() + pollDelay(times), giveUpAt) };
  return true;
}

const WHY: Readonly<Record<ParkReason, (workflowId: string) => string>> = {
  unknownTransaction: (workflowId) => `"${workflowId}" does not know it either`,
  contradictsResult: (workflowId) => `"${workflowId}" has ended otherwise`,
  flowNotFound: (workflowId) => `"${workflowId}", which made the payment, is not known any more`,
  lookUpFailed: () => 'for a day the service has not said which flow made the payment',
};

async function handOn({ workflowId }: FlowState, event: TransactionEvent): Promise<EventDelivery> {
  try {
    return decodedOrRetry(await delivery.deliverEvent({ event, except: workflowId }));
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return { result: 'unclaimed', reason: 'lookUpFailed' };
  }
}
