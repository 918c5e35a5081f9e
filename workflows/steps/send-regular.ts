import { CancellationScope, condition } from '@temporalio/workflow';
import type { KeyedCall } from '../../src/contract/activity-calls.js';
import type { KeyedOperation } from '../../src/contract/idempotency-key.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import { judgeEvent } from '../../src/domain/transitions.js';
import type { Tracked } from '../flow/mailbox.js';
import { raceLetter, refuseSettle, track } from '../flow/mailbox.js';
import type { FlowState } from '../flow/state.js';
import type { PostActivities } from '../policies.js';
import { postWithin } from '../policies.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import { heedEvent } from './heed-event.js';
import type { JudgedFailure } from './judge-failure.js';
import { judgeFailure } from './judge-failure.js';
import { pollWait } from './operator.js';
import type { ReadRefusal } from './refused-read.js';

/** The activity proper; events, reads and an operator are heard while it is tried. */
export async function sendRegular<Answer>(flow: FlowState, step: Step<Answer>, call: KeyedCall): Promise<Sent<Answer>> {
  const scope = new CancellationScope({ cancellable: true });
  const work = track(
    scope.run(() =>
      replyOf(
        step.post(
          postWithin(step.postUntil - Date.now(), `Send under key ${call.key}`, {
            once: step.once === true,
            heardToItsEnd: step.unwanted !== undefined,
          }),
          call,
        ),
      ),
    ),
  );
  let polls = 0;
  let unreadable = 0;
  let letGo = false;
  for (;;) {
    const raced = await raceLetter(flow, work, pollWait(flow, polls), 'Until a look whether an earlier try has acted');
    // Without an answer or a refusal of the service the attempt tells nothing, and no other follows.
    if ('value' in raced) return letGo && !isAnswer(raced.value) ? { woken: true } : raced.value;
    // Failures of the call are values by now; what is thrown must fail the task (see `decodedOrRetry`).
    if ('error' in raced) throw raced.error;
    if ('elapsed' in raced) {
      const seen = await lookBeside(work, step, 'poll');
      if (seen !== undefined && 'answer' in seen) {
        scope.cancel();
        return seen;
      }
      // A look that tells nothing must not put off the next one to minutes later; nor may there be thousands of them.
      if (seen !== undefined) unreadable += 1;
      if (seen === undefined || unreadable % QUICK_LOOKS === 0) polls += 1;
      continue;
    }
    const { letter } = raced;
    if (letter.kind === 'retryNow' && step.unwanted?.() === true) {
      // No attempt follows the one that is under way, but that one's answer may be the only thing that ever tells what it
      // has done. Its own limits bound how long it takes.
      letGo = true;
      scope.cancel();
      const seen = await lookBeside(work, step, 'poll');
      if (seen !== undefined && 'answer' in seen) return seen;
    } else if (letter.kind === 'retryNow') {
      // The call may be backing off for up to a minute. A new one carries the same key, so both together
      // still move money once.
      scope.cancel();
      return { woken: true };
    } else if (letter.kind === 'settle') refuseSettle(letter.command);
    else if (judgeEvent(letter.event, flow).verdict === 'settles') {
      // Asked again about a known transaction: the event itself is the answer, for who follows it.
      flow.mailbox.unshift(letter);
      scope.cancel();
      return { woken: true };
    } else if (heedEvent(flow, letter.event)) {
      const seen = await lookBeside(work, step, 'webhook');
      if (seen !== undefined && 'answer' in seen) {
        scope.cancel();
        return seen;
      }
    }
  }
}

function isAnswer<Answer>(sent: Sent<Answer>): boolean {
  return 'answer' in sent || ('failure' in sent && sent.failure.next === 'refuse');
}

/** How often a look that could not be read is made again as soon as the one before it. */
const QUICK_LOOKS = 3;

/**
 * A look may take as long as two reads that are tried three times. The call's own answer, which may come meanwhile, is
 * not to wait behind it: the look is then given up.
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
    return { failure: judgeFailure(error) };
  }
  return { answer: decodedOrRetry(answer), knownBy: 'reply' };
}

export async function look<Answer>(step: Step<Answer>, knownBy: KnownBy): Promise<Answered<Answer> | undefined> {
  const seen = await lookOrWhyNot(step, knownBy);
  return seen !== undefined && 'answer' in seen ? seen : undefined;
}

/** Undefined where a read was answered, and shows nothing of ours. */
async function lookOrWhyNot<Answer>(
  step: Step<Answer>,
  knownBy: KnownBy,
): Promise<Answered<Answer> | { unreadable: string } | undefined> {
  const result = await step.find?.();
  if (result === undefined || 'unreadable' in result) return result;
  return result.found === undefined ? undefined : { answer: result.found, knownBy };
}

/** What a read says: the operation's result, nothing of ours, or nothing at all. */
export type Found<Answer> = { found: Answer | undefined } | { unreadable: string; refusal?: ReadRefusal };

/** One operation under one key: how to send it, and how to find out whether an earlier attempt acted. */
export interface Step<Answer> {
  operation: KeyedOperation;
  /** From 1; where a payment's flow has ended, made of the command's id (money rule 3). */
  sequence: number | string;
  movesMoney: boolean;
  /** Epoch ms; no POST leaves later (money rule 4). */
  postUntil: number;
  /** Money rule 7: only for the first tries in the start path. */
  tryLocally: boolean;
  /** A task that was lost may have sent it locally. */
  lostTaskMayHaveSent?: boolean;
  /** Nothing more of it is to be sent: somebody wants it no more, and only reads tell what has become of it. */
  unwanted?: () => boolean;
  /** One try, and its failure is no news: for asking again about an answer that is already there. */
  once?: boolean;
  post(activities: PostActivities, call: KeyedCall): Promise<Answer>;
  /** Absent where the service offers no list. */
  find?: () => Promise<Found<Answer>>;
}

export type Answered<Answer> = { answer: Answer; knownBy: KnownBy };
export type Sent<Answer> = Answered<Answer> | { woken: true } | { failure: JudgedFailure };
