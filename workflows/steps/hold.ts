import { metricMeter } from '@temporalio/workflow';
import type { HoldOutcome, ParsedAuthorizeInput } from '../../src/contract/authorize.js';
import { MAX_REAUTHORIZATIONS } from '../../src/contract/authorize.js';
import type { Succeeded } from '../../src/contract/outcome.js';
import { usesStoredCard } from '../../src/contract/payment-input.js';
import type { HoldTerms, Pursuit } from '../../src/domain/hold.js';
import { holdAct, PURSUIT_AFTER_END_MS } from '../../src/domain/hold.js';
import { pollDelay } from '../../src/domain/schedules.js';
import { resourceOf } from '../../src/domain/transitions.js';
import { nextHeard, waitingVoid } from '../flow/mailbox.js';
import { happen } from '../flow/phase.js';
import type { FlowState, Letter, RenewCommand } from '../flow/state.js';
import { ignore } from '../flow/state.js';
import { enter, publish } from '../flow/visibility.js';
import { captureHold, voidHold } from './end-hold.js';
import { forbids, refuses } from './hold-refusals.js';
import { decideHold, expire, inspectHold } from './inspect-hold.js';

/** One authorization that has succeeded, and how far its end has been pursued. */
export interface Hold {
  readonly authorized: Succeeded;
  /** Epoch ms. */
  readonly authorizedAt: number;
  readonly terms: HoldTerms;
  readonly onDeadline: 'capture' | 'void';
  /** Why it has to be let go, whatever the deadline says. */
  mustVoid: 'cancel' | 'risk declined' | 'consent given' | 'reauthorize' | undefined;
  /** `captureMode` `auto`: not captured yet. */
  captureAtOnce: boolean;
  pursuit: Pick<Pursuit, 'tries' | 'lastTryAt' | 'captureFailed'>;
  /** Intents so far, and the transactions they made, by operation. */
  readonly captures: string[];
  readonly voids: string[];
  sequences: { capture: number; void: number };
  /** A capture whose failure the provider never confirmed: nothing captures again, not even the deadline. */
  unconfirmedCapture: string | undefined;
  /** The service shows it as captured, and offers no list of captures: only a person can tell. */
  unlistedCapture?: boolean;
  /** Since the hold must have lapsed, without an answer of the service. */
  looks: number;
  /** Epoch ms: when it was last known to be held. */
  seenAt: number;
  /** Epoch ms: of a hold that outlives its end. */
  nextVoidAt: number;
  /** From 1: which hold of the flow this is, and so the sequence of its authorization. */
  readonly number: number;
  /** How often it may yet be made anew; undefined where its card is not on file. */
  readonly renewals: number | undefined;
  /** How often the deadline may yet do so. */
  readonly renewalsAtDeadline: number;
  /** Who has asked for it. */
  renewal: RenewCommand | undefined;
}

/** What a hold has to know of the input of its flow. */
type HoldInput = Pick<ParsedAuthorizeInput, 'onDeadline' | 'captureMode'> &
  Partial<Pick<ParsedAuthorizeInput, 'cardOnFile' | 'reauthorization'>>;

/** @param earlier the hold in whose place this one was made; keys of its operations are never used again */
export function openHold(
  flow: FlowState,
  input: HoldInput,
  authorized: Succeeded,
  terms: HoldTerms,
  earlier?: Hold,
): Hold {
  const { onDeadline, captureMode, reauthorization } = input;
  const times = onDeadline === 'reauthorize' ? (reauthorization?.times ?? 1) : 0;
  flow.held = {
    captureBy: new Date(terms.captureBy).toISOString(),
    heldUntil: new Date(terms.heldUntil).toISOString(),
  };
  const hold: Hold = {
    authorized,
    authorizedAt: flow.stepStartedAt,
    terms,
    onDeadline: onDeadline === 'capture' ? 'capture' : 'void',
    mustVoid: undefined,
    captureAtOnce: captureMode === 'auto' && earlier === undefined,
    pursuit: { tries: 0, lastTryAt: 0, captureFailed: false },
    captures: [],
    voids: [],
    sequences: earlier === undefined ? { capture: 0, void: 0 } : { ...earlier.sequences },
    unconfirmedCapture: undefined,
    looks: 0,
    seenAt: Date.now(),
    nextVoidAt: 0,
    number: (earlier?.number ?? 0) + 1,
    renewals: usesStoredCard(input) ? MAX_REAUTHORIZATIONS - (earlier?.number ?? 0) : undefined,
    renewalsAtDeadline:
      earlier === undefined ? times : earlier.renewalsAtDeadline - (earlier.renewal === undefined ? 1 : 0),
    renewal: undefined,
  };
  flow.refuses = (state, name, request) => refuses(state, hold, name, request);
  flow.keepsVoid = false;
  flow.tellOfVoid = false;
  return hold;
}

