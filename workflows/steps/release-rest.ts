import type { Captured, HoldOutcome, Released, Voided } from '../../src/contract/authorize.js';
import type { FinalStepOutcome, Succeeded, VoidOfPending } from '../../src/contract/outcome.js';
import type { PaymentRecord } from '../../src/contract/records.js';
import { nextMessageOrRun, refusesWordOfAnother } from '../flow/inbox.js';
import { baseOfHold, decidedOutcome } from '../flow/outcomes.js';
import { isToldSinceRead } from '../flow/told.js';
import { kept, resumable } from '../flow/continue.js';
import { type FlowState, type Hold, type SettleCommand } from '../flow/state.js';
import { ignore } from '../kit/run.js';
import { enter } from '../flow/explain.js';
import { publish } from '../kit/visibility.js';
import { read } from '../policies.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { sendVoid } from './hold-steps.js';
import { pollWait } from './operator.js';
import { readPayment } from './read.js';

/** A capture that has succeeded. */
export interface Taken {
  capture: Succeeded;
  /** Set if it succeeded although it was voided while it was pending. */
  despite?: { despiteVoid: VoidOfPending } | undefined;
}

/** Ends a captured hold: releases what the capture has left of it. */
export async function releaseRest(flow: FlowState, hold: Hold, taken: Taken): Promise<HoldOutcome> {
  if (restOf(hold, taken) <= 0) return captured(hold, taken);
  return await resumable(
    flow,
    'release',
    (): Releasing => ({}),
    (notes) => release(flow, hold, taken, notes),
  );
}

interface Releasing {
  /** Why no void is sent; empty if one is sent, `voided` if the service shows one already. */
  why?: string;
  /** The void that has released the rest, or may have. */
  sent?: FinalStepOutcome;
  looking?: Looking;
}

/**
 * Releases the rest after a partial capture. A void is sent only if the service offers one and the unit's setting says
 * that it releases only the rest: otherwise it would reverse what was captured.
 */
async function release(flow: FlowState, hold: Hold, taken: Taken, notes: Releasing): Promise<HoldOutcome> {
  const lapses = (why: string): Captured => captured(hold, taken, lapsing(hold, taken, why));
  if (notes.looking === undefined) {
    // Empty if a void may be sent.
    const why = await kept(notes, 'why', async () => {
      if (taken.despite !== undefined) return 'it was voided while the capture was pending';
      const offered = await whyNoVoid(flow);
      // One that is stopped before it was sent would be followed as if its answer were lost.
      return offered ?? (isToldSinceRead(flow) ? 'an event calls another capture Succeed' : '');
    });
    if (why !== '' && why !== VOIDED) return lapses(why);
    if (why === '') {
      const ended = await sendVoid(flow, hold);
      if ('refused' in ended) return lapses(ended.refused.message);
      if (!mayHaveReleased(ended)) return lapses(`the void ended ${ended.status}`);
      notes.sent = ended;
    }
    notes.looking = { begun: Date.now(), reads: 0 };
  }
  return await lookWhetherItStands(flow, hold, taken, notes, notes.looking);
}

/** Payment statuses that show a standing capture: a refund needs one. */
const STANDS = ['Captured', 'Refunded'];

/** The service shows the payment as voided although it was captured. */
const VOIDED = 'voided';

async function whyNoVoid({ businessUnit, madeUnder, paymentId = '' }: FlowState): Promise<string | undefined> {
  let payment: PaymentRecord;
  try {
    payment = await read.getPayment({ businessUnit, madeUnder, paymentId });
  } catch {
    return 'the service could not be asked whether it offers a void after a capture';
  }
  const { nextActions, status, voidAfterPartialCapture } = decodedOrRetry(payment);
  if (status === 'Voided') return VOIDED;
  if (nextActions?.includes('Void') !== true) return 'the service offers no void after a capture';
  // A lagging read may offer the void of the uncaptured hold, and a lagging read after the void would show that nothing
  // was cancelled.
  if (!STANDS.includes(status)) return 'the service does not show the capture yet';
  if (voidAfterPartialCapture === true) return undefined;
  return (
    `the service offers a void after a capture, which may cancel the capture as well: none is sent, because ` +
    `voidAfterPartialCapture is not set for business unit "${businessUnit}"`
  );
}

/** A void whose failure is unconfirmed may have succeeded. */
function mayHaveReleased(ended: FinalStepOutcome): boolean {
  return ended.status === 'succeeded' || (ended.status === 'declined' && !ended.confirmed);
}

interface Looking {
  /** Epoch ms. */
  begun: number;
  reads: number;
  /** Only an operator can tell whether the capture stands. */
  inDoubt?: true;
}

const GIVE_UP_LOOKING_MS = 15 * 60_000;
const MAY_LAG_MS = 60_000;

