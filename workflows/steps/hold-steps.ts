import { metricMeter } from '@temporalio/workflow';
import type { HoldOutcome } from '../../src/contract/authorize.js';
import { WORKER_COUNTERS } from '../../src/contract/metrics.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import { holdAct, type HoldAct, type Retries } from '../../src/domain/hold.js';
import { postUntil } from '../../src/domain/schedules.js';
import { holdOfCommand, isReplaced, isReplacedByDeadline } from '../../src/domain/sent-before.js';
import { resumable } from '../flow/continue.js';
import type { FlowState, Hold, MoneyCommand, ReauthorizeRequest, VoidOf } from '../flow/state.js';
import { enter } from '../flow/explain.js';
import { contradicted, isToldSinceRead, noteContradiction } from '../flow/told.js';
import { publish } from '../kit/visibility.js';
import { beginStep, type MoneyStep, moneyStep, tryExecute } from './money-step.js';
import { ASK_OPERATOR_AFTER_TRIES } from './operator.js';

export type CaptureOf = Extract<MoneyCommand, { name: 'capture' }>;

/**
 * Voids the hold, and follows the void to its end.
 * @param unlessCaptured for a run made by a reset: the activity reads the payment first. No workflow command depends on
 * it, so replays don't diverge
 */
export async function sendVoid(flow: FlowState, hold: Hold, notLooked = false, unlessCaptured = false) {
  const begin = (): object => {
    beginStep(flow, 'void', hold.authorized.amount);
    flow.notLooked = notLooked;
    hold.sequences.void += 1;
    if (hold.mustVoid === 'reauthorize') hold.released = true;
    show(flow, hold);
    return {};
  };
  const { paymentId = '' } = flow;
  const ended = await resumable(flow, 'sendVoid', begin, () =>
    tryExecute(
      flow,
      moneyStep(flow, {
        paymentId,
        operation: 'void',
        sequence: hold.sequences.void,
        besideOthers: true,
        knownTransactionIds: [...hold.voids],
        // Captured money must not be voided.
        unwanted: () => isToldSinceRead(flow),
        postUntil: postUntil(flow.stepStartedAt, false),
        post: (activities, call) =>
          activities.createVoid({
            ...call,
            ...(unlessCaptured && { unlessCaptured: true as const }),
            ...(hold.mustVoid === 'reauthorize' && { toReauthorize: true as const }),
          }),
      }),
    ),
  );
  if (!('refused' in ended)) note(hold.voids, ended);
  return ended;
}

export function captureStep(flow: FlowState, hold: Hold, command: CaptureOf | undefined): MoneyStep {
  const { paymentId = '' } = flow;
  // Not `stepAmount`: in a later run the step fields may describe a void of this capture, and a repeat must be the same.
  const amount = command?.request.amount ?? wholeOf(flow, hold);
  // Without an amount the service captures everything; from the second capture on it requires an amount.
  const isWhole = command?.request.amount === undefined && hold.captures.length === 0;
  const capture = isWhole && amount === hold.authorized.amount && amount === flow.amount ? {} : { amount };
  const reconciliationId = command?.request.reference ?? flow.reference;
  return moneyStep(flow, {
    paymentId,
    operation: 'capture',
    sequence: hold.sequences.capture,
    reconciliationId,
    besideOthers: true,
    knownTransactionIds: [...hold.captures],
    unwanted: () => contradicted(flow) !== undefined || isToldSinceRead(flow),
    postUntil: postUntil(flow.stepStartedAt, false),
    post: (activities, call) =>
      activities.createCapture({
        ...call,
        reconciliationId,
        knownTransactionIds: call.knownTransactionIds ?? [],
        capture,
        ...(command === undefined && !hold.captureAtOnce && { atDeadline: true as const }),
      }),
  });
}

/**
 * What a capture without an amount takes. A person may have settled the authorization over another sum than was asked
 * for: more than either must not be captured.
 */
export function wholeOf({ amount }: FlowState, { authorized }: Hold): number {
  return Math.min(amount, authorized.amount);
}

/**
 * Shows that a capture or void is under way: a later `pending` or `unknown` is about that operation. While the rest of
 * a partial capture is released the flow still shows as captured.
 */
export function show(flow: FlowState, { retries, taken }: Hold): void {
  if (taken !== undefined) return;
  const status = flow.kind === 'void' ? 'voiding' : 'capturing';
  // Keep needsOperator set while retries continue.
  const calm = retries.tries === 0 ? { needsOperator: null } : {};
  enter(flow, { status, waitingFor: 'provider', dueAt: null, ...calm });
  publish(flow);
}

