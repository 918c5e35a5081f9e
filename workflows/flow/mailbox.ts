import { condition } from '@temporalio/workflow';
import type { TransactionEvent } from '../../src/contract/messages.js';
import { judgeEvent } from '../../src/domain/transitions.js';
import { continueAsNew, isTooLong, noteLength } from './continue.js';
import { addMoreLasting } from './lasting.js';
import type { FlowState, Letter, QueuedCommand, SettleCommand, Unplaced, VoidOf } from './state.js';
import { ignore } from './state.js';
import { enter } from './visibility.js';

/**
 * As {@link nextLetter}, for a wait that may last: there the flow continues as new when its run has become long. The
 * caller and all that called it have to be stages (see `stages.ts`), with whatever they must remember in their notes.
 */
export async function nextLetterOrRun(flow: FlowState, ms: number, summary: string): Promise<Letter | undefined> {
  await waitOrRun(flow, () => flow.mailbox.length > 0 || isToBeTold(flow), ms, summary);
  return flow.mailbox.shift() ?? tellOfVoid(flow);
}

/**
 * The next letter, or undefined once `ms` have passed. Every wait of a flow goes through here or through
 * {@link raceLetter}, so that an event, an operator or a clock always has a way in.
 */
export async function nextLetter(flow: FlowState, ms: number, summary: string): Promise<Letter | undefined> {
  flow.inLocalTry = false;
  const woken = (): boolean => flow.mailbox.length > 0 || isToBeTold(flow);
  if (!woken()) {
    enter(flow, { dueAt: Date.now() + ms });
    await condition(woken, Math.max(1, ms), { summary });
  }
  return flow.mailbox.shift() ?? tellOfVoid(flow);
}

/** The void that is to be done next. Whatever was asked before it is done first. */
export function waitingVoid({ queue }: FlowState): VoidOf | undefined {
  const [next] = queue;
  return next?.name === 'void' ? next : undefined;
}

function isToBeTold(flow: FlowState): boolean {
  return flow.tellOfVoid && waitingVoid(flow) !== undefined;
}

/** Who waits for letters hears of a void as of a wish to look now: what it does about it, it does by itself. */
function tellOfVoid(flow: FlowState): Letter | undefined {
  if (!isToBeTold(flow)) return undefined;
  flow.tellOfVoid = false;
  return { kind: 'retryNow' };
}

/** A wait that began in the run before ends when it would have ended there. */
async function waitOrRun(
  flow: FlowState,
  heard: () => boolean,
  ms: number | undefined,
  summary: string,
): Promise<void> {
  flow.inLocalTry = false;
  const until = flow.waitsUntil ?? (ms === undefined ? undefined : Date.now() + ms);
  flow.waitsUntil = undefined;
  noteLength(flow);
  if (!heard()) {
    enter(flow, { dueAt: until ?? null });
    const ends = (): boolean => heard() || flow.isLong;
    if (until === undefined) await condition(ends);
    else await condition(ends, Math.max(1, until - Date.now()), { summary });
  }
  noteLength(flow);
  // What has come is dealt with first, as long as there is room for it.
  if (flow.isLong && (!heard() || isTooLong(flow))) {
    flow.waitsUntil = until;
    await continueAsNew(flow);
  }
  flow.cameForward = true;
}

export type Heard = { letter: Letter } | { command: QueuedCommand } | { elapsed: true } | { cancelled: true };

/**
 * For the waits in which commands are taken, and in which the flow continues as new as in {@link nextLetterOrRun}: the
 * next command or letter, the end of the time, or, where `heedsCancel`, a cancel. Whoever takes a command works it off before the next wait.
 */
export async function nextHeard(flow: FlowState, ms: number, summary: string, heedsCancel: boolean): Promise<Heard> {
  flow.busy = false;
  const cancelled = (): boolean => heedsCancel && flow.isCancelled();
  await waitOrRun(flow, () => flow.queue.length > 0 || flow.mailbox.length > 0 || cancelled(), ms, summary);
  const command = flow.queue.shift();
  if (command !== undefined) {
    flow.busy = true;
    return { command };
  }
  const letter = flow.mailbox.shift();
  if (letter !== undefined) return { letter };
  return cancelled() ? { cancelled: true } : { elapsed: true };
}

