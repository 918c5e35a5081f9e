import type { HoldOutcome } from '../../src/contract/authorize.js';
import { RELEASE_AFTER_END_MS } from '../../src/domain/hold.js';
import { pollDelay } from '../../src/domain/schedules.js';
import { resourceOf } from '../../src/domain/settling.js';
import { nextCommandOrMessage, takeOut, waitingVoid } from '../flow/inbox.js';
import { resumable } from '../flow/continue.js';
import { contradicted, isOfPayment } from '../flow/told.js';
import type { FlowState, Hold, Message, MoneyCommand, QueuedCommand } from '../flow/state.js';
import { ignore } from '../kit/run.js';
import { captureHold, voidHold } from './end-hold.js';
import { forbids } from './hold-refusals.js';
import {
  distrust,
  distrustTold,
  holdOf,
  isCancelled,
  nextAct,
  noteTry,
  reauthorizesAtDeadline,
  releaseToReauthorize,
  showHeld,
  wasReplaced,
} from './hold-steps.js';
import { expire } from './hold-ends.js';
import { decideHold, inspectHold, LOOK_AGAIN_MS, lookIfLate } from './inspect-hold.js';
import { nextLookWhileRejected } from './operator.js';
import { isOfPendingDeadline } from './pending-deadline.js';

/** Waits for commands and the deadline, and doesn't stop trying to end the hold before it has ended. */
export async function followHold(flow: FlowState, hold: Hold): Promise<HoldOutcome> {
  const begin = (): Following => ({});
  return await resumable(flow, 'hold', begin, (notes) => untilEnd(flow, hold, notes));
}

/** The capture or void that is under way, with its command or reason. */
interface Following {
  act?:
    | { name: 'capture'; command?: Extract<MoneyCommand, { name: 'capture' }> }
    | { name: 'void'; reason: string; command?: Extract<MoneyCommand, { name: 'void' }> }
    | undefined;
  /** Set if the deadline or `captureMode` has started it: the capture sequence before it. */
  captures?: number | undefined;
  /** It voids a hold that has outlived its end. */
  afterEnd?: boolean | undefined;
}

/** Returns undefined if the hold remains. */
async function carryOut(
  flow: FlowState,
  hold: Hold,
  notes: Following,
  act: NonNullable<Following['act']>,
): Promise<HoldOutcome | undefined> {
  notes.act = act;
  const ended = act.name === 'capture' ? await captureHold(flow, hold, act.command) : await voidHold(flow, hold, act);
  notes.act = undefined;
  return ended;
}

/** First finishes the operation that the run before has begun. */
async function resumeAct(flow: FlowState, hold: Hold, notes: Following): Promise<HoldOutcome | undefined> {
  const { act, captures, afterEnd } = notes;
  if (act === undefined) return undefined;
  const { mustVoid } = hold;
  const ended = await carryOut(flow, hold, notes, act);
  if (ended !== undefined) return ended;
  if (captures !== undefined && !wasKept(hold, mustVoid)) noteTry(hold, captures);
  notes.captures = undefined;
  notes.afterEnd = undefined;
  return afterEnd === true ? await listenAfterEnd(flow, hold, notes, 'held') : undefined;
}

