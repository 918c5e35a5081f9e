import type { Captured, Expired, HoldOutcome } from '../../src/contract/authorize.js';
import type { PaymentRecord } from '../../src/contract/records.js';
import { isNotOffered, noteRefusedRead } from '../../src/domain/absence.js';
import { RELEASED_AFTER_END_MS } from '../../src/domain/hold.js';
import { isUnknownWord, mayBeGone } from '../../src/domain/payment-words.js';
import { earlierRuns } from '../../src/domain/sent-before.js';
import { enter, takeBackReason } from '../flow/explain.js';
import { addLasting } from '../flow/new-state.js';
import { baseOfHold, evidence } from '../flow/outcomes.js';
import { isToldSinceRead } from '../flow/told.js';
import type { FlowState, Hold } from '../flow/state.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { decidesAfterReset } from '../kit/start-guard.js';
import { publish } from '../kit/visibility.js';
import { engineLookup } from '../policies.js';
import { isAsked } from './hold-steps.js';
import { askOperator, askUntilRead, noteAnswered } from './operator.js';
import { listed, readPaymentOrWhyNot } from './read.js';

/**
 * Looks up what the runs before a reset have sent and been told. Only after a read that a reset run has made, since a
 * run of either kind replays all others alike.
 */
export async function withSentBefore<Found>(flow: FlowState, hold: Hold, look: Found): Promise<Found> {
  const hasEnded = typeof look !== 'string';
  if (hold.seenAfterReset !== true || !(hasEnded || (look === 'held' && hold.sentBefore === undefined))) return look;
  hold.sentBefore = earlierRuns(decodedOrRetry(await engineLookup.findSentBefore()), hold, flow.startedAt);
  if (hasEnded) hold.foundEnded = true;
  return look;
}

/** Reads a hold that must be gone by now. `held`: the service still shows it, so it must be voided once more. */
export async function expire(flow: FlowState, hold: Hold): Promise<HoldOutcome | 'held' | 'unclear'> {
  return await withSentBefore(flow, hold, await readExpired(flow, hold));
}

async function readExpired(flow: FlowState, hold: Hold): Promise<HoldOutcome | 'held' | 'unclear'> {
  const read = await readPaymentOrWhyNot(flow);
  const payment = 'refused' in read ? unknownIfNotOffered(hold, read) : read;
  if (!('refused' in read)) hold.refusedLooks = undefined;
  if (payment === undefined) {
    askUntilRead(flow, 'the hold must have ended, but the payment can not be read');
    return 'unclear';
  }
  if (payment.afterReset) hold.seenAfterReset = true;
  if (mayBeGone(payment.status)) hold.seenAt = 0;
  if (payment.status === 'Captured' || payment.status === 'Refunded')
    return (await capturedElsewhere(flow, hold, payment)) ?? 'unclear';
  if (payment.status === 'Voided') return expired(flow, hold, payment);
  const { heldUntil } = hold.terms;
  // The run before a reset may have captured, which this run doesn't know: only an operator can tell. A capture in doubt is asked about by name.
  if (payment.status === 'unknown' && payment.afterReset && !mayBeCaptured(flow, hold)) {
    hold.unlistedCapture = true;
    askForCaptures(
      flow,
      'the hold must have ended, a reset has made this run, and the service does not show how it ended',
    );
    return 'unclear';
  }
  if (payment.status === 'unknown' && isDoubted(flow, hold)) {
    askOfDoubt(flow, hold);
    return 'unclear';
  }
  if (isUnknownWord(payment.status)) {
    askOfUnknownWord(flow, hold, payment.status);
    return 'unclear';
  }
  if (!('refused' in read)) noteAnswered(flow);
  if (payment.status === 'Authorized') noLongerAsked(flow, hold);
  if (Date.now() >= heldUntil + RELEASED_AFTER_END_MS) return { ...expired(flow, hold, payment), confirmed: false };
  // Something is under way at the service: wait for its outcome, and void nothing meanwhile.
  const isHeld = payment.status !== 'Pending';
  const ended = new Date(heldUntil).toISOString();
  const shown =
    payment.status === 'unknown' ? 'does not show whether it has' : `still shows the payment as ${payment.status}`;
  const still = `the hold must have ended at ${ended}, and the service ${shown}`;
  askOperator(flow, isHeld ? `${still}; it is voided again every day` : still);
  if (!isHeld) return 'unclear';
  // The void after a refused read looks for itself: others may have captured, and a later read may show it.
  if ('refused' in read || payment.status === 'Initialized') return 'held';
  hold.seenAt = Date.now();
  // Without a status nothing shows what a restore may have lost.
  if (payment.status !== 'unknown') hold.heldAt = hold.seenAt;
  return 'held';
}

type Shown = Pick<PaymentRecord, 'status' | 'afterReset'>;

/** A read that is refused for good tells as little as one without a status. A single refusal may come from a proxy. */
function unknownIfNotOffered(hold: Hold, { refused }: { refused: boolean }): Shown | undefined {
  hold.refusedLooks = refused ? noteRefusedRead(hold.refusedLooks, Date.now(), false) : undefined;
  if (!isNotOffered(hold.refusedLooks)) return undefined;
  return { status: 'unknown', ...(decidesAfterReset() && { afterReset: true }) };
}

