import { ApplicationFailure } from '@temporalio/workflow';
import type { FinalAuthorizeOutcome, HoldOutcome, ParsedAuthorizeInput } from '../../src/contract/authorize.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import type { BuyerInput, LaterEntryMode } from '../../src/contract/payment-input.js';
import type { PaymentRecord } from '../../src/contract/records.js';
import { isNotOffered, noteRefusedRead, type RefusedReads } from '../../src/domain/absence.js';
import { EXPIRY_MARGIN_MS } from '../../src/domain/hold.js';
import { isUnknownWord } from '../../src/domain/payment-words.js';
import { OPERATOR_AFTER_MS } from '../../src/domain/schedules.js';
import { nextMessageOrRun } from '../flow/inbox.js';
import { noteAction } from '../flow/outcomes.js';
import { isToldSinceRead, noteToldBefore } from '../flow/told.js';
import { kept, resumable } from '../flow/continue.js';
import { type FlowState, type Hold, type SettleCommand } from '../flow/state.js';
import { ignore } from '../kit/run.js';
import { decidesAfterReset } from '../kit/start-guard.js';
import { enter } from '../flow/explain.js';
import { publish } from '../kit/visibility.js';
import { authorizeStep } from './transaction-steps.js';
import { beginStep, resolveUnknown, execute } from './money-step.js';
import { answerEarlyVoid, earlyVoid, notSentForVoid } from './early-void.js';
import { isAsked, isCancelled, isGoneForGood, wasReplaced } from './hold-steps.js';
import { askOfUnknownWord, capturedElsewhere, withSentBefore } from './hold-ends.js';
import { decideHold } from './inspect-hold.js';
import { readPaymentOrWhyNot } from './read.js';
import { askOperator, pollWait } from './operator.js';
import { type Created, createPayment, attachPayment } from './payment-step.js';

/** What follows a hold that was voided for reauthorization: the next authorization, or the flow's end. */
export type Reauthorized =
  | { authorized: Extract<FinalStepOutcome, { status: 'succeeded' }>; payment: PaymentRecord }
  | { ended: FinalAuthorizeOutcome };

/**
 * Reauthorizes with the stored card: on a new payment, under the next sequence, and only once a read has shown the old
 * hold as voided or expired (money rule 3). For a while there is no hold at all: the other order would hold the buyer's
 * money twice.
 */
export async function reauthorizeHold(
  flow: FlowState,
  input: ParsedAuthorizeInput,
  hold: Hold,
  ended: HoldOutcome,
): Promise<Reauthorized> {
  const begin = (): Reauthorizing => ({});
  return await resumable(flow, 'reauthorize', begin, async (notes) => {
    const gone = await kept(notes, 'gone', () =>
      resumable(
        flow,
        'gone',
        (): ProvingGone => ({ begun: Date.now(), reads: 0 }),
        (reading) => provenGone(flow, hold, ended, reading),
      ),
    );
    const given = notes.begun === undefined ? mayReauthorize(flow, hold, gone) : undefined;
    return given ?? (await authorizeAgain(flow, input, hold, gone, notes));
  });
}

/** Progress of the reauthorization, for the run that continues it. */
interface Reauthorizing {
  gone?: HoldOutcome;
  begun?: true;
  created?: Created;
}

/**
 * True if a hold that was voided by nobody whom this run knows of may have been reauthorized by a run that a restore has
 * lost: the next hold is looked for under its keys, and nothing is authorized if there is none.
 */
export function mayBeReauthorized(
  { mayBeLost }: FlowState,
  { reauthorizationsLeft = 0, ofEarlierFlow }: Hold,
  gone: HoldOutcome,
): boolean {
  return mayBeLost === true && ofEarlierFlow !== true && reauthorizationsLeft > 0 && isVoidedElsewhere(gone);
}

function isVoidedElsewhere(gone: HoldOutcome): boolean {
  return gone.status === 'voided' && gone.reason === 'elsewhere';
}

const VOIDED_ELSEWHERE = 'the payment has been voided elsewhere';
/** That the payment is shown as voided says nothing against it: its status follows what was done last. */
const TOLD = 'an event calls a capture of it Succeed';

