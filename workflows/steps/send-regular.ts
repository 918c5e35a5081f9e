import { CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import { CALL_PRIORITIES, type CallPriority } from '../../src/contract/activities.js';
import type { KeyedCall } from '../../src/contract/activity-calls.js';
import type { KeyedOperation } from '../../src/contract/idempotency.js';
import { BILLING_TASK_QUEUE } from '../../src/contract/names.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import { NEAR_DEADLINE_MS, SLOW_CALL_MS } from '../../src/domain/schedules.js';
import { isUnexplained, tellsStatus } from '../../src/domain/settling.js';
import { raceMessage, refuseSettle, track, type Tracked } from '../flow/inbox.js';
import type { FlowState } from '../flow/state.js';
import { type PostActivities, postWithin } from '../policies.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { handleEvent } from './events.js';
import { type ClassifiedFailure, classifyFailure, type ReadRefusal } from './failures.js';
import { pollWait } from './operator.js';

/**
 * Runs the regular activity; meanwhile handles events and operator messages, and reads whether an earlier attempt was
 * executed. Nobody waits for a bill: its first few attempts are awaited without reads, whose timer would be one more
 * billable action of each period.
 */
export async function sendRegular<Answer>(
  flow: FlowState,
  step: Step<Answer>,
  call: KeyedCall,
  isFirst: boolean,
): Promise<Sent<Answer>> {
  const isAlone = isFirst && step.find !== undefined && workflowInfo().taskQueue === BILLING_TASK_QUEUE;
  const looks = step.find !== undefined && !isAlone;
  const urgentFrom = urgentFromOf(flow, step);
  const scope = new CancellationScope({ cancellable: true });
  const work = track(
    scope.run(() =>
      replyOf(
        step.post(
          postWithin(step.postUntil - Date.now(), `Send under key ${call.key}`, {
            attempts: step.once === true ? 1 : isAlone ? UNWATCHED_ATTEMPTS : undefined,
            reportsAfterCancel: step.unwanted !== undefined,
            priority: priorityOf(flow, step, urgentFrom),
            businessUnit: flow.businessUnit,
          }),
          { ...call, ...(urgentFrom !== undefined && { urgentFrom }) },
        ),
      ),
    ),
  );
  // A service that is slow is slow at reads too: it is not asked beside the POST as soon as another.
  const sentAt = Date.now();
  let polls = sentAt - (flow.slowAnswerAt ?? 0) < STILL_SLOW_MS ? 1 : 0;
  let unreadable = 0;
  let release = false;
  for (;;) {
    const lookAfter = looks ? pollWait(flow, polls) : undefined;
    const raced = await raceMessage(flow, work, lookAfter, 'Until a look whether an earlier try has acted');
    // Once the operation is unwanted only an answer or a refusal of the service counts, and no other attempt follows.
    if ('value' in raced) {
      if ('answer' in raced.value && Date.now() - sentAt > SLOW_CALL_MS) flow.slowAnswerAt = Date.now();
      return release && !isAnswer(raced.value) ? { woken: true } : raced.value;
    }
    // `replyOf` has turned failures of the call into values; what is thrown must fail the task (see `decodedOrRetry`).
    if ('error' in raced) throw raced.error;
    if ('elapsed' in raced) {
      const seen = await lookBeside(work, step, 'poll');
      if (seen !== undefined && 'answer' in seen) {
        scope.cancel();
        return seen;
      }
      // A failed read must not put off the next one by minutes; but there must not be thousands of reads either.
      if (seen !== undefined) unreadable += 1;
      if (seen === undefined || unreadable % QUICK_LOOKS === 0) polls += 1;
      continue;
    }
    const { message } = raced;
    if (message.kind === 'retryNow' && step.unwanted?.() === true) {
      // No attempt follows the one that is under way, but its answer may be the only evidence ever of what it has done.
      // Its own time limits bound the wait.
      release = true;
      scope.cancel();
      const seen = await lookBeside(work, step, 'poll');
      if (seen !== undefined && 'answer' in seen) return seen;
    } else if (message.kind === 'retryNow' && message.isOfDispute === true) {
      // A dispute is looked into afterwards: it does not cut off a call that is wanted.
      continue;
    } else if (message.kind === 'retryNow') {
      // The call may be backing off for up to a minute. A new one carries the same key, so both together still move
      // money once.
      scope.cancel();
      return { woken: true };
    } else if (message.kind === 'settle') refuseSettle(message.command);
    else if (tellsStatus(message.event, flow) && !isUnexplained(message.event)) {
      // A repost of a known transaction: the event itself is the answer, and `settle` handles it. A failure that does not say why is none.
      flow.inbox.unshift(message);
      scope.cancel();
      return { woken: true };
    } else if (handleEvent(flow, message.event)) {
      const seen = await lookBeside(work, step, 'webhook');
      if (seen !== undefined && 'answer' in seen) {
        scope.cancel();
        return seen;
      }
    }
  }
}

function urgentFromOf(flow: FlowState, { operation, postUntil }: Step<unknown>): number | undefined {
  if (operation !== 'capture' && operation !== 'void') return undefined;
  return Math.min(postUntil, flow.hold?.terms.captureBy ?? postUntil) - NEAR_DEADLINE_MS;
}

function priorityOf(flow: FlowState, { operation }: Step<unknown>, urgentFrom: number | undefined): CallPriority {
  if (operation === 'refund') return CALL_PRIORITIES.command;
  if (urgentFrom !== undefined) {
    if (urgentFrom <= Date.now()) return CALL_PRIORITIES.deadline;
    const isAwaited = [...flow.commands.values()].some(({ answer }) => answer === undefined);
    return isAwaited ? CALL_PRIORITIES.command : CALL_PRIORITIES.other;
  }
  return workflowInfo().taskQueue === BILLING_TASK_QUEUE ? CALL_PRIORITIES.other : CALL_PRIORITIES.buyer;
}

function isAnswer<Answer>(sent: Sent<Answer>): boolean {
  return 'answer' in sent || ('failure' in sent && sent.failure.next === 'refuse');
}

/** For so long after a slow answer the service is taken for slow. */
const STILL_SLOW_MS = 60_000;

/** About three minutes of calls that get no answer. */
const UNWATCHED_ATTEMPTS = 3;

/** The delay grows once per this many failed reads. */
const QUICK_LOOKS = 3;

/**
 * Reads while the call is under way. A read may take as long as two reads of three tries each, and the call's own
 * answer must not wait behind it: the read is then abandoned.
 */
async function lookBeside<Answer>(
  work: Tracked<Sent<Answer>>,
  step: Step<Answer>,
  knownBy: KnownBy,
): Promise<Answered<Answer> | { unreadable: string } | undefined> {
  const scope = new CancellationScope({ cancellable: true });
  const looking = track(scope.run(() => lookOrWhyNot(step, knownBy)));
  await condition(() => work.done !== undefined || looking.done !== undefined);
  if (looking.done === undefined) {
    scope.cancel();
    return undefined;
  }
  if ('error' in looking.done) throw looking.done.error;
  return looking.done.value;
}

export async function replyOf<Answer>(reply: Promise<Answer>): Promise<Sent<Answer>> {
  let answer: Answer;
  try {
    answer = await reply;
  } catch (error) {
    return { failure: classifyFailure(error) };
  }
  return { answer: decodedOrRetry(answer), knownBy: 'reply' };
}

export async function look<Answer>(step: Step<Answer>, knownBy: KnownBy): Promise<Answered<Answer> | undefined> {
  const seen = await lookOrWhyNot(step, knownBy);
  return seen !== undefined && 'answer' in seen ? seen : undefined;
}

/** Returns undefined if a read was answered and shows nothing of ours. */
async function lookOrWhyNot<Answer>(
  step: Step<Answer>,
  knownBy: KnownBy,
): Promise<Answered<Answer> | { unreadable: string } | undefined> {
  const result = await step.find?.();
  if (result === undefined || 'unreadable' in result) return result;
  if (result.found === undefined || step.mayBeOfOthers?.(result.found) === true) return undefined;
  return { answer: result.found, knownBy };
}

/** What a read shows: the operation's result, nothing of ours, or nothing at all. */
export type Found<Answer> =
  { found: Answer | undefined } | { unreadable: string; refusal?: ReadRefusal; ambiguous?: true };

/** One operation under one key: how to send it, and how to read whether an earlier attempt was executed. */
export interface Step<Answer> {
  operation: KeyedOperation;
  /** Counts from 1; if the payment's flow has ended, made of the command's id (money rule 3). */
  sequence: number | string;
  movesMoney: boolean;
  /** Epoch ms; no POST leaves later (money rule 4). */
  postUntil: number;
  /** Money rule 7: only for the first tries in the start path. */
  tryLocally: boolean;
  /** A lost task may have sent it locally. */
  lostTaskMayHaveSent?: boolean;
  /**
   * True once a void or cancel makes it unwanted, or another one may have done the same: nothing more of it is sent, and only
   * reads show its outcome.
   */
  unwanted?: () => boolean;
  /** For who is told that nothing more of it was sent, if there is more to say. */
  whyUnwanted?: () => string | undefined;
  /** One try, whose failure changes nothing: for a repost of an operation that already has an answer. */
  once?: boolean;
  post(activities: PostActivities, call: KeyedCall): Promise<Answer>;
  /**
   * Others act on the payment as well, and theirs may be listed before ours was made: as long as it can be sent, the answer
   * to the same key says which is ours.
   */
  mayBeOfOthers?(found: Answer): boolean;
  /** undefined if the service offers no list. */
  find?: () => Promise<Found<Answer>>;
}

export type Answered<Answer> = { answer: Answer; knownBy: KnownBy };
export type Sent<Answer> = Answered<Answer> | { woken: true } | { failure: ClassifiedFailure };