export function expired(flow: FlowState, hold: Hold, { status }: Pick<PaymentRecord, 'status'>): Expired {
  const heldUntil = new Date(hold.terms.heldUntil).toISOString();
  return {
    ...baseOfHold(flow, hold),
    status: 'expired',
    reason: lapsedBy(hold),
    evidence: {
      ...evidence(flow, 'poll'),
      proof: `held until ${heldUntil}; the service shows the payment as ${status}`,
    },
  };
}

export function lapsedBy({ terms }: Hold): string {
  return `the provider held it until ${new Date(terms.heldUntil).toISOString()}`;
}

/** ms. A capture is listed by then; otherwise something else has made the payment captured, such as a charge by others. */
const LISTS_LAG_MS = 15 * 60_000;

/** Returns undefined while the captures can't be read, or none is listed yet. */
export async function capturedElsewhere(
  flow: FlowState,
  hold: Hold,
  { status }: Pick<PaymentRecord, 'status'>,
): Promise<Captured | undefined> {
  const captures = (await listed(flow, 'capture'))?.filter(({ status }) => status === 'Succeed');
  const [first] = captures ?? [];
  if (captures === undefined && isNotOffered(flow.refusedLists.capture)) {
    hold.unlistedCapture = true;
    askForCaptures(flow, 'the service shows the payment as captured and offers no list of captures');
    return undefined;
  }
  if (captures !== undefined && first === undefined) {
    hold.noneListedSince ??= Date.now();
    if (Date.now() - hold.noneListedSince >= LISTS_LAG_MS) {
      hold.unlistedCapture = true;
      askForCaptures(flow, 'the service shows the payment as captured and lists no capture that has succeeded');
      return undefined;
    }
  }
  if (captures === undefined || first === undefined) {
    askOperator(flow, 'the service shows the payment as captured, by no capture of this flow');
    return undefined;
  }
  // The run before a reset may have captured it, and a later flow refunded that.
  if (status === 'Refunded' && hold.seenAfterReset !== true)
    addLasting(flow, `the service shows payment ${flow.paymentId} as Refunded: look what of it was given back`);
  return {
    ...baseOfHold(flow, hold),
    status: 'captured',
    transactionId: first.transactionId,
    capturedAmount: captures.reduce((sum, { amount = hold.authorized.amount }) => sum + amount, 0),
    evidence: {
      ...evidence(flow, 'poll'),
      proof: `the service lists as captured: ${captures.map(({ transactionId }) => transactionId).join(', ')}`,
    },
  };
}

/** Whether the hold may have ended although no read has shown it. Where no read ever does, only a person can tell. */
export function isDoubted(flow: FlowState, hold: Hold): boolean {
  return mayBeCaptured(flow, hold) || hold.seenAt === 0;
}

/** Whether a capture may have taken the money although no read has shown it. */
export function mayBeCaptured(flow: FlowState, { unconfirmedCapture }: Hold): boolean {
  return isToldSinceRead(flow) || unconfirmedCapture !== undefined;
}

/** The hold is in doubt, and nothing can be read: a void could reverse captured money. */
export function askOfDoubt(flow: FlowState, hold: Hold): void {
  const { unconfirmedCapture } = hold;
  const unread = 'and the service offers no read that shows whether it has';
  if (!mayBeCaptured(flow, hold)) {
    // A void of ours has been called `Succeed`: without a capture the hold is as gone as with one.
    hold.unlistedCapture = true;
    return askForCaptures(flow, `the hold may have ended, ${unread}`, IF_GONE);
  }
  hold.unlistedCapture = 'heldIfNone';
  const why = isToldSinceRead(flow)
    ? 'an event calls a capture Succeed'
    : `capture ${unconfirmedCapture} failed without confirmation, and may have taken the money`;
  askForCaptures(flow, `${why}, ${unread}`);
}

const IF_GONE = 'notExecuted once nothing is held any more';

/** The word may mean that money was captured: nothing is captured beside it, and nothing voided. */
export function askOfUnknownWord(flow: FlowState, hold: Hold, word: string): void {
  hold.unlistedCapture = true;
  const since = `the service calls the payment "${word}", a status that nothing is known of`;
  askForCaptures(flow, since, IF_GONE);
}

/** The service shows again how the hold stands: a person who answered what was asked would be refused. */
export function noLongerAsked(flow: FlowState, hold: Hold): void {
  noteAnswered(flow);
  if (!isAsked(hold)) return;
  hold.unlistedCapture = false;
  takeBackReason(flow);
}

/** Replaces any earlier reason: this is what the operator must answer now. */
function askForCaptures(flow: FlowState, since: string, ifNone = 'notExecuted'): void {
  const why =
    `${since}; look in its back office for captures of payment ${flow.paymentId}, and say by settleManually succeeded, ` +
    `with transactionId and amount, or ${ifNone}`;
  if (flow.needsOperator === why) return;
  enter(flow, { needsOperator: why });
  publish(flow);
}
