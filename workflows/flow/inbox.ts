import { allHandlersFinished, condition } from '@temporalio/workflow';
import type { TransactionEvent } from '../../src/contract/messages.js';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import { classifyEvent, tellsStatus } from '../../src/domain/settling.js';
import { allAreIn } from './arrivals.js';
import { isOfAnother } from './command-handlers.js';
import { continueAsNew, isTooLong, noteLength } from './continue.js';
import { addLasting, addMoreLasting } from './new-state.js';
import {
  type FlowState,
  type Message,
  type QueuedCommand,
  type SettleCommand,
  type Unplaced,
  type VoidOf,
} from './state.js';
import { isOfPayment } from './told.js';
import { isHandedOver } from '../kit/outbox.js';
import { ignore } from '../kit/run.js';
import { enter } from './explain.js';

/**
 * Like {@link nextMessage}, for a wait that may last: the flow continues as new there if its run has become long. The
 * caller and all its callers must run as frames (see `resumable`) that keep everything they need in their notes.
 */
export async function nextMessageOrRun(flow: FlowState, ms: number, summary: string): Promise<Message | undefined> {
  await waitOrRun(flow, () => flow.inbox.length > 0 || isToBeTold(flow), ms, summary);
  return flow.inbox.shift() ?? tellOfVoid(flow);
}

/**
 * The next message, or undefined after `ms`. Every wait of a flow uses this function or {@link raceMessage}, so that an
 * event, an operator or a timer can always end it.
 */
export async function nextMessage(flow: FlowState, ms: number, summary: string): Promise<Message | undefined> {
  flow.inLocalTry = false;
  const woken = (): boolean => flow.inbox.length > 0 || isToBeTold(flow);
  if (!woken()) {
    enter(flow, { dueAt: Date.now() + ms });
    await condition(woken, Math.max(1, ms), { summary });
  }
  return flow.inbox.shift() ?? tellOfVoid(flow);
}

/** Whether a message of a person, or a signed event, is still to be handled. What nobody has signed must not hold up an end. */
export function hasNews({ inbox }: FlowState): boolean {
  return inbox.some((message) => message.kind !== 'event' || message.event.trusted);
}

/**
 * The void to execute next. Commands that came before it go first, but for the decision of a review: one that a run made by a reset has taken,
 * and whose review is over, is taken up by nothing.
 */
export function waitingVoid({ queue }: FlowState): VoidOf | undefined {
  const next = queue.find(({ name }) => name !== 'decideReview');
  return next?.name === 'void' ? next : undefined;
}

/** Takes a command that waits out of the queue: it is begun. */
export function takeOut({ queue }: FlowState, command: QueuedCommand): void {
  queue.splice(queue.indexOf(command), 1);
}

function isToBeTold(flow: FlowState): boolean {
  return flow.tellOfVoid && waitingVoid(flow) !== undefined && allAreIn(flow);
}

/** Code that waits for messages gets a void as `retryNow`, and then decides itself what to do about it. */
function tellOfVoid(flow: FlowState): Message | undefined {
  if (!isToBeTold(flow)) return undefined;
  flow.tellOfVoid = false;
  return { kind: 'retryNow' };
}

/**
 * A wait that began in the previous run ends at the time set there, or before it: if something came meanwhile, the first
 * wait of this run may be another one.
 */
async function waitOrRun(flow: FlowState, next: () => boolean, ms: number | undefined, summary: string): Promise<void> {
  flow.inLocalTry = false;
  const until = ms === undefined ? undefined : Math.min(flow.waitsUntil ?? Infinity, Date.now() + ms);
  flow.waitsUntil = undefined;
  flow.waitedUntil = until;
  noteLength(flow);
  if (!next()) {
    enter(flow, { dueAt: until ?? null });
    const ends = (): boolean => allAreIn(flow) && (next() || flow.isLong);
    if (until === undefined) await condition(ends);
    else await condition(ends, Math.max(1, until - Date.now()), { summary });
  }
  noteLength(flow);
  // What has come is handled first, as long as the history has room for it.
  if (flow.isLong && (!next() || isTooLong(flow))) {
    flow.waitsUntil = until;
    await continueAsNew(flow);
  }
  flow.cameForward = true;
}

