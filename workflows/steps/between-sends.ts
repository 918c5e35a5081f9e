import { parkedDelay, resendDelay } from '../../src/domain/schedules.js';
import { enter, takeBackReason } from '../flow/explain.js';
import { nextMessage, refuseSettle } from '../flow/inbox.js';
import type { FlowState } from '../flow/state.js';
import { publish } from '../kit/visibility.js';
import { handleEvent } from './events.js';
import type { ClassifiedFailure } from './failures.js';
import { whyRejected } from './operator.js';
import { type Answered, look, type Step } from './send-regular.js';

/**
 * Acts on a failure before the next send. Returns the answer if a read found it; `notOffered` if the service has no
 * such read.
 */
export async function betweenSends<Answer>(
  flow: FlowState,
  step: Step<Answer>,
  failure: ClassifiedFailure,
  round: number,
): Promise<Answered<Answer> | 'notOffered' | undefined> {
  switch (failure.next) {
    case 'credentials': {
      enter(flow, {
        waitingFor: 'credentials',
        needsOperator: whyRejected(flow, failure),
      });
      publish(flow);
      return await waitListening(flow, step, parkedDelay(round), 'Until the credentials work again');
    }
    case 'book': {
      enter(flow, { waitingFor: 'referenceBook' });
      publish(flow);
      const waitMs = resendDelay(Math.min(round, LONGEST_DELAY));
      return await waitListening(flow, step, waitMs, 'Until the reference book can be reached');
    }
    case 'braked': {
      flow.brakedBy = failure.message;
      enter(flow, { status: 'unknown', waitingFor: 'brake' });
      publish(flow);
      const seen = await look(step, 'poll');
      const waitMs = resendDelay(Math.min(round, LONGEST_DELAY));
      return seen ?? (await waitListening(flow, step, waitMs, 'Until the business unit is released'));
    }
    case 'readFirst':
      return await readBeforeSending(flow, step, round);
    case 'readOnly':
    case 'refuse': {
      const result = await step.find?.();
      if (result === undefined) return undefined;
      if ('found' in result) return result.found === undefined ? undefined : { answer: result.found, knownBy: 'poll' };
      return result.refusal === undefined ? undefined : await readBeforeSending(flow, step, round);
    }
    default:
      return await waitAsAsked(flow, step, Math.min(Date.now() + failure.waitMs, step.postUntil));
  }
}

/** Rounds of `resendDelay`: about 4 minutes. Each round adds a dozen events, and the window has 20 hours. */
const LONGEST_DELAY = 8;

/** About 15 minutes of reads. */
const ASK_OPERATOR_AFTER_READS = 10;

/** Sends nothing again before a read answers, however long that takes, unless the service doesn't offer the read. */
async function readBeforeSending<Answer>(
  flow: FlowState,
  step: Step<Answer>,
  round: number,
): Promise<Answered<Answer> | 'notOffered' | undefined> {
  const { find } = step;
  let offered = true;
  let asked: string | undefined;
  for (let reads = 0; find !== undefined && Date.now() < step.postUntil; reads += 1) {
    const result = await find();
    if ('found' in result) {
      if (result.found === undefined || step.mayBeOfOthers?.(result.found) === true) break;
      return { answer: result.found, knownBy: 'poll' };
    }
    // Beside those of others the answer to the same key alone tells which one is ours.
    if (result.ambiguous === true && step.mayBeOfOthers !== undefined) break;
    offered = result.refusal?.notOffered !== true;
    if (!offered) break;
    if (reads === ASK_OPERATOR_AFTER_READS) {
      asked = `nothing is sent again before a read answers, and none does: ${result.unreadable}`;
      flow.askedUntilRead = asked;
      enter(flow, { status: 'unknown', waitingFor: 'proof', needsOperator: asked });
      publish(flow);
    }
    const found = await waitListening(flow, step, resendDelay(reads), 'Until a read answers');
    if (found !== undefined) return found;
  }
  // Once the window has closed only reads follow, and what a person was asked goes on.
  if (asked !== undefined && Date.now() < step.postUntil) showSending(flow, asked);
  const next = await waitListening(flow, step, resendDelay(round), 'Before the same request is sent again');
  return next ?? (offered ? undefined : 'notOffered');
}

/** @param asked what a person was asked until now */
function showSending(flow: FlowState, asked: string): void {
  enter(flow, { waitingFor: 'provider' });
  if (flow.needsOperator === asked) takeBackReason(flow);
  else publish(flow);
}

/** ms. An earlier attempt may have moved money, and its event may be lost. */
const LOOK_EVERY = 300_000;

/** Waits until then, as the service has asked, and reads meanwhile. */
async function waitAsAsked<Answer>(
  flow: FlowState,
  step: Step<Answer>,
  until: number,
): Promise<Answered<Answer> | undefined> {
  while (Date.now() < until) {
    const nextLook = Math.min(Date.now() + LOOK_EVERY, until);
    const found = await listen(flow, step, nextLook - Date.now(), 'Retry-After of the payment service');
    if (found === 'woken') return undefined;
    if (found !== undefined) return found;
    // A worker may have been away until now.
    if (Date.now() >= until || step.unwanted?.() === true) return undefined;
    const seen = await look(step, 'poll');
    if (seen !== undefined) return seen;
  }
  return undefined;
}

/** Waits `ms`. An event triggers a read; `retryNow` ends the wait. */
async function waitListening<Answer>(
  flow: FlowState,
  step: Step<Answer>,
  ms: number,
  summary: string,
): Promise<Answered<Answer> | undefined> {
  const found = await listen(flow, step, ms, summary);
  return found === 'woken' ? undefined : found;
}

async function listen<Answer>(
  flow: FlowState,
  step: Step<Answer>,
  ms: number,
  summary: string,
): Promise<Answered<Answer> | 'woken' | undefined> {
  const until = Date.now() + ms;
  while (Date.now() < until) {
    const message = await nextMessage(flow, until - Date.now(), summary);
    if (message === undefined) return undefined;
    if (message.kind === 'retryNow' && message.isOfDispute === true) await flow.lookBeside?.();
    else if (message.kind === 'retryNow') return 'woken';
    else if (message.kind === 'settle') refuseSettle(message.command);
    else if (handleEvent(flow, message.event)) {
      const found = await look(step, 'webhook');
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
