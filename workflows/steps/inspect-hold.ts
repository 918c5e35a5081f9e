import { patched } from '@temporalio/workflow';
import type { HoldOutcome, Voided } from '../../src/contract/authorize.js';
import { PATCHES } from '../../src/contract/names.js';
import { SAY_IT_AGAIN } from '../../src/contract/refusals.js';
import { isNotOffered, noteRefusedRead } from '../../src/domain/absence.js';
import { isUnknownWord, mayBeGone } from '../../src/domain/payment-words.js';
import { hasFailed } from '../../src/domain/settling.js';
import { pollDelay } from '../../src/domain/schedules.js';
import { takeBackReason } from '../flow/explain.js';
import { baseOfHold, decidedOutcome, evidence } from '../flow/outcomes.js';
import { nextMessage, refusesWordOfAnother } from '../flow/inbox.js';
import { forgetRefused } from '../flow/refuse.js';
import { contradicted, isToldSinceRead, noteShown } from '../flow/told.js';
import { inResetRun } from '../kit/start-guard.js';
import type { FlowState, Hold, SettleCommand, VoidOf } from '../flow/state.js';
import {
  askOfUnknownWord,
  capturedElsewhere,
  expired,
  isDoubted,
  lapsedBy,
  mayBeCaptured,
  noLongerAsked,
  withSentBefore,
} from './hold-ends.js';
import {
  type CaptureOf,
  forgetContradiction,
  isAsked,
  isCancelled,
  isGoneForGood,
  isOfNextHold,
  reauthorizesAtDeadline,
  releaseToReauthorize,
  wasReplaced,
  wholeOf,
} from './hold-steps.js';
import { type Intent, isOurs } from './ours-of-hold.js';
import { listed, readPaymentOrWhyNot } from './read.js';

/** ms. A hold last seen longer ago than this is read before a capture or void. */
export const LOOK_AFTER_MS = 60_000;
/** ms until a hold that should be read, and could not be, is read again. */
export const LOOK_AGAIN_MS = 15 * 60_000;
const GIVE_UP_LOOKING_MS = 15 * 60_000;

/**
 * `ours`: the run before a reset has executed this very operation, and sending it under its key adopts it. `notOffered`
 * and `unclear`: the reads don't tell; with `unclear` nothing rules out that the hold was captured. `unread`: none is offered,
 * and it may have ended.
 */
export type Look = HoldOutcome | 'held' | 'ours' | 'notOffered' | 'unread' | 'unclear' | 'cancelled' | 'nextHold';
/** `failed`: the service could not be read now; the next read may tell. */
type OneLook = Exclude<Look, 'ours' | 'unread' | 'cancelled' | 'nextHold'> | 'pending' | 'statusless' | 'failed';

/**
 * Reads the payment before a capture or void if the hold was last seen a minute or more ago (money rule 8): a foreign
 * capture or void may have ended it, and the event about it may be lost. An unclear read is repeated for 15 minutes.
 */
export async function lookFirst(
  flow: FlowState,
  hold: Hold,
  operation: 'capture' | 'void',
  command: CaptureOf | VoidOf | undefined,
  intent: Intent = {},
): Promise<Look> {
  const isTold = (): boolean => isToldSinceRead(flow);
  const isSeen = Date.now() - hold.seenAt < LOOK_AFTER_MS && !(hold.isLate && hold.isFound === true);
  if (hold.unconfirmedCapture === undefined && isSeen && !isTold()) return 'held';
  const begun = Date.now();
  // A read or an event says that the hold has ended: what is not read is not taken for what was never offered.
  const unanswered = hold.seenAt === 0 ? 'unread' : 'notOffered';
  let last: 'notOffered' | 'unread' | 'unclear' = unanswered;
  for (let looks = 0; ; looks += 1) {
    const look = await lookAtHold(flow, hold);
    // A cancel came: the hold must be voided now, not captured. What the run before a reset has captured is adopted.
    const mayBeTaken = look === 'pending' || (typeof look !== 'string' && look.status === 'captured');
    const isUnwanted = flow.isCancelled() || (isCancelled(flow, hold) && !mayBeTaken);
    if (operation === 'capture' && hold.mustVoid === undefined && isUnwanted) return 'cancelled';
    if (typeof look !== 'string' && look.status !== 'captured') {
      if (isOfNextHold(hold, command)) return 'nextHold';
      // No command has ended a hold that was replaced.
      if (command !== undefined && wasReplaced(hold)) return look;
      if (hold.mustVoid === 'reauthorize' && isGoneForGood(hold, look)) return look;
    }
    const mayBeOurs = look === 'pending' || (typeof look !== 'string' && hold.seenAfterReset === true);
    if (mayBeOurs && (await isOurs(flow, hold, operation, intent, command))) return 'ours';
    if (look === 'statusless') return unanswered;
    // What was told during the read is newer.
    const isOld = look === 'held' && isTold();
    if (!isOld && look !== 'unclear' && look !== 'failed' && look !== 'pending' && look !== 'notOffered') return look;
    if (look !== 'notOffered') last = 'unclear';
    if (Date.now() - begun >= GIVE_UP_LOOKING_MS) return last;
    const message = await nextMessage(flow, pollDelay(looks), 'Until the payment can be read');
    if (message?.kind !== 'settle') continue;
    const decided = await decideHold(flow, hold, message.command);
    if (decided !== undefined) return decided;
  }
}