/**
 * What has ended the last wait changes nothing: the next one ends when that one would have. Else events that are ignored
 * could put off a read for ever.
 */
export function waitOn(flow: FlowState): void {
  flow.waitsUntil = flow.waitedUntil;
}

export type NextInput = { message: Message } | { command: QueuedCommand } | { elapsed: true } | { cancelled: true };

/**
 * For waits that may continue as new like {@link nextMessageOrRun}: the next message, the end of the time, or, as the
 * caller says, a command or a cancel. The caller executes a command before its next wait.
 */
export async function nextCommandOrMessage(
  flow: FlowState,
  ms: number,
  summary: string,
  endsOnCancel: boolean,
  takes: (command: QueuedCommand) => boolean = () => true,
): Promise<NextInput> {
  flow.busy = false;
  const cancelled = (): boolean => endsOnCancel && flow.isCancelled();
  await waitOrRun(flow, () => flow.queue.some(takes) || flow.inbox.length > 0 || cancelled(), ms, summary);
  const command = flow.queue.find(takes);
  if (command !== undefined) {
    takeOut(flow, command);
    flow.busy = true;
    return { command };
  }
  const message = flow.inbox.shift();
  if (message !== undefined) return { message };
  return cancelled() ? { cancelled: true } : { elapsed: true };
}

/** {@link nextMessageOrRun} for the rare wait without a time limit. */
export async function nextMessageEver(flow: FlowState): Promise<Message> {
  await waitOrRun(flow, () => flow.inbox.length > 0, undefined, '');
  return flow.inbox.shift() as Message;
}

/** Waits until every caller has been answered and all is handed over, or a command has come meanwhile. */
export async function untilAnswered(flow: FlowState): Promise<void> {
  await condition(() => isAnswered(flow) || (flow.queue.length > 0 && allAreIn(flow)));
}

/** Nothing keeps the run open. A hand-over may take days, and what comes meanwhile must not find a run without a loop. */
export function isAnswered(flow: FlowState): boolean {
  return allHandlersFinished() && isHandedOver(flow);
}

/** Work whose end can be checked without awaiting it, so that messages are handled meanwhile. */
export interface Tracked<T> {
  done?: { value: T } | { error: unknown };
}

export function track<T>(work: Promise<T>): Tracked<T> {
  const tracked: Tracked<T> = {};
  work.then(
    (value) => (tracked.done = { value }),
    (error: unknown) => (tracked.done = { error }),
  );
  return tracked;
}

export type Raced<T> = { value: T } | { error: unknown } | { message: Message } | { elapsed: true };

/**
 * Whichever comes first: the end of `work`, a message, or the time, if there is one. The work continues if another one
 * wins.
 */
export async function raceMessage<T>(
  flow: FlowState,
  work: Tracked<T>,
  ms: number | undefined,
  summary: string,
): Promise<Raced<T>> {
  const woken = (): boolean => work.done !== undefined || flow.inbox.length > 0 || isToBeTold(flow);
  if (ms === undefined) await condition(woken);
  else await condition(woken, ms, { summary });
  if (work.done !== undefined) return work.done;
  const message = flow.inbox.shift() ?? tellOfVoid(flow);
  return message === undefined ? { elapsed: true } : { message };
}

/** An operator may not decide while the operation is still being sent: it could still execute. */
export function refuseSettle(command: SettleCommand): void {
  command.answer = { refusal: 'the operation is still being tried with its idempotency key' };
}

/**
 * Refuses a word of a person that was said of another operation: of two that came together the first may have ended what both are about,
 * and the money of the next one may have moved.
 */
export function refusesWordOfAnother(flow: FlowState, command: SettleCommand): boolean {
  const isOther = isOfAnother(flow, command);
  if (isOther)
    command.answer = { refusal: 'it was said of another operation of this flow than the one that waits now' };
  return isOther;
}

/** Queues a message; an event that settles the operation being voided is kept aside for that operation. */
export function putIn(flow: FlowState, message: Message): void {
  (settlesWhatIsVoided(flow, message) ? flow.aside : flow.inbox).push(message);
}

