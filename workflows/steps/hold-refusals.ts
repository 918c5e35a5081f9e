import { MAX_REAUTHORIZATIONS } from '../../src/contract/authorize.js';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import { showMoney } from '../../src/domain/money.js';
import { waitingVoid } from '../flow/inbox.js';
import { inResetRun } from '../kit/start-guard.js';
import type { FlowState, Hold, RefusableName, RefusableRequest, Refusal } from '../flow/state.js';
import { reauthorizesAtDeadline, wholeOf } from './hold-steps.js';
import { refusesVoid } from './void-pending.js';

/** Refuses synchronously, with the amounts. The flow itself is not affected. */
function refuses(flow: FlowState, hold: Hold, name: RefusableName, request: RefusableRequest): Refusal | undefined {
  if (name === 'refund') {
    const what = hold.captured === undefined ? 'nothing has been captured' : 'what was not captured is being released';
    return { refusal: `${what}; refund it once this flow has ended as captured` };
  }
  // After a reset Temporal delivers all commands of the earlier run again at once: they wait for their turn.
  if (!inResetRun()) {
    if (name === 'void' && flow.voidable !== undefined) {
      const why = refusesVoid(flow);
      return why === undefined ? undefined : { refusal: why };
    }
    if (flow.queue.length > 0) return { refusal: 'the flow is about to do another command' };
    // A command that comes while the hold is read, after the last one was answered, waits and then looks for itself.
    if (flow.busy === 'looks' && hold.mustVoid === undefined) return forbids(flow, hold, name, request);
    if (flow.busy) return { refusal: `the flow is at work on the money that it holds; it is ${flow.status}` };
    if (flow.status !== 'authorized') {
      return { refusal: `it is taken while the flow is authorized; it is ${flow.status}` };
    }
  }
  // Commands that the earlier run accepted for the next hold wait for that hold.
  const isReauthorized =
    hold.mustVoid === 'reauthorize' || (Date.now() >= hold.terms.captureBy && reauthorizesAtDeadline(hold));
  if (inResetRun() && isReauthorized) return exceeds(flow, request, hold);
  return forbids(flow, hold, name, request);
}

/** Why the hold itself forbids the command, whatever else is under way. */
export function forbids(
  flow: FlowState,
  hold: Hold,
  name: RefusableName,
  request: RefusableRequest,
): Refusal | undefined {
  const { mustVoid, terms, unconfirmedCapture } = hold;
  if (mustVoid !== undefined) return { refusal: `the hold is being released (${mustVoid})` };
  if (name === 'void') return undefined;
  if (name === 'reauthorize') return cannotReauthorize(hold);
  if (Date.now() >= terms.heldUntil) {
    return { refusal: `the hold has lapsed at ${new Date(terms.heldUntil).toISOString()}; nothing can be captured` };
  }
  if (unconfirmedCapture !== undefined) {
    return { refusal: `${unconfirmed(unconfirmedCapture)}; another could take the money twice` };
  }
  return exceeds(flow, request, hold);
}

function cannotReauthorize({ ofEarlierFlow, reauthorizationsLeft, unconfirmedCapture }: Hold): Refusal | undefined {
  if (ofEarlierFlow === true) {
    return {
      refusal:
        'an earlier flow of this reference has made this hold, and the reference book takes no other payment for it; ' +
        'capture it, or void it and authorize under a new reference',
    };
  }
  if (reauthorizationsLeft === undefined) {
    return {
      refusal:
        'the card is not on file (no later entry mode in cardOnFile), so that its token can not be used again; ' +
        'authorize under a new reference',
    };
  }
  if (reauthorizationsLeft === 0) {
    return {
      refusal: `this hold has been reauthorized ${MAX_REAUTHORIZATIONS} times; authorize under a new reference`,
    };
  }
  if (unconfirmedCapture === undefined) return undefined;
  return { refusal: `${unconfirmed(unconfirmedCapture)}; the money may have been taken` };
}

function unconfirmed(capture: string): string {
  return `capture ${capture} failed without confirmation (\`retryNow\` looks whether the service has confirmed it by now)`;
}

function exceeds(flow: FlowState, request: RefusableRequest, hold?: Hold): Refusal | undefined {
  const amount = 'amount' in request ? request.amount : undefined;
  const most = hold === undefined ? flow.amount : wholeOf(flow, hold);
  if (amount === undefined || amount <= most) return undefined;
  const { currency } = flow;
  const what = hold !== undefined && most < hold.authorized.amount ? 'asked for' : 'authorized';
  return {
    refusal: `amount: ${showMoney(amount, currency)} is more than the ${showMoney(most, currency)} ${what}`,
    type: FAILURE_TYPES.invalidInput,
  };
}

/** For a flow that holds money sooner or later. */
export function refusesOfHold(flow: FlowState, name: RefusableName, request: RefusableRequest): Refusal | undefined {
  if (flow.keepsVoid) return refusesBeforeHold(flow, name, request);
  if (flow.hold !== undefined) return refuses(flow, flow.hold, name, request);
  return { refusal: `a ${flow.type} that is ${flow.status} takes no ${name}` };
}

/**
 * Before there is a hold only a void is accepted, and kept until it is known whether money is held. After a reset a
 * command that the earlier run accepted is accepted too, and waits for the hold.
 */
function refusesBeforeHold(flow: FlowState, name: RefusableName, request: RefusableRequest): Refusal | undefined {
  if (name !== 'refund' && inResetRun()) return exceeds(flow, request);
  const isKept = waitingVoid(flow) !== undefined;
  if (name === 'void' && !isKept) return undefined;
  if (isKept) return { refusal: 'a void has been asked for, and is done as soon as it is known that money is held' };
  return { refusal: `a ${flow.type} that is ${flow.status} takes no ${name}` };
}