async function untilEnd(flow: FlowState, hold: Hold, notes: Following): Promise<HoldOutcome> {
  const begun = await resumeAct(flow, hold, notes);
  if (begun !== undefined) return begun;
  for (;;) {
    const { mustVoid } = hold;
    distrustTold(flow, hold);
    if (isCancelled(flow, hold)) hold.mustVoid ??= 'cancel';
    const asked = waitingVoid(flow);
    // A void goes before the immediate capture and before a deadline that has passed. After a reset it may be meant for
    // the next hold, and waits for that one.
    if (asked !== undefined && mustVoid !== 'reauthorize') {
      takeOut(flow, asked);
      if (refusedAsOver(hold, asked)) continue;
      flow.busy = true;
      hold.captureAtOnce = false;
      // Nobody waits for its answer: it is tried until the hold has ended, and nothing is captured any more.
      const isOfDeadline = isOfPendingDeadline(asked);
      if (isOfDeadline) hold.mustVoid ??= 'pendingDeadline';
      const reason = hold.mustVoid ?? 'command';
      const ended = await carryOut(flow, hold, notes, { name: 'void', reason, command: asked });
      if (ended !== undefined) return ended;
      if (isOfDeadline) noteTry(hold, hold.sequences.capture);
      continue;
    }
    const act = nextAct(hold);
    if (act.act === 'wait') {
      const isKept = hold.mustVoid === undefined;
      const gone = await lookIfLate(flow, hold);
      // The look may begin the release of a hold that the run before a reset has replaced, or show that it was cancelled.
      if (gone === undefined && isKept && (hold.mustVoid !== undefined || isCancelled(flow, hold))) continue;
      const looksAgain = hold.isLate && hold.mustVoid === undefined;
      const waitMs = Math.min(act.until - Date.now(), looksAgain ? LOOK_AGAIN_MS : Infinity);
      const ended = gone ?? (await listen(flow, hold, notes, waitMs, act.soon));
      if (ended !== undefined) return ended;
      continue;
    }
    // A command that waits goes before the void of a deadline: after a reset it may be what the run before has executed.
    const [waiting] = flow.queue;
    const isTaken = waiting !== undefined && !waitsForNext(hold, waiting);
    if (act.act !== 'capture' && hold.mustVoid === undefined && isTaken) {
      const ended = await listen(flow, hold, notes, 0, true);
      if (ended !== undefined) return ended;
      continue;
    }
    if (act.act === 'expire') {
      const ended = await releaseAfterEnd(flow, hold, notes);
      if (ended !== undefined) return ended;
      continue;
    }
    if (act.act === 'void' && reauthorizesAtDeadline(hold)) {
      releaseToReauthorize(hold);
      continue;
    }
    flow.busy = true;
    const captures = hold.sequences.capture;
    notes.captures = captures;
    const reason = hold.mustVoid ?? 'deadline';
    const ended = await carryOut(
      flow,
      hold,
      notes,
      act.act === 'capture' ? { name: 'capture' } : { name: 'void', reason },
    );
    notes.captures = undefined;
    if (ended !== undefined) return ended;
    if (!wasKept(hold, mustVoid)) noteTry(hold, captures);
  }
}

/** Nothing can be captured from a hold that has lapsed. The next one may be long in coming, while a brake holds it back. */
function waitsForNext(hold: Hold, { name }: QueuedCommand): boolean {
  return name === 'capture' && Date.now() >= hold.terms.heldUntil && reauthorizesAtDeadline(hold);
}

/** A brake has stopped the release of the hold before its deadline: nothing was sent, and nothing has to be tried again. */
function wasKept({ mustVoid, terms }: Hold, before: Hold['mustVoid']): boolean {
  return before === 'reauthorize' && mustVoid === undefined && Date.now() < terms.captureBy;
}

/**
 * The hold must have ended by now. If the service still shows it as held it is voided again, a day after the last void.
 */
async function releaseAfterEnd(flow: FlowState, hold: Hold, notes: Following): Promise<HoldOutcome | undefined> {
  const look = await expire(flow, hold);
  if (typeof look !== 'string') {
    if (look.status !== 'captured' && wasReplaced(hold)) releaseToReauthorize(hold, hold.reauthorization);
    return look;
  }
  if (look === 'held' && Date.now() >= hold.nextVoidAt) {
    flow.busy = true;
    // Set before the void: events wake the flow, also those of our own voids, and must not trigger another void.
    hold.nextVoidAt = Date.now() + RELEASE_AFTER_END_MS;
    notes.afterEnd = true;
    const ended = await carryOut(flow, hold, notes, { name: 'void', reason: hold.mustVoid ?? 'deadline' });
    notes.afterEnd = undefined;
    if (ended !== undefined) return ended;
  }
  return await listenAfterEnd(flow, hold, notes, look);
}