/** Waits for a command or the deadline, and does not rest before the hold has ended. */
export async function pursueHold(flow: FlowState, hold: Hold): Promise<HoldOutcome> {
  for (;;) {
    const { mustVoid, pursuit, terms } = hold;
    if (flow.isCancelled()) hold.mustVoid ??= 'cancel';
    const asked = waitingVoid(flow);
    // Before the capture at once, and before a deadline that has passed meanwhile. After a reset it may wait for the next hold.
    if (asked !== undefined && mustVoid !== 'reauthorize') {
      flow.queue.shift();
      flow.busy = true;
      hold.captureAtOnce = false;
      const ended = await voidHold(flow, hold, { reason: hold.mustVoid ?? 'command', command: asked });
      if (ended !== undefined) return ended;
      continue;
    }
    const act =
      hold.captureAtOnce && hold.mustVoid === undefined
        ? ({ act: 'capture' } as const)
        : holdAct(terms, pursuitOf(hold), Date.now());
    if (act.act === 'expire') {
      const ended = await pursueAfterEnd(flow, hold);
      if (ended !== undefined) return ended;
      continue;
    }
    if (act.act === 'wait') {
      const ended = await listen(flow, hold, act.until - Date.now(), act.soon);
      if (ended !== undefined) return ended;
      continue;
    }
    if (act.act === 'void' && renewsAtDeadline(hold)) {
      // A command that has come is heard first: after a reset it may be the void that has long been done.
      if (flow.queue.length === 0) {
        letGoToRenew(flow, hold);
        continue;
      }
      const ended = await listen(flow, hold, 0, true);
      if (ended !== undefined) return ended;
      continue;
    }
    flow.busy = true;
    const captures = hold.sequences.capture;
    const reason = mustVoid ?? hold.mustVoid ?? 'deadline';
    const ended = act.act === 'capture' ? await captureHold(flow, hold) : await voidHold(flow, hold, { reason });
    if (ended !== undefined) return ended;
    // What the merchant asked for at the start is a wish like a command; only a deadline is pursued.
    // A capture that an unclear look kept from being sent has not failed: it is tried again, and the money not let go.
    const captureFailed = hold.sequences.capture > captures;
    if (hold.captureAtOnce) hold.captureAtOnce = !captureFailed && Date.now() < terms.heldUntil;
    else
      hold.pursuit = {
        tries: pursuit.tries + 1,
        lastTryAt: Date.now(),
        captureFailed: pursuit.captureFailed || captureFailed,
      };
  }
}

/** It must have ended by now. Where the service shows otherwise it is voided again, a day after the last time. */
async function pursueAfterEnd(flow: FlowState, hold: Hold): Promise<HoldOutcome | undefined> {
  const look = await expire(flow, hold);
  if (typeof look !== 'string') return look;
  if (look === 'held' && Date.now() >= hold.nextVoidAt) {
    flow.busy = true;
    // However often events wake the flow: those of our own voids come as well.
    hold.nextVoidAt = Date.now() + PURSUIT_AFTER_END_MS;
    const ended = await voidHold(flow, hold, { reason: hold.mustVoid ?? 'deadline' });
    if (ended !== undefined) return ended;
  }
  const waitMs = look === 'held' ? Math.max(1, hold.nextVoidAt - Date.now()) : pollDelay(hold.looks);
  const ended = await listen(flow, hold, waitMs, true);
  hold.looks += 1;
  return ended;
}

function renewsAtDeadline({ mustVoid, renewals = 0, renewalsAtDeadline, unconfirmedCapture }: Hold): boolean {
  const inDoubt = unconfirmedCapture !== undefined;
  return mustVoid === undefined && renewals > 0 && renewalsAtDeadline > 0 && !inDoubt;
}

