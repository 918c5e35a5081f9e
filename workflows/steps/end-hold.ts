import type { ApplicationFailure } from '@temporalio/workflow';
import type { HoldOutcome, Voided } from '../../src/contract/authorize.js';
import { FAILURE_TYPES, type FailureType } from '../../src/contract/names.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import { noteAction } from '../flow/outcomes.js';
import { isToldSinceRead, noteShown } from '../flow/told.js';
import { resumable } from '../flow/continue.js';
import { inResetRun } from '../kit/start-guard.js';
import type { FlowState, Hold, MoneyCommand, PendingVoids, VoidOf } from '../flow/state.js';
import { enter } from '../flow/explain.js';
import { beginStep, tryExecute } from './money-step.js';
import { askOfDoubt, isDoubted } from './hold-ends.js';
import { forbids } from './hold-refusals.js';
import {
  type CaptureOf,
  captureStep,
  distrustTold,
  isAsked,
  keepHold,
  note,
  noteBraked,
  reauthorizesAtDeadline,
  releaseToReauthorize,
  sendVoid,
  show,
  wholeOf,
} from './hold-steps.js';
import { believed, inspectHold, type Look, lookFirst } from './inspect-hold.js';
import { askUntilRead } from './operator.js';
import { releaseRest, type Taken } from './release-rest.js';
import { endOfVoids, noPendingVoids, pendingVoids } from './void-pending.js';

/** Captures the held money, or the part that the command names. Returns undefined if the hold remains. */
export async function captureHold(flow: FlowState, hold: Hold, command?: CaptureOf): Promise<HoldOutcome | undefined> {
  const begin = (): Capturing => ({});
  return await resumable(flow, 'capture', begin, async (notes) => {
    if (notes.taken !== undefined) return await releaseRest(flow, hold, notes.taken);
    if (notes.voids === undefined) {
      const amount = command?.request.amount ?? wholeOf(flow, hold);
      const reconciliationId = command?.request.reference ?? flow.reference;
      const look = await lookFirst(flow, hold, 'capture', command, { amount, reconciliationId });
      if (isDoubtedUnread(flow, hold, look) || !mayAct(look)) {
        // Between two such looks commands must be taken.
        if (command === undefined) noteBraked(hold);
        return notSent(flow, hold, look, command);
      }
      // The key alone says what the run before a reset has captured.
      if (look === 'ours') noteShown(flow, flow.toldSinceRead ?? []);
      // An event may have come during the look.
      distrustTold(flow, hold);
      if (hold.unconfirmedCapture !== undefined && look !== 'ours') return notRepeated(flow, hold, command);
      beginStep(flow, 'capture', amount);
      flow.notLooked = look === 'notOffered';
      hold.capturing = { reconciliationId };
      hold.sequences.capture += 1;
      show(flow, hold);
      notes.voids = noPendingVoids({ sequence: hold.sequences.void, ids: [...hold.voids] });
    }
    const taken = await sendCapture(flow, hold, command, notes.voids);
    if (!('capture' in taken)) return taken.ended;
    notes.taken = taken;
    return await releaseRest(flow, hold, taken);
  });
}

/** Progress of a capture, for the run that continues it. */
interface Capturing {
  /** Voids of the capture; set once it is under way. */
  voids?: PendingVoids;
  taken?: Taken;
}

async function sendCapture(
  flow: FlowState,
  hold: Hold,
  command: CaptureOf | undefined,
  voids: PendingVoids,
): Promise<Taken | { ended: HoldOutcome | undefined }> {
  const ended = await tryExecute(flow, { ...captureStep(flow, hold, command), voids: pendingVoids(flow, voids) });
  hold.capturing = undefined;
  hold.sequences.void = voids.count.sequence;
  hold.voids.splice(0, hold.voids.length, ...voids.count.ids);
  if ('refused' in ended) return { ended: await refusedByService(flow, hold, ended.refused, command) };
  if (ended.status === 'succeeded' && ended.transactionId !== undefined) hold.captured = ended.transactionId;
  note(hold.captures, ended);
  distrustTold(flow, hold);
  if (command !== undefined) answer(flow, command, hold.sequences.capture, ended);
  const end = endOfVoids(flow, voids, ended);
  if (end !== undefined && 'voided' in end) {
    return { ended: { ...voided(hold, end.outcome, 'command'), voided: end.voided } };
  }
  if (ended.status !== 'succeeded') {
    if (ended.status === 'notExecuted' && ended.braked === true && command === undefined) noteBraked(hold);
    // Its failure is unconfirmed: a second capture could take the money twice.
    if (ended.status === 'declined' && !ended.confirmed)
      hold.unconfirmedCapture = ended.transactionId ?? 'of unknown id';
    // It may have been stopped by news of another one. What the service has answered waits for no read: the next command looks.
    const isStopped = ended.status === 'notExecuted' && isToldSinceRead(flow);
    return { ended: isStopped ? await inspectHold(flow, hold) : undefined };
  }
  if (hold.authorized.amount > ended.amount)
    hold.taken = { transactionId: ended.transactionId ?? 'of unknown id', amount: ended.amount };
  enter(flow, { status: 'captured', waitingFor: 'provider' });
  return { capture: ended, despite: end };
}

