import type { ApplicationFailure } from '@temporalio/workflow';
import type { Captured, HoldOutcome, Released, Voided } from '../../src/contract/authorize.js';
import type { FailureType } from '../../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import type { FinalStepOutcome, Succeeded, VoidOfPending } from '../../src/contract/outcome.js';
import type { PaymentRecord } from '../../src/contract/transaction.js';
import { postUntil } from '../../src/domain/windows.js';
import { noteAction } from '../flow/note-action.js';
import { happen, happened } from '../flow/phase.js';
import { inResetRun } from '../flow/start-guard.js';
import type { FlowState, MoneyCommand } from '../flow/state.js';
import { enter, publish } from '../flow/visibility.js';
import { read } from '../policies.js';
import { beginStep } from './begin-step.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import type { Hold } from './hold.js';
import type { Look } from './inspect-hold.js';
import { inspectHold, lookFirst } from './inspect-hold.js';
import type { MoneyStep } from './money-step.js';
import { moneyStep, tryStep } from './money-step.js';
import { askOperator } from './operator.js';
import type { VoidCount } from './void-pending.js';
import { endOfVoids, pendingVoids } from './void-pending.js';

type CaptureOf = Extract<MoneyCommand, { name: 'capture' }>;
type VoidOf = Extract<MoneyCommand, { name: 'void' }>;

/** Takes the money, or the part that the command names. Undefined when the hold goes on. */
export async function captureHold(flow: FlowState, hold: Hold, command?: CaptureOf): Promise<HoldOutcome | undefined> {
  const amount = command?.request.amount ?? flow.amount;
  const look = await lookFirst(flow, hold, 'capture', amount);
  if (!mayAct(look)) return notSent(flow, look, command);
  happen(flow, 'capture');
  beginStep(flow, 'capture', amount);
  flow.notLooked = look === 'notOffered';
  hold.sequences.capture += 1;
  show(flow, hold);
  const count: VoidCount = { sequence: hold.sequences.void, ids: hold.voids };
  const voids = pendingVoids(flow, count);
  const ended = await tryStep(flow, { ...captureStep(flow, hold, command), voids });
  hold.sequences.void = count.sequence;
  if ('refused' in ended) return await refusedByService(flow, hold, ended.refused, command);
  note(hold.captures, ended);
  if (command !== undefined) answer(flow, command, hold.sequences.capture, ended);
  const end = endOfVoids(flow, voids, ended);
  if (end !== undefined && 'voided' in end) {
    happen(flow, 'voided');
    return { ...voided(flow, hold, end.outcome, 'command'), voided: end.voided };
  }
  if (ended.status !== 'succeeded') {
    happened(flow, ended);
    // Nobody has confirmed that it failed: a second capture might be one too many.
    if (ended.status === 'declined' && !ended.confirmed)
      hold.unconfirmedCapture = ended.transactionId ?? 'of unknown id';
    return undefined;
  }
  const rest = flow.amount - ended.amount;
  happen(flow, rest > 0 ? 'captureInPart' : 'done');
  enter(flow, { status: 'captured', waitingFor: 'provider' });
  const released = rest > 0 ? await release(flow, hold, rest, end) : undefined;
  return { ...captured(flow, hold, ended, released), ...end };
}

/** Lets go of the money. Undefined when the hold goes on. */
export async function voidHold(
  flow: FlowState,
  hold: Hold,
  { reason, command }: { reason: string; command?: VoidOf },
): Promise<HoldOutcome | undefined> {
  const look = await lookFirst(flow, hold, 'void');
  // The failure of a capture that nobody confirmed may have been none: what is captured must not be voided.
  if (!mayAct(look) || (look === 'notOffered' && hold.unconfirmedCapture !== undefined))
    return notSent(flow, look, command);
  happen(flow, 'void');
  const ended = await sendVoid(flow, hold, look === 'notOffered', inResetRun());
  if ('refused' in ended) return await refusedByService(flow, hold, ended.refused, command);
  if (command !== undefined) answer(flow, command, hold.sequences.void, ended);
  happened(flow, ended);
  if (ended.status !== 'succeeded') return undefined;
  return voided(flow, hold, ended, reason);
}

function voided(flow: FlowState, hold: Hold, ended: FinalStepOutcome, reason: string): Voided {
  const { reference, currency, paymentId, transactionId, risk, details, evidence } = ended;
  return {
    reference,
    currency,
    ...(paymentId !== undefined && { paymentId }),
    ...(transactionId !== undefined && { transactionId }),
    ...(risk !== undefined && { risk }),
    ...(details !== undefined && { details }),
    evidence,
    amount: flow.amount,
    status: 'voided',
    authorizationId: hold.authorized.transactionId ?? '',
    reason,
  };
}

function mayAct(look: Look): look is 'held' | 'notOffered' {
  return look === 'held' || look === 'notOffered';
}

/** The hold is gone, or nobody can tell whether it is: the first ends the flow, of the second a person hears. */
function notSent(flow: FlowState, look: Look, command: CaptureOf | VoidOf | undefined): HoldOutcome | undefined {
  if (typeof look !== 'string') {
    if (command !== undefined) command.answer = { refusal: `the hold is gone: ${look.status}` };
    return look;
  }
  if (look === 'cancelled') {
    if (command !== undefined) command.answer = { refusal: 'nothing was sent: the flow was cancelled meanwhile' };
    return undefined;
  }
  askOperator(flow, HOLD_UNCLEAR);
  if (command !== undefined) command.answer = { refusal: HOLD_UNCLEAR, type: FAILURE_TYPES.stateConflict };
  return undefined;
}