export function note(ids: string[], { transactionId }: FinalStepOutcome): void {
  if (transactionId !== undefined) ids.push(transactionId);
}

/** Shows the money as held. An unchanged status is not published again. */
export function showHeld(flow: FlowState, hold: Hold, soon: boolean): void {
  const { authorized, mustVoid, retries, terms } = hold;
  flow.kind = 'authorization';
  flow.stepAmount = authorized.amount;
  flow.transactionId = authorized.transactionId;
  flow.settleable = isAsked(hold);
  flow.settlesAmount = flow.settleable;
  const due = mustVoid === undefined ? 'the deadline has passed' : `the money is to be released (${mustVoid})`;
  const failing =
    retries.tries >= ASK_OPERATOR_AFTER_TRIES
      ? `${due} and ${retries.tries} tries to end the hold have failed`
      : undefined;
  // A caller of `storeCard` never asked for a hold.
  const ofConsent = mustVoid === 'consent given';
  const status = ofConsent ? 'voiding' : 'authorized';
  const waitingFor = ofConsent ? 'provider' : soon ? 'captureSoonDue' : 'capture';
  const same = flow.status === status && flow.waitingFor === waitingFor;
  if (same && (failing === undefined || flow.needsOperator !== undefined)) return;
  if (soon && flow.waitingFor !== 'captureSoonDue' && retries.tries === 0) {
    metricMeter.createCounter(WORKER_COUNTERS.captureDeadlineNear).add(1, { business_unit: flow.businessUnit });
  }
  // Keep what a read of the hold has raised meanwhile; drop what an earlier operation raised.
  const raised = flow.status === status ? flow.needsOperator : undefined;
  const needsOperator = failing ?? raised ?? flow.lasting ?? null;
  enter(flow, { status, waitingFor, needsOperator });
  publish(flow, { dueAt: terms.captureBy });
}

/**
 * Records a try to end the hold. Only a deadline's tries are retried; a capture asked for at the start is one request,
 * like a command. A capture that was not sent because a read was unclear has not failed: it is tried again, and the
 * hold is not voided.
 */
export function noteTry(hold: Hold, captures: number): void {
  const { retries, terms } = hold;
  const captureFailed = hold.sequences.capture > captures;
  // A hold that must be voided is not captured, and its voids have the delays of a deadline's.
  const capturesAtOnce = hold.captureAtOnce && hold.mustVoid === undefined;
  const isBraked = (hold.captureAgainAt ?? 0) > Date.now();
  if (capturesAtOnce) hold.captureAtOnce = (!captureFailed || isBraked) && Date.now() < terms.heldUntil;
  else
    hold.retries = {
      tries: retries.tries + 1,
      lastTryAt: Date.now(),
      captureFailed: retries.captureFailed || captureFailed,
    };
}

const CAPTURE_AGAIN_MS = 15 * 60_000;

/** The capture at once was not sent: it is asked for again, until the deadline decides. */
export function noteBraked(hold: Hold): void {
  if (hold.captureAtOnce) hold.captureAgainAt = Date.now() + CAPTURE_AGAIN_MS;
}

/** What the hold needs now. */
export function nextAct(hold: Hold): HoldAct {
  const { terms, captureAgainAt } = hold;
  const now = Date.now();
  if (captureAgainAt !== undefined && now >= terms.captureBy) hold.captureAtOnce = false;
  if (!hold.captureAtOnce || hold.mustVoid !== undefined) return holdAct(terms, retriesOf(hold), now);
  if (captureAgainAt === undefined || now >= captureAgainAt) return { act: 'capture' };
  return { act: 'wait', until: Math.min(captureAgainAt, terms.captureBy), soon: now >= terms.warnAt };
}

/** The state by which the deadline of a hold is decided. */
function retriesOf({ mustVoid, onDeadline, retries, unconfirmedCapture }: Hold): Retries {
  return {
    ...retries,
    onDeadline,
    mustVoid: mustVoid !== undefined,
    // A second capture could take the money twice.
    captureFailed: retries.captureFailed || unconfirmedCapture !== undefined,
  };
}

/**
 * From here on the hold is voided with retries, as after a deadline. What follows once it is gone is in
 * `reauthorize-hold.ts`.
 */