/** Voids the hold. Returns undefined if the hold remains. */
export async function voidHold(
  flow: FlowState,
  hold: Hold,
  { reason, command }: { reason: string; command?: VoidOf },
): Promise<HoldOutcome | undefined> {
  const begin = (): { look?: 'held' | 'ours' | 'notOffered' } => ({});
  return await resumable(flow, 'void', begin, async (notes) => {
    if (notes.look === undefined) {
      const { unconfirmedCapture: barred } = hold;
      const look = await lookFirst(flow, hold, 'void', command);
      // A capture whose failure is unconfirmed may have succeeded, and captured money must not be voided.
      if (isDoubtedUnread(flow, hold, look) || !mayAct(look)) return notSent(flow, hold, look, command);
      // The service has confirmed that the capture failed, which alone forbade what the deadline is to do.
      const isFree = barred !== undefined && hold.unconfirmedCapture === undefined && hold.mustVoid === undefined;
      if (isFree && command === undefined && (hold.onDeadline === 'capture' || reauthorizesAtDeadline(hold))) return;
      notes.look = look;
    }
    return await release(flow, hold, { reason, command, notLooked: notes.look === 'notOffered' });
  });
}

async function release(
  flow: FlowState,
  hold: Hold,
  { reason, command, notLooked }: { reason: string; command: VoidOf | undefined; notLooked: boolean },
): Promise<HoldOutcome | undefined> {
  const ended = await sendVoid(flow, hold, notLooked, inResetRun());
  if ('refused' in ended) return await refusedByService(flow, hold, ended.refused, command);
  if (command !== undefined) answer(flow, command, hold.sequences.void, ended);
  if (ended.status === 'notExecuted' && ended.braked === true) keepHold(hold, ended.reason);
  // The void may have been stopped by news of a capture.
  if (ended.status !== 'succeeded') return isToldSinceRead(flow) ? await inspectHold(flow, hold) : undefined;
  return voided(hold, ended, reason);
}

function voided(hold: Hold, ended: FinalStepOutcome, reason: string): Voided {
  const { reference, currency, paymentId, transactionId, risk, details, evidence } = ended;
  return {
    reference,
    currency,
    ...(paymentId !== undefined && { paymentId }),
    ...(transactionId !== undefined && { transactionId }),
    ...(risk !== undefined && { risk }),
    ...(details !== undefined && { details }),
    evidence,
    amount: hold.authorized.amount,
    status: 'voided',
    authorizationId: hold.authorized.transactionId ?? '',
    reason,
  };
}

/** The hold may have been captured or have ended, and nothing can be read: a person is asked. */
function isDoubtedUnread(flow: FlowState, hold: Hold, look: Look): boolean {
  const doubted = (look === 'notOffered' || look === 'unread') && isDoubted(flow, hold);
  if (doubted) askOfDoubt(flow, hold);
  return doubted;
}

function mayAct(look: Look): look is 'held' | 'ours' | 'notOffered' {
  return look === 'held' || look === 'ours' || look === 'notOffered';
}

/** Nothing was sent. If the hold is gone the flow ends; if nothing shows whether it is gone, an operator is asked. */
function notSent(
  flow: FlowState,
  hold: Hold,
  look: Look,
  command: CaptureOf | VoidOf | undefined,
): HoldOutcome | undefined {
  if (look === 'nextHold') {
    const meant = command ?? hold.reauthorization;
    if (meant !== undefined) flow.queue.unshift(meant);
    hold.seenAt = 0;
    releaseToReauthorize(hold);
    return undefined;
  }
  if (typeof look !== 'string') {
    if (command !== undefined) command.answer = { refusal: `the hold is gone: ${look.status}` };
    return believed(flow, hold, look);
  }
  if (look === 'cancelled') {
    if (command !== undefined) command.answer = { refusal: 'nothing was sent: the flow was cancelled meanwhile' };
    return undefined;
  }
  askUntilRead(flow, HOLD_UNCLEAR);
  const refusal = isAsked(hold) ? `${HOLD_UNCLEAR}; settleManually says how it stands` : HOLD_UNCLEAR;
  if (command !== undefined) command.answer = { refusal, type: FAILURE_TYPES.stateConflict };
  return undefined;
}

/** A capture before it may have taken the money. */
function notRepeated(flow: FlowState, hold: Hold, command: CaptureOf | undefined): undefined {
  if (command !== undefined)
    command.answer = forbids(flow, hold, 'capture', command.request) ?? { refusal: HOLD_UNCLEAR };
}

const HOLD_UNCLEAR =
  'nothing was sent: the service does not say whether the money is still held, and it may have been captured';

/** Nothing was executed. Most often a foreign capture or void, or the hold's expiry, has ended the hold meanwhile. */
async function refusedByService(
  flow: FlowState,
  hold: Hold,
  failure: ApplicationFailure,
  command: MoneyCommand | undefined,
): Promise<HoldOutcome | undefined> {
  const ended = await inspectHold(flow, hold);
  if (command === undefined) return ended;
  const now = ended === undefined ? '' : `; the hold is gone: ${ended.status}`;
  command.answer = { refusal: `${failure.message}${now}`, type: failure.type as FailureType };
  return ended;
}

function answer(flow: FlowState, command: MoneyCommand, sequence: number, outcome: FinalStepOutcome): void {
  noteAction(flow, command, sequence, outcome);
  command.answer = { outcome };
}