/** {@link nextLetterOrRun} for the rare wait that no clock can end. */
export async function nextLetterEver(flow: FlowState): Promise<Letter> {
  await waitOrRun(flow, () => flow.mailbox.length > 0, undefined, '');
  return flow.mailbox.shift() as Letter;
}

/** Work whose end can be looked at without awaiting it, so that letters are heard meanwhile. */
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

export type Raced<T> = { value: T } | { error: unknown } | { letter: Letter } | { elapsed: true };

/** Whichever comes first: the end of `work`, a letter, or the time. The work goes on when another wins. */
export async function raceLetter<T>(flow: FlowState, work: Tracked<T>, ms: number, summary: string): Promise<Raced<T>> {
  const woken = (): boolean => work.done !== undefined || flow.mailbox.length > 0 || isToBeTold(flow);
  const come = await condition(woken, ms, { summary });
  if (work.done !== undefined) return work.done;
  return come ? { letter: flow.mailbox.shift() ?? (tellOfVoid(flow) as Letter) } : { elapsed: true };
}

/** An operator may not decide while the operation itself is still being sent: it could yet act. */
export function refuseSettle(command: SettleCommand): void {
  command.answer = { refusal: 'the operation is still being tried with its idempotency key' };
}

/** Each letter waits where it will be taken: what settles an operation that is being voided is kept for that one. */
export function putIn(flow: FlowState, letter: Letter): void {
  (settlesWhatIsVoided(flow, letter) ? flow.aside : flow.mailbox).push(letter);
}

/** More transactions than this between two commands are no payment any more. */
const MOST_UNPLACED = 50;

/**
 * One that nothing vouches for is no news beside one that is signed, and hides none, whatever either says: unsigned, it may
 * only be counted. An older event may come later.
 */
function isBetterNews(event: TransactionEvent, known: TransactionEvent): boolean {
  if (known.trusted !== event.trusted) return event.trusted;
  if (event.status === undefined || event.status === 'Pending') return false;
  if (known.status === undefined || known.status === 'Pending') return true;
  // Of what can't be compared the last to come counts.
  return !(Date.parse(event.created) < Date.parse(known.created));
}

/** It is asked about at once, but for no longer than the first one: news of what can be told by nobody may come for ever. */
function inPlaceOf({ event: { trusted }, asked }: Unplaced, event: TransactionEvent): Unplaced {
  return asked === undefined || trusted !== event.trusted ? { event } : { event, asked: { ...asked, nextAt: 0 } };
}

/**
 * What is under way takes the letters that are about it, and drops the others. Where nobody else hears of these they are kept
 * besides, of each transaction the last one. Of too many the oldest goes, but none that is signed for one that anybody can make.
 */
export function keepUnplaced(flow: FlowState, event: TransactionEvent): void {
  const { unplaced } = flow;
  if (unplaced === undefined) return;
  const at = unplaced.findIndex(({ event: { transactionId } }) => transactionId === event.transactionId);
  const known = unplaced[at];
  if (known === undefined) unplaced.push({ event });
  else if (isBetterNews(event, known.event)) unplaced[at] = inPlaceOf(known, event);
  if (unplaced.length <= MOST_UNPLACED) return;
  const unsigned = unplaced.findIndex((kept) => !kept.event.trusted);
  unplaced.splice(Math.max(0, unsigned), 1);
  ignore(flow, 'tooManyEvents');
  if (unsigned < 0) addMoreLasting(flow);
}

/** For a void it would be news of something else; there may be no second event about it, and no read. */
export function putAside(flow: FlowState): void {
  for (const letter of flow.mailbox.splice(0)) putIn(flow, letter);
}

export function takeFromAside(flow: FlowState): void {
  flow.mailbox.unshift(...flow.aside.splice(0));
}

function settlesWhatIsVoided({ beingVoided, businessUnit, paymentId }: FlowState, letter: Letter): boolean {
  if (beingVoided === undefined || letter.kind !== 'event') return false;
  return judgeEvent(letter.event, { ...beingVoided, businessUnit, paymentId }).verdict === 'settles';
}