/**
 * Reads how a hold ended that no operation of ours has ended. Returns undefined while it is held, or if it can't be
 * read or believed yet. Foreign captures and voids exist, and a provider releases a hold by itself.
 */
export async function inspectHold(flow: FlowState, hold: Hold): Promise<HoldOutcome | undefined> {
  const look = await lookUnhurried(flow, hold);
  if (typeof look === 'string') return undefined;
  // No hold follows one that was captured.
  if (hold.mustVoid !== 'reauthorize' || look.status === 'captured') return believed(flow, hold, look);
  // The void that makes room for the next hold is due at once, looks for itself, and finds what the run before did.
  hold.seenAt = 0;
  hold.retries = { ...hold.retries, lastTryAt: 0 };
  return undefined;
}

/**
 * Returns undefined while what the flow has yet to do may have ended the hold in the run before a reset: a command that
 * waits, which the engine gives again, or the reauthorization at a deadline that has passed. Each of them looks for
 * itself and finds what it did; else nobody would follow the hold that it made. The same in every run, since a read may
 * have begun in the run before. No command acts on a hold that is being released, and an operator is believed.
 */
export function believed(flow: FlowState, hold: Hold, ended: HoldOutcome): HoldOutcome | undefined {
  const isDue = Date.now() >= hold.terms.captureBy;
  const reauthorizes =
    ended.status !== 'captured' && isDue && reauthorizesAtDeadline(hold) && !isGoneForGood(hold, ended);
  const waits = flow.queue.length > 0 && hold.mustVoid === undefined;
  // One that is released for the next hold makes room for that.
  const replaced = ended.status !== 'captured' && wasReplaced(hold) && hold.mustVoid !== 'reauthorize';
  if (ended.evidence.knownBy === 'operator' || !(waits || reauthorizes || replaced)) return ended;
  if (replaced && !waits) releaseToReauthorize(hold);
  hold.isLate = true;
  // What comes next must not trust an earlier look, nor be kept waiting by a capture that takes no command.
  hold.seenAt = 0;
  hold.captureAtOnce = false;
  return undefined;
}

/**
 * Reads a hold, as soon as no command waits, until the service says how it stands, if it became known long after it may
 * have been authorized: it may have been captured or voided since, by a command that is not delivered again.
 */
export async function lookIfLate(flow: FlowState, hold: Hold): Promise<HoldOutcome | undefined> {
  // A hold that is being released is read before each void.
  if (!hold.isLate || hold.mustVoid !== undefined || flow.queue.length > 0) return undefined;
  const look = await lookUnhurried(flow, hold);
  if (look === 'notOffered') hold.refusedLooks = noteRefusedRead(hold.refusedLooks, Date.now(), false);
  const mayTellLater = look === 'unclear' || look === 'failed' || look === 'pending';
  hold.isLate = mayTellLater || (look === 'notOffered' && !isNotOffered(hold.refusedLooks));
  return typeof look === 'string' ? undefined : believed(flow, hold, look);
}

/** A look that no command waits for: one that comes meanwhile is accepted. */
async function lookUnhurried(flow: FlowState, hold: Hold): Promise<OneLook> {
  flow.busy = 'looks';
  const look = await lookAtHold(flow, hold);
  flow.busy = true;
  return look;
}

async function lookAtHold(flow: FlowState, hold: Hold): Promise<OneLook> {
  const look = await readHold(flow, hold);
  return await withSentBefore(flow, hold, look);
}

async function readHold(flow: FlowState, hold: Hold): Promise<OneLook> {
  // Not when it was answered: a reset may give an old answer again, days later.
  const begun = Date.now();
  const told = flow.toldSinceRead ?? [];
  const payment = await readPaymentOrWhyNot(flow);
  if ('refused' in payment) return payment.refused ? 'notOffered' : 'failed';
  if (payment.afterReset) hold.seenAfterReset = true;
  if (mayBeGone(payment.status)) hold.seenAt = 0;
  if (payment.status === 'Captured' || payment.status === 'Refunded')
    return (await capturedElsewhere(flow, hold, payment)) ?? 'unclear';
  // Something is under way at the service, for instance a capture of unknown outcome.
  if (payment.status === 'Pending') return 'pending';
  // The service shows no status at all, and won't show one on the next read.
  if (payment.status === 'unknown') return 'statusless';
  if (isUnknownWord(payment.status)) {
    askOfUnknownWord(flow, hold, payment.status);
    return 'unclear';
  }
  hold.noneListedSince = undefined;
  // A read from before the authorization clears nothing that was told since.
  if (payment.status === 'Initialized') return 'held';
  noLongerAsked(flow, hold);
  if (payment.status !== 'Voided') {
    hold.seenAt = begun;
    hold.heldAt = begun;
    noteShown(flow, told);
    await forgetIfFailed(flow, hold);
    return 'held';
  }
  if (Date.now() >= hold.terms.heldUntil) return expired(flow, hold, payment);
  const voids = (await listed(flow, 'void'))?.filter(({ status }) => status === 'Succeed') ?? [];
  const transactionId = voids.at(-1)?.transactionId;
  // The run before a reset may have sent the void; this run doesn't know.
  const byWhom = inResetRun() ? 'by a void that this run has not sent' : 'by no void of this flow';
  const voided: Voided = {
    ...baseOfHold(flow, hold),
    status: 'voided',
    reason: 'elsewhere',
    ...(transactionId !== undefined && { transactionId }),
    evidence: { ...evidence(flow, 'poll'), proof: `the service shows the payment as Voided, ${byWhom}` },
  };
  return voided;
}