const HOLD_UNCLEAR =
  'nothing was sent: the service does not say whether the money is still held, and it may have been captured';

/** @param unlessCaptured in a run made by a reset, where the activity looks first: no command of the flow hangs on it */
async function sendVoid(flow: FlowState, hold: Hold, notLooked = false, unlessCaptured = false) {
  beginStep(flow, 'void');
  flow.notLooked = notLooked;
  hold.sequences.void += 1;
  show(flow, hold);
  const { paymentId = '' } = flow;
  const ended = await tryStep(
    flow,
    moneyStep(flow, {
      paymentId,
      operation: 'void',
      sequence: hold.sequences.void,
      knownTransactionIds: [...hold.voids],
      postUntil: postUntil(flow.stepStartedAt, false),
      post: (activities, call) =>
        activities.createVoid({ ...call, ...(unlessCaptured && { unlessCaptured: true as const }) }),
    }),
  );
  if (!('refused' in ended)) note(hold.voids, ended);
  return ended;
}

function captureStep(flow: FlowState, hold: Hold, command: CaptureOf | undefined): MoneyStep {
  const { paymentId = '', stepAmount: amount } = flow;
  // The service takes the whole for what is not named; from the second one on it wants to hear how much.
  const capture = command?.request.amount === undefined && hold.captures.length === 0 ? {} : { amount };
  const reconciliationId = command?.request.reference ?? flow.reference;
  return moneyStep(flow, {
    paymentId,
    operation: 'capture',
    sequence: hold.sequences.capture,
    reconciliationId,
    knownTransactionIds: [...hold.captures],
    postUntil: postUntil(flow.stepStartedAt, false),
    post: (activities, call) =>
      activities.createCapture({
        ...call,
        reconciliationId,
        knownTransactionIds: call.knownTransactionIds ?? [],
        capture,
      }),
  });
}

/**
 * After a partial capture. A void is sent only where the service itself offers one: elsewhere it might give back
 * what was captured.
 */
async function release(
  flow: FlowState,
  hold: Hold,
  amount: number,
  despite: { despiteVoid: VoidOfPending } | undefined,
): Promise<Released> {
  const at = new Date(hold.terms.heldUntil).toISOString();
  const why = despite === undefined ? await whyNoVoid(flow) : 'it was voided while the capture was pending';
  if (why !== undefined) {
    happen(flow, 'refused');
    return { amount, by: 'expiry', at, why };
  }
  const ended = await sendVoid(flow, hold);
  if ('refused' in ended) {
    happen(flow, 'refused');
    return { amount, by: 'expiry', at, why: ended.refused.message };
  }
  happened(flow, ended);
  if (ended.status === 'succeeded') return { amount, by: 'void', transactionId: ended.transactionId ?? '' };
  return { amount, by: 'expiry', at, why: `the void ended ${ended.status}` };
}

async function whyNoVoid({ businessUnit, paymentId = '' }: FlowState): Promise<string | undefined> {
  let payment: PaymentRecord;
  try {
    payment = await read.getPayment({ businessUnit, paymentId });
  } catch {
    return 'the service could not be asked whether it offers a void after a capture';
  }
  const offered = decodedOrRetry(payment).nextActions?.includes('Void') === true;
  return offered ? undefined : 'the service offers no void after a capture';
}

/** Nothing was executed. Most often somebody else, or the clock, has ended the hold meanwhile. */
async function refusedByService(
  flow: FlowState,
  hold: Hold,
  failure: ApplicationFailure,
  command: MoneyCommand | undefined,
): Promise<HoldOutcome | undefined> {
  happen(flow, 'refused');
  const ended = await inspectHold(flow, hold);
  if (command === undefined) return ended;
  const now = ended === undefined ? '' : `; the hold is gone: ${ended.status}`;
  command.answer = { refusal: `${failure.message}${now}`, type: failure.type as FailureType };
  return ended;
}

export function captured(flow: FlowState, hold: Hold, capture: Succeeded, released?: Released): Captured {
  const { status: _status, amount, ...common } = capture;
  return {
    ...common,
    status: 'captured',
    amount: flow.amount,
    capturedAmount: amount,
    authorizationId: hold.authorized.transactionId ?? '',
    ...(released !== undefined && { released }),
  };
}

function answer(flow: FlowState, command: MoneyCommand, sequence: number, outcome: FinalStepOutcome): void {
  noteAction(flow, command, sequence, outcome);
  command.answer = { outcome };
}

/** A capture or void is under way: what is pending or unknown from here on is that one. Releasing shows as captured. */
function show(flow: FlowState, { pursuit }: Hold): void {
  if (flow.phase === 'releasing') return;
  const status = flow.kind === 'void' ? 'voiding' : 'capturing';
  // Somebody who was called because tries fail is not sent away by the next one.
  const calm = pursuit.tries === 0 ? { needsOperator: null } : {};
  enter(flow, { status, waitingFor: 'provider', dueAt: null, ...calm });
  publish(flow);
}

function note(ids: string[], { transactionId }: FinalStepOutcome): void {
  if (transactionId !== undefined) ids.push(transactionId);
}
