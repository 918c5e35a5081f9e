import { workflowInfo } from '@temporalio/workflow';
import type { KeyedCall } from '../../src/contract/activity-calls.js';
import { idempotencyKey } from '../../src/contract/idempotency.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import { resendDelay } from '../../src/domain/schedules.js';
import { classifyEvent } from '../../src/domain/settling.js';
import { nextMessage } from '../flow/inbox.js';
import { refuseWhileResuming } from '../flow/continue.js';
import { originalRunId } from '../kit/start-guard.js';
import type { FlowState } from '../flow/state.js';
import { enter, takeBackReason } from '../flow/explain.js';
import { noteWanted } from '../kit/outbox.js';
import { publish } from '../kit/visibility.js';
import { localTry } from '../policies.js';
import { betweenSends } from './between-sends.js';
import { afterConflicts, disbelieve } from './failures.js';
import { noteAnswered } from './operator.js';
import { replyOf, sendRegular, type Sent, type Step } from './send-regular.js';
import { taskWasLostBefore } from '../flow/earlier-runs.js';

export type { Found, Step } from './send-regular.js';

export type Attempted<Answer> =
  | { answer: Answer; knownBy: KnownBy }
  /** No further POST may be sent and none was answered: only reads can show the outcome. */
  | {
      answer: undefined;
      lastFailure: string;
      /** Its business unit is braked, and nothing of it that could have moved money has left. */
      braked?: true;
      /** Of a repost: it may have left, and may still arrive. */
      unanswered?: true;
    };

/**
 * Sends one operation under the same key until it is answered, and never after its window (money rule 4).
 * @throws the believed refusal (`InvalidInput`, `NotFound`, `StateConflict`, `ReferenceConflict`) as the flow's own failure. A refusal that
 * can't be believed (money rule 5) is left to reads.
 */
export async function attempt<Answer>(flow: FlowState, step: Step<Answer>): Promise<Attempted<Answer>> {
  refuseWhileResuming(flow);
  let lastFailure = 'the window for sending had closed before anything was sent';
  // A repost of a step starts from what the flow already knows: an earlier POST may have been sent.
  let mayHaveLeft = step.movesMoney && flow.moneyPostMayHaveLeft;
  let where: 'local' | 'regular' = step.tryLocally && flow.attempts === 0 && flow.runs === 1 ? 'local' : 'regular';
  // A local try asks Temporal itself, and its failure records what it found.
  const mayBeLost = where === 'regular' && step.lostTaskMayHaveSent === true;
  const lostThrough = workflowInfo().historyLength;
  let conflicts = 0;

  for (let round = 0; Date.now() < step.postUntil; round += 1) {
    if (step.unwanted?.() === true) return { answer: undefined, lastFailure: sayUnwanted(step) };
    const sent = await send(flow, step, where, mayHaveLeft, round === 0);
    where = 'regular';
    const next = 'failure' in sent ? sent.failure.next : undefined;
    if (flow.waitingFor === 'credentials' && next !== 'credentials') {
      takeBackReason(flow, { waitingFor: 'provider' });
    } else if (
      (flow.waitingFor === 'referenceBook' && next !== 'book') ||
      (flow.waitingFor === 'brake' && next !== 'braked')
    ) {
      enter(flow, { waitingFor: 'provider' });
      publish(flow);
    }
    if ('answer' in sent) return sent;
    if ('woken' in sent) {
      mayHaveLeft = true;
      if (step.once === true) return { answer: undefined, lastFailure, unanswered: true };
      continue;
    }
    // Of these two alone follows that nothing has left. The activity knows only its own attempts.
    const concludes = (next === 'refuse' || next === 'braked') && mayBeLost && !mayHaveLeft;
    const isLost = concludes && (await taskWasLostBefore(flow, lostThrough));
    mayHaveLeft ||= isLost;
    const believed = isLost ? disbelieve(sent.failure) : sent.failure;
    const failure = afterConflicts(believed, step.find === undefined ? 0 : conflicts);
    if (failure.conflict) conflicts += 1;
    lastFailure = failure.message;
    noteWanted(flow, failure);
    // The activity doesn't know every earlier attempt of the flow; those count as well (money rule 5).
    if (failure.next === 'final' || (failure.next === 'refuse' && !mayHaveLeft)) throw failure.error;
    mayHaveLeft ||= failure.mayHaveLeft;
    flow.ambiguousIds = failure.ambiguousIds;
    if (failure.next === 'braked' && !(step.movesMoney && mayHaveLeft)) return unsent(flow, step, lastFailure);
    if (failure.next === 'closed') break;
    if (step.once === true) {
      if (failure.heldBack !== true) return { answer: undefined, lastFailure, unanswered: true };
      if (round >= MOST_HELD_BACK || !(await maySendAgain(flow, failure.waitMs))) break;
      continue;
    }
    const found = await betweenSends(flow, step, failure, round);
    if (found !== undefined && found !== 'notOffered') {
      noteAnswered(flow);
      return found;
    }
    // If the service offers no such read, only the same key can resolve the outcome: keep sending it while the window
    // is open (money rule 6).
    if (found !== 'notOffered' && (failure.next === 'readOnly' || failure.next === 'refuse')) break;
  }
  return { answer: undefined, lastFailure };
}