/** From here on it is pursued like a deadline. What follows once it is gone is `renew-hold.ts`. */
function letGoToRenew(flow: FlowState, hold: Hold, command?: RenewCommand): void {
  hold.mustVoid = 'reauthorize';
  hold.renewal = command;
  happen(flow, 'reauthorize');
}

function pursuitOf({ mustVoid, onDeadline, pursuit, unconfirmedCapture }: Hold): Pursuit {
  return {
    ...pursuit,
    onDeadline,
    mustVoid: mustVoid !== undefined,
    // A second capture could take the money twice.
    captureFailed: pursuit.captureFailed || unconfirmedCapture !== undefined,
  };
}

/** Until `ms` have passed at most. Returns the end when what was heard brought it. */
async function listen(flow: FlowState, hold: Hold, ms: number, soon: boolean): Promise<HoldOutcome | undefined> {
  showHeld(flow, hold, soon);
  const heard = await nextHeard(flow, ms, 'Until the deadline of the hold', hold.mustVoid === undefined);
  if ('command' in heard) {
    const { command } = heard;
    // While it waited in the queue the hold may have moved on.
    const refusal = command.name === 'decideReview' ? undefined : forbids(flow, hold, command.name, command.request);
    if (refusal !== undefined) {
      command.answer = refusal;
      return undefined;
    }
    switch (command.name) {
      case 'capture':
        return await captureHold(flow, hold, command);
      case 'void':
        return await voidHold(flow, hold, { reason: 'command', command });
      case 'reauthorize':
        letGoToRenew(flow, hold, command);
        return undefined;
      default:
        command.answer = { refusal: `the money is held: it takes no ${command.name}` };
        return undefined;
    }
  }
  return 'letter' in heard ? await heed(flow, hold, heard.letter) : undefined;
}

/** Only what others do to the payment is news here: a capture or void that is not ours. */
async function heed(flow: FlowState, hold: Hold, letter: Letter): Promise<HoldOutcome | undefined> {
  if (letter.kind === 'settle') return await decideHold(flow, hold, letter.command);
  if (letter.kind === 'event') {
    const { event } = letter;
    const resource = resourceOf(event.eventType) ?? '';
    if (event.paymentId !== flow.paymentId || !['capture', 'void', 'payment'].includes(resource)) {
      ignore(flow, 'changesNothingWhileHeld');
      return undefined;
    }
    const known = [...hold.captures, ...hold.voids].filter((id) => id !== hold.unconfirmedCapture);
    if (event.transactionId !== undefined && known.includes(event.transactionId)) {
      ignore(flow, 'transactionHasEnded');
      return undefined;
    }
  }
  return await inspectHold(flow, hold);
}

function showHeld(flow: FlowState, hold: Hold, soon: boolean): void {
  const { authorized, mustVoid, pursuit, terms } = hold;
  flow.kind = 'authorization';
  flow.stepAmount = flow.amount;
  flow.transactionId = authorized.transactionId;
  flow.settleable = hold.unlistedCapture === true;
  flow.settlesAmount = flow.settleable;
  const failing =
    pursuit.tries >= ASK_OPERATOR_AFTER_TRIES
      ? `the deadline has passed and ${pursuit.tries} tries to end the hold have failed`
      : undefined;
  // Whoever stores a card has never asked for a hold.
  const ofConsent = mustVoid === 'consent given';
  const status = ofConsent ? 'voiding' : 'authorized';
  const waitingFor = ofConsent ? 'provider' : soon ? 'captureSoonDue' : 'capture';
  const same = flow.status === status && flow.waitingFor === waitingFor;
  if (same && (failing === undefined || flow.needsOperator !== undefined)) return;
  if (soon && flow.waitingFor !== 'captureSoonDue' && pursuit.tries === 0) {
    metricMeter.createCounter('holdfast_capture_deadline_near').add(1, { business_unit: flow.businessUnit });
  }
  // What a look at the hold has raised meanwhile stays; what an earlier operation was flagged for is over.
  const needsOperator = failing ?? (flow.status === status ? flow.needsOperator : undefined) ?? null;
  enter(flow, { status, waitingFor, needsOperator });
  publish(flow, { dueAt: terms.captureBy });
}

const ASK_OPERATOR_AFTER_TRIES = 3;