export function releaseToReauthorize(hold: Hold, command?: ReauthorizeRequest): void {
  hold.mustVoid = 'reauthorize';
  hold.reauthorization = command;
}

/** A brake has stopped the reauthorization before anything of it was sent: the hold is as it was, and takes commands. */
export function keepHold(hold: Hold, why: string): void {
  if (hold.reauthorization !== undefined) hold.reauthorization.answer = { refusal: `not reauthorized: ${why}` };
  hold.reauthorization = undefined;
  hold.mustVoid = undefined;
  delete hold.released;
}

/** True if the deadline of the hold, when it comes, begins a reauthorization. */
export function reauthorizesAtDeadline({
  mustVoid,
  reauthorizationsLeft = 0,
  reauthorizationsAtDeadline,
  unconfirmedCapture,
  ofEarlierFlow,
}: Hold): boolean {
  // It would be released, and the next one refused.
  if (ofEarlierFlow === true) return false;
  const inDoubt = unconfirmedCapture !== undefined;
  return mustVoid === undefined && reauthorizationsLeft > 0 && reauthorizationsAtDeadline > 0 && !inDoubt;
}

/** True if the run before a reset has replaced the hold, as this run has found: somebody must follow the next one. */
export function wasReplaced(hold: Hold): boolean {
  return hold.sentBefore !== undefined && isReplaced(hold.sentBefore, hold);
}

/**
 * True if what was held is not wanted any more. A reset gives no cancel again: that of a run before counts for the last
 * hold that was made then.
 */
export function isCancelled(flow: FlowState, hold: Hold): boolean {
  return flow.isCancelled() || (hold.sentBefore?.cancelled === true && !isReplaced(hold.sentBefore, hold));
}

/** The hold that a command of the run before a reset was for; any other command is for this one. */
export function holdOf(hold: Hold, command: { commandId: string } | undefined): 'earlier' | 'this' | 'later' {
  if (hold.sentBefore === undefined || command === undefined) return 'this';
  return holdOfCommand(hold.sentBefore, hold, command.commandId);
}

/**
 * True if what is to end the hold now was meant for the one that replaced it in the run before a reset: a command, which
 * waits for that hold, or a cancel.
 */
export function isOfNextHold(hold: Hold, command: CaptureOf | VoidOf | undefined): boolean {
  const { mustVoid, reauthorization } = hold;
  const meant = reauthorization ?? command;
  if (meant !== undefined) return holdOf(hold, meant) === 'later';
  return mustVoid !== undefined && mustVoid !== 'reauthorize' && wasReplaced(hold);
}

/** True if the run before a reset has released the hold for another reason than to replace it. */
export function isGoneForGood(hold: Hold, { status }: HoldOutcome): boolean {
  const { reauthorization, sentBefore, foundEnded, released } = hold;
  if (sentBefore === undefined || foundEnded !== true || released === true) return false;
  if (reauthorization !== undefined) return sentBefore.cancelled && !isReplaced(sentBefore, hold);
  return !isReplacedByDeadline(sentBefore, hold, status);
}

/** A signed event has called captures `Succeed` that were answered otherwise: none is sent any more. */
export function distrustTold(flow: FlowState, hold: Hold): void {
  const told = contradicted(flow);
  if (told !== undefined && told !== hold.unconfirmedCapture) distrust(flow, hold, 'capture', told);
  // A read has shown that the hold before was gone, and not taken: it bars nothing, but a person must know.
  const before = flow.toldCaptured?.find((id) => hold.capturesBefore?.includes(id));
  if (before !== undefined) noteContradiction(flow, 'capture', before);
}

/** Whether a person has been asked what became of the hold. */
export function isAsked({ unlistedCapture = false }: Hold): boolean {
  return unlistedCapture !== false;
}

/** A person has found that none of the hold's captures has taken the money. */
export function forgetContradiction(flow: FlowState, hold: Hold): void {
  hold.unconfirmedCapture = undefined;
  flow.toldCaptured = (flow.toldCaptured ?? []).filter((id) => !hold.captures.includes(id));
}

/** The same for any capture or void: no look of before counts, and a person is told. */
export function distrust(flow: FlowState, hold: Hold, resource: string, transactionId: string): void {
  // A second capture could take the money twice.
  if (resource === 'capture') hold.unconfirmedCapture = transactionId;
  hold.seenAt = 0;
  noteContradiction(flow, resource, transactionId);
}