async function listenAfterEnd(
  flow: FlowState,
  hold: Hold,
  notes: Following,
  look: 'held' | 'unclear',
): Promise<HoldOutcome | undefined> {
  const waitMs = look === 'held' ? Math.max(1, hold.nextVoidAt - Date.now()) : pollDelay(hold.looks);
  // The hold is read before each of these waits.
  const ended = await listen(flow, hold, notes, nextLookWhileRejected(flow, waitMs), true);
  hold.looks += 1;
  return ended;
}

/** Waits `ms` at most for a command or message. Returns the outcome if that ended the hold. */
async function listen(
  flow: FlowState,
  hold: Hold,
  notes: Following,
  ms: number,
  soon: boolean,
): Promise<HoldOutcome | undefined> {
  showHeld(flow, hold, soon);
  const waitMs = nextLookWhileRejected(flow, ms);
  const endsOnCancel = hold.mustVoid === undefined;
  // Commands that come while it is released for the next hold are meant for that one.
  const takesCommands = hold.mustVoid !== 'reauthorize';
  const takes = (command: QueuedCommand): boolean => takesCommands && !waitsForNext(hold, command);
  const next = await nextCommandOrMessage(flow, waitMs, 'Until the deadline of the hold', endsOnCancel, takes);
  if ('command' in next) {
    const { command } = next;
    if (refusedAsOver(hold, command)) return undefined;
    // An event may have come with the command, and while that was queued the hold may have changed.
    distrustTold(flow, hold);
    const refusal =
      command.name === 'decideReview'
        ? undefined
        : forbids(flow, command.name === 'capture' ? unlessTold(flow, hold) : hold, command.name, command.request);
    if (refusal !== undefined) {
      command.answer = refusal;
      return undefined;
    }
    // A person decides from here on.
    if (command.name !== 'decideReview') hold.captureAtOnce = false;
    switch (command.name) {
      case 'capture':
        return await carryOut(flow, hold, notes, { name: 'capture', command });
      case 'void':
        return await carryOut(flow, hold, notes, { name: 'void', reason: 'command', command });
      case 'reauthorize':
        releaseToReauthorize(hold, command);
        return undefined;
      default:
        command.answer = { refusal: `the money is held: it takes no ${command.name}` };
        return undefined;
    }
  }
  if ('elapsed' in next) return waitMs < ms ? await inspectHold(flow, hold) : undefined;
  return 'message' in next ? await handle(flow, hold, next.message) : undefined;
}

/** Refuses a command that the run before a reset has answered, for a hold before this one. */
function refusedAsOver(hold: Hold, command: QueuedCommand): boolean {
  const isOver = holdOf(hold, command) === 'earlier';
  if (isOver) command.answer = { refusal: 'it was answered before the reset, and the hold that it was for is gone' };
  return isOver;
}

/** Only a foreign change of the payment matters here: a capture or void that is not ours, or a refund of what such a capture took. */
async function handle(flow: FlowState, hold: Hold, message: Message): Promise<HoldOutcome | undefined> {
  if (message.kind === 'settle') return await decideHold(flow, hold, message.command);
  if (message.kind === 'event') {
    const { event } = message;
    const resource = resourceOf(event.eventType) ?? '';
    const isOther = !isOfPayment(flow, event) || !['capture', 'void', 'refund', 'payment'].includes(resource);
    const known = [...hold.captures, ...hold.voids].filter((id) => id !== hold.unconfirmedCapture);
    const isEnded = event.transactionId !== undefined && known.includes(event.transactionId);
    // None of them has succeeded, as far as this flow knows: that would have ended the hold.
    const contradicts = isEnded && event.trusted && event.status === 'Succeed';
    if (isOther || (isEnded && !contradicts)) {
      ignore(flow, isOther ? 'changesNothingWhileHeld' : 'transactionHasEnded');
      return undefined;
    }
    if (contradicts) distrust(flow, hold, resource, event.transactionId ?? '');
  }
  return await inspectHold(flow, hold);
}

/**
 * The hold without the bar of an event that contradicts a capture: `captureHold` looks first, since the run before a reset
 * may have executed this very command before it was told.
 */
function unlessTold(flow: FlowState, hold: Hold): Hold {
  return hold.unconfirmedCapture === contradicted(flow) ? { ...hold, unconfirmedCapture: undefined } : hold;
}