/** Only a read after the void proves that it has released the rest and not the capture. */
async function lookWhetherItStands(
  flow: FlowState,
  hold: Hold,
  taken: Taken,
  notes: Releasing,
  looking: Looking,
): Promise<HoldOutcome> {
  for (; ; looking.reads += 1) {
    const payment = await readPayment(flow);
    const isShown = payment !== undefined && STANDS.includes(payment.status);
    // While a void is still offered the read may lag, and show the state before the void.
    const mayLag = payment?.nextActions?.includes('Void') === true && Date.now() - looking.begun < MAY_LAG_MS;
    if (isShown && !mayLag) return stands(hold, taken, notes);
    const unclear = payment === undefined || payment.status === 'Pending' || isShown;
    if (looking.inDoubt === undefined && (!unclear || Date.now() - looking.begun >= GIVE_UP_LOOKING_MS)) {
      looking.inDoubt = true;
      callOperator(flow, hold, taken, notes, payment);
    }
    const message = await nextMessageOrRun(flow, pollWait(flow, looking.reads), 'Until the capture is shown to stand');
    if (message?.kind === 'event') ignore(flow, 'onlyMakesItLook');
    if (message?.kind === 'settle' && !refusesWordOfAnother(flow, message.command)) {
      // What a person has seen may be old by now, and what the service shows wins.
      const now = message.command.request.status === 'notExecuted' ? await readPayment(flow) : undefined;
      if (now !== undefined && STANDS.includes(now.status)) {
        message.command.answer = { refusal: `the payment service shows the payment as ${now.status}` };
        return stands(hold, taken, notes);
      }
      const decided = decide(flow, hold, taken, notes, message.command, looking.inDoubt === true);
      if (decided !== undefined) return decided;
    }
  }
}

/** Minor units. */
function restOf({ authorized }: Hold, { capture }: Taken): number {
  return authorized.amount - capture.amount;
}

function stands(hold: Hold, taken: Taken, { sent }: Releasing): Captured {
  return captured(hold, taken, releasedBy(hold, taken, sent));
}

function callOperator(
  flow: FlowState,
  hold: Hold,
  { capture }: Taken,
  { sent }: Releasing,
  payment: PaymentRecord | undefined,
): void {
  const by = sent === undefined ? 'a void' : `the void ${sent.transactionId ?? 'of unknown id'}`;
  const shown = payment === undefined ? 'could not be read since' : `is shown as ${payment.status}`;
  const why =
    `the capture ${capture.transactionId ?? 'of unknown id'} may have been cancelled by ${by} of what it had left: ` +
    `payment ${flow.paymentId} ${shown}; look at the provider whether the money is taken, and say by settleManually ` +
    'succeeded (the capture stands) or notExecuted (it was cancelled)';
  // From here on the capture is the operation of unknown outcome.
  hold.taken = undefined;
  flow.kind = 'capture';
  flow.transactionId = capture.transactionId;
  flow.stepAmount = capture.amount;
  flow.settleable = true;
  enter(flow, { status: 'unknown', waitingFor: 'operator', needsOperator: why });
  publish(flow);
}

/** An operator's decision on whether the capture stands. */
function decide(
  flow: FlowState,
  hold: Hold,
  taken: Taken,
  { sent }: Releasing,
  command: SettleCommand,
  inDoubt: boolean,
): HoldOutcome | undefined {
  const refuse = (refusal: string): undefined => void (command.answer = { refusal });
  const { capture } = taken;
  const { status, transactionId } = command.request;
  if (!inDoubt) return refuse('the service is still being asked whether the capture stands');
  if (status === 'declined') return refuse('say succeeded (the capture stands) or notExecuted (it was cancelled)');
  if (transactionId !== undefined && transactionId !== capture.transactionId)
    return refuse(`what is decided is whether the capture ${capture.transactionId ?? ''} stands, not ${transactionId}`);
  const { evidence } = decidedOutcome(flow, command);
  if (status === 'succeeded') return { ...captured(hold, taken, releasedBy(hold, taken, sent)), evidence };
  const voided: Voided = {
    ...baseOfHold(flow, hold),
    status: 'voided',
    reason: 'the void of what the capture had left has cancelled the capture',
    evidence,
  };
  return { ...voided, transactionId: sent?.transactionId ?? capture.transactionId ?? '' };
}

function releasedBy(hold: Hold, taken: Taken, sent: FinalStepOutcome | undefined): Released {
  if (sent?.status === 'succeeded')
    return { amount: restOf(hold, taken), by: 'void', transactionId: sent.transactionId ?? '' };
  return lapsing(hold, taken, sent === undefined ? 'this run has sent no void' : `the void ended ${sent.status}`);
}

function lapsing(hold: Hold, taken: Taken, why: string): Released {
  return { amount: restOf(hold, taken), by: 'expiry', at: new Date(hold.terms.heldUntil).toISOString(), why };
}

function captured(hold: Hold, { capture, despite }: Taken, released?: Released): Captured {
  const { status: _status, amount, ...common } = capture;
  return {
    ...common,
    status: 'captured',
    amount: hold.authorized.amount,
    capturedAmount: amount,
    authorizationId: hold.authorized.transactionId ?? '',
    ...(released !== undefined && { released }),
    ...despite,
  };
}