/** Returns undefined if nothing prevents the reauthorization. */
function mayReauthorize(flow: FlowState, hold: Hold, gone: HoldOutcome): Reauthorized | undefined {
  if (gone.status === 'captured') return giveUp(hold, gone, 'the money has been captured');
  // The run before a reset went on from here, and somebody must follow the hold that it made.
  if (wasReplaced(hold)) return undefined;
  if (isGoneForGood(hold, gone)) return giveUp(hold, gone, 'the run before a reset has released it');
  if (mayBeReauthorized(flow, hold, gone)) return undefined;
  if (isVoidedElsewhere(gone)) return giveUp(hold, gone, VOIDED_ELSEWHERE);
  if (isToldSinceRead(flow)) return giveUp(hold, gone, TOLD);
  if (gone.status === 'expired' && gone.confirmed === false)
    return giveUp(hold, gone, 'the service still shows the old hold');
  return isCancelled(flow, hold) ? giveUp(hold, gone, 'the flow was cancelled') : undefined;
}

async function authorizeAgain(
  flow: FlowState,
  input: ParsedAuthorizeInput,
  hold: Hold,
  gone: HoldOutcome,
  notes: Reauthorizing,
): Promise<Reauthorized> {
  if (notes.begun === undefined) {
    enter(flow, { status: 'started', waitingFor: 'provider', needsOperator: null, dueAt: null });
    publish(flow);
    flow.held = undefined;
    flow.revealed = undefined;
    flow.keepsVoid = true;
    beginStep(flow, 'authorization');
    notes.begun = true;
  }
  let authorized: FinalStepOutcome;
  let payment: PaymentRecord;
  const sequence = hold.number + 1;
  const isLookedFor = mayBeReauthorized(flow, hold, gone) && !wasReplaced(hold);
  try {
    const isNew = notes.created === undefined;
    const created = await kept(notes, 'created', () => createPayment(flow, input, undefined, sequence));
    if ('ended' in created)
      return isLookedFor ? giveUp(hold, gone, VOIDED_ELSEWHERE) : end(flow, hold, gone, created.ended);
    ({ payment } = created);
    if (isNew) {
      const mayBeUnsent = created.readOnlyReason === undefined && !wasReplaced(hold) && !isLookedFor;
      // The news may have come since the hold was shown as gone.
      if (mayBeUnsent && isToldSinceRead(flow)) return giveUp(hold, gone, TOLD);
      noteToldBefore(flow);
      attachPayment(flow, payment);
      if (mayBeUnsent && isCancelled(flow, hold)) return giveUp(hold, gone, 'the flow was cancelled');
      const unsent = created.readOnlyReason === undefined ? await notSentForVoid(flow) : undefined;
      if (unsent !== undefined) {
        answerEarlyVoid(flow, unsent);
        return giveUp(hold, gone, unsent.reason);
      }
      flow.tellOfVoid = earlyVoid(flow) === undefined;
    }
    const step = authorizeStep(flow, withStoredCard(input, hold), payment, sequence);
    const readOnlyReason = created.readOnlyReason ?? (isLookedFor ? VOIDED_ELSEWHERE : undefined);
    authorized =
      readOnlyReason === undefined ? await execute(flow, step) : await resolveUnknown(flow, readOnlyReason, step);
    if (isLookedFor && authorized.status !== 'succeeded') return giveUp(hold, gone, VOIDED_ELSEWHERE);
  } catch (error) {
    // A believed refusal: there is no new hold, but the flow has held money and does not fail.
    if (error instanceof ApplicationFailure) return giveUp(hold, gone, error.message);
    throw error;
  }
  if (authorized.status !== 'succeeded') return end(flow, hold, gone, authorized);
  answer(flow, hold, authorized);
  return { authorized, payment };
}

interface ProvingGone {
  /** Epoch ms. */
  begun: number;
  reads: number;
  refused?: RefusedReads | undefined;
}