/** A repost that was held back is given again so often: what it repeats is read meanwhile only once it has ended. */
const MOST_HELD_BACK = 5;

/**
 * Waits until a repost that was held back may be sent. False if there is news of what it repeats: that is left to `settle`,
 * which has asked for the repost.
 */
async function maySendAgain(flow: FlowState, ms: number): Promise<boolean> {
  const until = Date.now() + Math.max(ms, resendDelay(0));
  const later: typeof flow.inbox = [];
  let isNews = false;
  while (!isNews && Date.now() < until) {
    const message = await nextMessage(flow, until - Date.now(), 'Until this business unit may send again');
    if (message?.kind === 'retryNow' && message.isOfDispute === true) continue;
    if (message === undefined || message.kind === 'retryNow') break;
    // What nobody has signed must not use the repost up.
    isNews = message.kind === 'settle' || classifyEvent(message.event, flow).verdict === 'settles';
    later.push(message);
  }
  flow.inbox.unshift(...later);
  return !isNews;
}

function sayUnwanted({ whyUnwanted }: Step<unknown>): string {
  const nothingMore = 'it was no longer wanted before it was answered, and nothing more of it was sent';
  const why = whyUnwanted?.();
  return why === undefined ? nothingMore : `${nothingMore}: ${why}`;
}

/** The caller is told at once: what was not sent is not sent later. */
function unsent(flow: FlowState, { movesMoney }: Step<unknown>, lastFailure: string): Attempted<never> {
  if (movesMoney) {
    flow.moneyPostMayHaveLeft = false;
    flow.attempts = 0;
  }
  return { answer: undefined, lastFailure, braked: true };
}

function send<Answer>(
  flow: FlowState,
  step: Step<Answer>,
  where: 'local' | 'regular',
  mayHaveLeft: boolean,
  isFirst: boolean,
): Promise<Sent<Answer>> {
  const call: KeyedCall = {
    businessUnit: flow.businessUnit,
    madeUnder: flow.madeUnder,
    key: idempotencyKey(flow.workflowId, step.operation, step.sequence),
    postUntil: step.postUntil,
    mayHaveLeft,
    originalRunId: originalRunId(),
  };
  if (step.movesMoney) {
    flow.moneyPostMayHaveLeft = true;
    flow.attempts += 1;
  }
  if (where === 'local') {
    flow.inLocalTry = true;
    return replyOf(step.post(localTry, call));
  }
  flow.inLocalTry = false;
  return sendRegular(flow, step, call, isFirst);
}