/** The service may confirm later that a capture has failed: the hold is as it was, and can be captured. */
async function forgetIfFailed(flow: FlowState, hold: Hold): Promise<void> {
  const { unconfirmedCapture: id } = hold;
  if (id === undefined || contradicted(flow) !== undefined || !patched(PATCHES.confirmsFailures)) return;
  const record = (await listed(flow, 'capture'))?.find(({ transactionId }) => transactionId === id);
  if (record !== undefined && hasFailed(record)) hold.unconfirmedCapture = undefined;
}

const UNREAD = `the service could not be read just now: ${SAY_IT_AGAIN}`;

/**
 * An operator's decision counts only if the service shows the hold as captured but offers no list of captures, or if
 * nothing can be read, and the hold's time is over or it is in doubt.
 */
export async function decideHold(
  flow: FlowState,
  hold: Hold,
  command: SettleCommand,
): Promise<HoldOutcome | undefined> {
  const refuse = (refusal: string): undefined => void (command.answer = { refusal });
  const refuseNow = (refusal: string): undefined => {
    refuse(refusal);
    forgetRefused(flow, command);
  };
  if (refusesWordOfAnother(flow, command)) return undefined;
  if (!isAsked(hold)) return refuse('the money is held and nothing is unknown: use capture or void');
  const look = await lookAtHold(flow, hold);
  if (typeof look !== 'string') {
    command.answer = { refusal: `the hold is gone: ${look.status}` };
    return look;
  }
  const { status, transactionId, amount = wholeOf(flow, hold) } = command.request;
  const isUnread = look === 'statusless' || look === 'notOffered' || look === 'failed';
  const doubted = isUnread && isDoubted(flow, hold);
  const lapses = isUnread && (look !== 'failed' || doubted) && Date.now() >= hold.terms.heldUntil;
  const isHeldIfNone = doubted && hold.unlistedCapture === 'heldIfNone';
  // What was asked about was shown by a read, and the next one may show more: nothing is concluded from a lack of one.
  const mayShowMore = look === 'failed' || (isUnread && mayBeCaptured(flow, hold));
  if (mayShowMore && !isHeldIfNone && status === 'notExecuted') return refuseNow(UNREAD);
  // After a read from before the authorization it is still asked.
  if (look === 'held' && !isAsked(hold)) return refuse('the money is held and nothing is unknown: use capture or void');
  if (look !== 'unclear' && look !== 'failed' && !lapses && !doubted)
    return refuseNow(
      look === 'pending' ? `something is under way at the service: ${SAY_IT_AGAIN} once that has ended` : UNREAD,
    );
  if (status === 'declined')
    return refuse('it is to be told whether the payment was captured: say succeeded or notExecuted');
  if (status === 'succeeded' && transactionId === undefined)
    return refuse('name the transactionId of the capture that the service has');
  const held = hold.authorized.amount;
  if (amount > held) return refuse(`amount: ${amount} minor units are more than the ${held} held`);
  const decided = decidedOutcome(flow, command);
  const common = baseOfHold(flow, hold);
  if (isHeldIfNone && !lapses && status === 'notExecuted') {
    // It is still held, and may be captured or voided.
    noteShown(flow, flow.toldSinceRead ?? []);
    forgetContradiction(flow, hold);
    hold.unlistedCapture = false;
    // What could not be read now may be read by the next command.
    hold.seenAt = look === 'statusless' ? Date.now() : Date.now() - LOOK_AFTER_MS;
    takeBackReason(flow);
    return undefined;
  }
  if (lapses && status === 'notExecuted')
    return { ...common, status: 'expired', reason: lapsedBy(hold), evidence: decided.evidence };
  if (status === 'notExecuted' || transactionId === undefined) {
    return { ...common, status: 'voided', reason: 'elsewhere', evidence: decided.evidence };
  }
  command.answer = { outcome: { ...decided, amount } };
  return { ...common, status: 'captured', transactionId, capturedAmount: amount, evidence: decided.evidence };
}