/** No real payment has events of more transactions than this between two commands. */
const MOST_UNPLACED = 50;

/**
 * A signed event replaces an unsigned one, never the reverse, whatever they say: an unsigned one may be dropped and
 * only counted. Events may arrive out of order.
 */
function isBetterNews(event: TransactionEvent, known: TransactionEvent): boolean {
  if (known.trusted !== event.trusted) return event.trusted;
  if (event.status === undefined || event.status === 'Pending') return false;
  if (known.status === undefined || known.status === 'Pending') return true;
  // If the times can't be compared, the last to arrive counts.
  return !(Date.parse(event.created) < Date.parse(known.created));
}

/** It is looked up at once, but not for longer than the first: an unroutable transaction may get events forever. */
function inPlaceOf({ event: { trusted }, asked }: Unplaced, event: TransactionEvent): Unplaced {
  return asked === undefined || trusted !== event.trusted ? { event } : { event, asked: { ...asked, nextAt: 0 } };
}

/** Of what names no transaction, the kinds are kept apart: one may be of a refund, and another of the payment. */
function isOfOne(known: TransactionEvent, { transactionId, eventType }: TransactionEvent): boolean {
  return known.transactionId === transactionId && (transactionId !== undefined || known.eventType === eventType);
}

/**
 * The operation under way takes events about it, and drops the others. If no other flow gets these they are kept as
 * well, the last one of each transaction. Above the limit the oldest unsigned one goes first (anybody can make one),
 * then the oldest.
 */
export function keepUnplaced(flow: FlowState, event: TransactionEvent): void {
  const { unplaced } = flow;
  if (unplaced === undefined) return;
  // It would take the place of one that is of this payment.
  if (!isOfPayment(flow, event)) return ignore(flow, 'otherPayment');
  const at = unplaced.findIndex(({ event: known }) => isOfOne(known, event));
  const known = unplaced[at];
  if (known === undefined) unplaced.push({ event });
  else if (isBetterNews(event, known.event)) unplaced[at] = inPlaceOf(known, event);
  if (unplaced.length <= MOST_UNPLACED) return;
  const unsigned = unplaced.findIndex((kept) => !kept.event.trusted);
  unplaced.splice(Math.max(0, unsigned), 1);
  ignore(flow, 'tooManyEvents');
  if (unsigned < 0) addMoreLasting(flow);
}

/** To the void these are foreign events. There may be no second event about the voided operation, and no read. */
export function putAside(flow: FlowState): void {
  for (const message of flow.inbox.splice(0)) putIn(flow, message);
}

export function returnFromAside(flow: FlowState): void {
  flow.inbox.unshift(...flow.aside.splice(0));
}

function settlesWhatIsVoided(flow: FlowState, message: Message): boolean {
  const { beingVoided, businessUnit, paymentId } = flow;
  if (beingVoided === undefined || message.kind !== 'event') return false;
  // Whether a read could show the rest of what it says may not be known yet: where one can, it only leads to that read.
  return tellsStatus(message.event, { ...beingVoided, businessUnit, paymentId });
}

/**
 * A flow makes at most one charge or credit on its payment. Once it has ended a signed event of a second one would be
 * parked, so the flow tells a person of it while it is open as well. An adopted payment may have others.
 * @returns true if that is news
 */
export function noteSecond(flow: FlowState, event: TransactionEvent): boolean {
  const { businessUnit, paymentId, lasting } = flow;
  const { kind, transactionId } = flow.beingVoided ?? flow;
  const once = (kind === 'charge' || kind === 'credit') && flow.type !== WORKFLOW_TYPES.resolvePending;
  if (!once || !event.trusted || event.status !== 'Succeed' || event.transactionId === undefined) return false;
  const verdict = classifyEvent(event, { kind, businessUnit, paymentId, transactionId });
  if (verdict.verdict !== 'ignore' || verdict.reason !== 'otherTransaction') return false;
  addLasting(flow, `an event calls ${kind} ${event.transactionId} Succeed, beside ${transactionId} of this flow`);
  return flow.lasting !== lasting;
}