/** Reads until the service shows how the old hold ended, whatever the reply to the void said. */
async function provenGone(flow: FlowState, hold: Hold, ended: HoldOutcome, reading: ProvingGone): Promise<HoldOutcome> {
  // A read has shown this already.
  if (ended.status !== 'voided' || ended.reason === 'elsewhere') return ended;
  for (; ; reading.reads += 1) {
    const read = await readPaymentOrWhyNot(flow);
    const payment = 'refused' in read ? undefined : read;
    const isRefused = 'refused' in read && read.refused;
    reading.refused = isRefused ? noteRefusedRead(reading.refused, Date.now(), false) : undefined;
    if (payment?.afterReset) hold.seenAfterReset = true;
    flow.settleable = false;
    flow.settlesAmount = false;
    if (payment?.status === 'Voided') return await withSentBefore(flow, hold, ended);
    if (payment?.status === 'Captured' || payment?.status === 'Refunded') {
      const captured = await capturedElsewhere(flow, hold, payment);
      if (captured !== undefined) return captured;
      // Where no list is offered, only a person can say what was captured.
      flow.settleable = isAsked(hold);
      flow.settlesAmount = flow.settleable;
    } else if (payment !== undefined && isUnknownWord(payment.status)) {
      askOfUnknownWord(flow, hold, payment.status);
      flow.settleable = true;
      flow.settlesAmount = true;
    } else if (Date.now() >= hold.terms.heldUntil + EXPIRY_MARGIN_MS) {
      // What is refused for good will never show more.
      if (payment !== undefined || isNotOffered(reading.refused)) return await withSentBefore(flow, hold, ended);
      // Nothing follows, so that nothing has to be proven. After a reset only a read shows whether a hold follows that was made before.
      if (isCancelled(flow, hold) && !decidesAfterReset()) return ended;
    }
    const message = await nextMessageOrRun(flow, pollWait(flow, reading.reads), 'Until the old hold is shown as gone');
    if (message?.kind === 'settle' && isOfVoid(hold, message.command)) {
      const { transactionId } = message.command.request;
      message.command.answer = { refusal: `${transactionId} is a void of this hold: name the capture` };
    } else if (message?.kind === 'settle' && flow.settleable) {
      const decided = await decideHold(flow, hold, message.command);
      if (decided?.status === 'captured') return decided;
      // Then it was our void that has ended it.
      if (decided !== undefined) {
        message.command.answer ??= { refusal: 'the hold is gone, as its void has said' };
        return await withSentBefore(flow, hold, ended);
      }
    } else if (message?.kind === 'settle')
      message.command.answer = { refusal: 'the hold is gone, and nothing else is under way' };
    else if (message?.kind === 'event') ignore(flow, 'changesNothingWhileReauthorizing');
    if (Date.now() >= reading.begun + OPERATOR_AFTER_MS) askOperator(flow, notSeenGone(hold));
  }
}

function notSeenGone({ terms }: Hold): string {
  const over = new Date(terms.heldUntil + EXPIRY_MARGIN_MS).toISOString();
  return `the hold before was voided, and for 24 hours no read has shown that it is gone: the next one waits for that, or until ${over}`;
}

/** The void is over, and what is asked now are the captures: a word said of it would count as one of those. */
function isOfVoid({ voids }: Hold, { request: { transactionId } }: SettleCommand): boolean {
  return transactionId !== undefined && voids.includes(transactionId);
}

/** The buyer is absent: fields that only a present buyer vouches for are left out. */
function withStoredCard(input: ParsedAuthorizeInput, { reauthorization }: Hold): BuyerInput {
  const { type, token } = input.paymentMethod;
  const consentTransactionId = input.cardOnFile?.consentTransactionId;
  return {
    paymentMethod: { type, token },
    cardOnFile: {
      entryMode: reauthorization?.request.entryMode ?? input.reauthorization?.entryMode ?? entryModeAfter(input),
      ...(consentTransactionId !== undefined && { consentTransactionId }),
    },
  };
}

function entryModeAfter({ cardOnFile }: ParsedAuthorizeInput): LaterEntryMode {
  return cardOnFile?.entryMode === 'recurring_subsequent_transaction'
    ? 'recurring_subsequent_transaction'
    : 'cof_merchant_initiated_transaction';
}

/**
 * There is no new hold: the flow ends with the outcome of the new authorization or payment. That a brake has stopped it
 * says that nothing was sent, which is not true of a flow that has held money.
 */
function end(flow: FlowState, hold: Hold, gone: HoldOutcome, outcome: FinalStepOutcome): Reauthorized {
  if (outcome.status === 'notExecuted' && outcome.braked === true) return giveUp(hold, gone, outcome.reason);
  answer(flow, hold, outcome);
  return { ended: outcome as Exclude<FinalStepOutcome, { status: 'succeeded' }> };
}

/** Nothing was authorized: the flow ends as the old hold did. */
function giveUp({ reauthorization }: Hold, gone: HoldOutcome, why: string): Reauthorized {
  if (reauthorization !== undefined) reauthorization.answer = { refusal: `not reauthorized: ${why}` };
  if (gone.status === 'captured') return { ended: gone };
  return { ended: { ...gone, reason: `${gone.reason}; not reauthorized: ${why}` } };
}

function answer(flow: FlowState, { number, reauthorization }: Hold, outcome: FinalStepOutcome): void {
  if (reauthorization === undefined) return;
  noteAction(flow, reauthorization, number + 1, outcome);
  reauthorization.answer = { outcome };
}
