import { activityInfo, Context, heartbeat, type Info } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { messageOf } from '../src/contract/message-of.js';
import type { KeyedCall } from '../src/contract/activity-calls.js';
import { FAILURE_TYPES, type FailureDetails } from '../src/contract/names.js';
import { type PostOptions, type ProviderClient, ProviderError } from '../src/provider/index.js';
import { lostKeysUntil } from '../src/domain/lost-time.js';
import { isNotOffered, noteRefusedRead, type RefusedReads } from '../src/domain/absence.js';
import { whySentBefore } from './after-restore.js';
import { urgentFrom } from './bulkhead.js';
import { type ActivityDeps, isRefusedRead, knownUnits, whileBeating } from './read-call.js';
import { toApplicationFailure } from './to-application-failure.js';

/** The activity times out 5 s later, of which a regular one may wait 3 s for its turn. */
const LOCAL_HTTP_MS = 10_000;
const REGULAR_HTTP_MS = 60_000;
/** A third of the regular activity's heartbeat timeout. */
const BEAT_MS = 5_000;

/** Nothing is proven about any earlier attempt. */
export const NOTHING_PROVEN = -1;

/** Heartbeat details. */
interface Proof {
  /** Every attempt up to this one is proven not to have left this machine. */
  refusedThrough: number;
  /** Reads before the POST that were refused, without another answer or failure since. */
  refusedReads?: RefusedReads;
}

/**
 * Sends one POST under its idempotency key and keeps the money rules that only an activity can keep: it never sends
 * after the window (money rule 4), nor after a reset or a restore before a read has looked for what a run before has
 * done, and it never believes a refusal that an earlier attempt may have caused (money rule 5).
 * @param adopt finds what a run before this one has done; undefined when there is nothing
 * @param mark notes on the answer what an earlier attempt that may have left can still change
 * @throws ApplicationFailure with the types of `FAILURE_TYPES`
 */
export function sendKeyedPost<Answer>(...how: Parameters<typeof sendOrAdopt<Answer>>): Promise<Answer> {
  return urgentFrom(how[1].urgentFrom, () => sendOrAdopt(...how));
}

async function sendOrAdopt<Answer>(
  deps: ActivityDeps,
  call: KeyedCall,
  send: (provider: ProviderClient, options: PostOptions) => Promise<Answer>,
  adopt: () => Promise<Answer | undefined>,
  mark: (answer: Answer, earlierMayHaveLeft: boolean) => Promise<Answer> = async (answer) => answer,
): Promise<Answer> {
  const info = activityInfo();
  const firstAttempt = noEarlierLeft(info);
  const sentBefore = await whySentBefore(deps, call).catch((error: unknown) => {
    throw notBeforeARead('restore', error);
  });
  let refusedReads: RefusedReads | undefined;
  const earlierMayHaveLeft = call.mayHaveLeft || !firstAttempt || sentBefore !== undefined;
  if (sentBefore !== undefined) {
    // A read and a POST together may outlast a local attempt, so the regular activity does both.
    if (info.isLocal) throw notBeforeARead(sentBefore, new Error('that is left to the regular activity'));
    const refusedBefore = refusedReadsOf(info.heartbeatDetails);
    // Reading earlier histories may exceed the heartbeat timeout.
    const adopted = await whileBeating(adopt, nothingProven(refusedBefore)).catch((error: unknown) => {
      refusedReads = noteFailedRead(refusedBefore, error, deps.now());
      heartbeat(nothingProven(refusedReads));
      if (!isOffBySetting(error) && !isNotOffered(refusedReads)) throw notBeforeARead(sentBefore, error);
      // The service still knows every key of the lost time: sent again, each gets its first answer.
      if (sentBefore === 'reset' || deps.restored === undefined || deps.now() >= lostKeysUntil(deps.restored.lost))
        throw neverSent(sentBefore, error);
      return undefined;
    });
    if (adopted !== undefined) return adopted;
  }
  if (deps.now() >= call.postUntil) throw windowClosed(call, earlierMayHaveLeft);

  const provider = deps.providers.get(call.businessUnit);
  if (provider === undefined)
    throw unitMissing(deps, call, earlierMayHaveLeft || (info.isLocal && !(await provenFirstTry(deps))));

  // A cancelled call that has not been sent yet must not be sent (money rule 8).
  if (Context.current().cancellationSignal.aborted) throw new CancelledFailure('cancelled before it was sent');

  // An operator's reset of the activity restarts the attempt count but keeps the last heartbeat: overwrite its proof.
  if (!info.isLocal && !firstAttempt) heartbeat(nothingProven(refusedReads));
  const refusedThrough = firstAttempt ? info.attempt - 1 : NOTHING_PROVEN;
  const proof = { ...nothingProven(refusedReads), refusedThrough };
  const beats = info.isLocal ? undefined : keepBeating(proof);
  let answer: Answer;
  try {
    const timeoutMs = info.isLocal ? LOCAL_HTTP_MS : REGULAR_HTTP_MS;
    answer = await send(provider, { idempotencyKey: call.key, timeoutMs, signal: givenUp() });
  } catch (error) {
    if (!earlierMayHaveLeft) keepIfRefused(info, error);
    throw toApplicationFailure(error, {
      earlierMayHaveLeft: earlierMayHaveLeft || (info.isLocal && !(await provenFirstTry(deps))),
      attempt: info.isLocal ? undefined : info.attempt,
      longestDelayMs: longestDelay(call),
    });
  } finally {
    clearInterval(beats);
  }
  return await mark(answer, earlierMayHaveLeft);
}

/** ms. By so much before its window closes a call is sent once more, whatever its `Retry-After` says. */
const LAST_ATTEMPT_BEFORE = 60_000;
/** ms. No `Retry-After` puts a call off for longer that must be sent before its hold ends. */
const LONGEST_DELAY_IF_URGENT = 60_000;

function longestDelay({ postUntil, urgentFrom: from = Number.POSITIVE_INFINITY }: KeyedCall): number {
  const left = postUntil - Date.now() - LAST_ATTEMPT_BEFORE;
  // Near the end of its hold a Retry-After would let the money go.
  const untilUrgent = Math.max(LONGEST_DELAY_IF_URGENT, from - Date.now());
  // That attempt was the last one.
  return Math.min(untilUrgent, left > 0 ? left : Number.POSITIVE_INFINITY);
}

/**
 * Sends a DELETE, which has no key and needs none. A 404 after an attempt whose reply may be lost is returned: that one
 * may have worked, or never arrived.
 * If no earlier attempt can have left, a 404 is thrown: the id does not exist, the caller may have mistyped it.
 */
export async function sendDelete(send: () => Promise<unknown>): Promise<ApplicationFailure | undefined> {
  const info = activityInfo();
  const first = noEarlierLeft(info);
  // As in `sendKeyedPost`: an operator's reset of the activity keeps the last heartbeat.
  if (!first) heartbeat(nothingProven());
  try {
    await send();
    return undefined;
  } catch (error) {
    if (first) keepIfRefused(info, error);
    const failure = toApplicationFailure(error, { earlierMayHaveLeft: !first });
    if (detailsOf(failure).disbelieved !== FAILURE_TYPES.notFound) throw failure;
    return failure;
  }
}

/**
 * Aborts the call when the worker stops: the next worker sends it again under the same key. Does not abort when the
 * flow cancels: it sends nothing more, and this answer may be the only evidence of what the call did.
 */
function givenUp(): AbortSignal {
  // The abort listener runs without an activity context, so `Context.current()` must be read here.
  const activity = Context.current();
  const cancelled = activity.cancellationSignal;
  const given = new AbortController();
  const giveUp = (): void => {
    if (activity.cancellationDetails?.cancelRequested !== true) given.abort(cancelled.reason);
  };
  if (cancelled.aborted) giveUp();
  else cancelled.addEventListener('abort', giveUp, { once: true });
  return given.signal;
}

/**
 * Sends heartbeats. Each repeats the proof about earlier attempts, since the next attempt sees only the last heartbeat.
 * It proves nothing about this attempt.
 */
function keepBeating(proof: Proof): NodeJS.Timeout {
  return setInterval(() => heartbeat(proof), BEAT_MS).unref();
}

/**
 * Asks the server whether the workflow task is in its first attempt. A local activity runs again when its task was
 * lost, and its own info does not show that. Call this only when the answer decides something.
 */
export async function provenFirstTry(deps: ActivityDeps): Promise<boolean> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return false;
  try {
    return await deps.engine.inFirstTry(workflowExecution.workflowId, workflowExecution.runId);
  } catch {
    return false;
  }
}

/** Tells the next attempt that this one, like all before it, never left this machine. */
function keepIfRefused(info: Info, error: unknown): void {
  if (info.isLocal || !(error instanceof ProviderError) || error.mayHaveLeft) return;
  heartbeat({ refusedThrough: info.attempt } satisfies Proof);
}

/** True when it is proven that no earlier attempt of this activity reached the service. */
export function noEarlierLeft(info: Info): boolean {
  return isFirstAttempt(info) || everyEarlierRefused(info.heartbeatDetails, info.attempt);
}

/** An operator's reset of an activity restarts its attempts at 1 but keeps the time of its first schedule. */
function isFirstAttempt(info: Info): boolean {
  return info.attempt === 1 && info.currentAttemptScheduledTimestampMs <= info.scheduledTimestampMs;
}

function everyEarlierRefused(details: unknown, attempt: number): boolean {
  return (
    typeof details === 'object' &&
    details !== null &&
    attempt > 1 &&
    'refusedThrough' in details &&
    details.refusedThrough === attempt - 1
  );
}

function windowClosed(call: KeyedCall, mayHaveLeft: boolean): ApplicationFailure {
  const details: FailureDetails = { mayHaveLeft, windowClosed: true };
  const until = new Date(call.postUntil).toISOString();
  return ApplicationFailure.nonRetryable(
    `Not sent: the window of key ${call.key} closed at ${until}; from now on only reads can tell`,
    FAILURE_TYPES.outcomeUnknown,
    details,
  );
}

function nothingProven(refusedReads?: RefusedReads): Proof {
  return { refusedThrough: NOTHING_PROVEN, ...(refusedReads !== undefined && { refusedReads }) };
}

function refusedReadsOf(details: unknown): RefusedReads | undefined {
  return typeof details === 'object' ? (details as Partial<Proof> | null)?.refusedReads : undefined;
}

/** The unit's setting says that its service does not offer the read. */
function isOffBySetting(error: unknown): boolean {
  return detailsOf(error).notOffered === true;
}

/** Attempts of an outage are no refusals, and a 404 amid one may be that of a proxy. */
function noteFailedRead(before: RefusedReads | undefined, error: unknown, now: number): RefusedReads | undefined {
  if (isRefusedRead(error)) return noteRefusedRead(before, now, false);
  // Nothing was asked.
  return detailsOf(error).heldBack === true ? before : undefined;
}

function detailsOf(error: unknown): Partial<FailureDetails> {
  return error instanceof ApplicationFailure ? ((error.details?.[0] ?? {}) as Partial<FailureDetails>) : {};
}

type SentBefore = NonNullable<Awaited<ReturnType<typeof whySentBefore>>>;

const SINCE: Readonly<Record<SentBefore, string>> = {
  reset: 'this run was made by a reset, and',
  restore: 'the engine was restored from a backup, and',
};

/** No read can ever allow this POST: the flow continues with other reads and an operator. */
function neverSent(why: SentBefore, error: unknown): ApplicationFailure {
  const reason = messageOf(error);
  const details: FailureDetails = { mayHaveLeft: true, windowClosed: true };
  return ApplicationFailure.nonRetryable(
    `Not sent: ${SINCE[why]} the service offers no read of what was done before: ${reason}`,
    FAILURE_TYPES.outcomeUnknown,
    details,
  );
}

function isOurOwn(error: ApplicationFailure): boolean {
  return detailsOf(error).httpStatus === undefined;
}

function notBeforeARead(why: SentBefore, error: unknown): ApplicationFailure {
  // The flow handles both: an operator fixes credentials, reads or an operator resolve ambiguous transactions.
  if (error instanceof ApplicationFailure && error.type === FAILURE_TYPES.credentialsRejected) return error;
  if (error instanceof ApplicationFailure && error.type === FAILURE_TYPES.outcomeUnknown) return error;
  // Our own finding forbids the POST. A conflict with which the service refused the read says nothing.
  if (error instanceof ApplicationFailure && error.type === FAILURE_TYPES.stateConflict && isOurOwn(error))
    return error;
  const reason = messageOf(error);
  const details: FailureDetails = { mayHaveLeft: true };
  return ApplicationFailure.retryable(
    `Not sent: ${SINCE[why]} what was done before could not be read: ${reason}`,
    FAILURE_TYPES.providerUnavailable,
    details,
  );
}

/**
 * A mistyped unit is the caller's fault while nothing has been sent. A unit that vanished from the configuration in
 * mid-flow is our fault: the flow waits until it is back.
 */
function unitMissing(deps: ActivityDeps, call: KeyedCall, mayHaveLeft: boolean): ApplicationFailure {
  const details: FailureDetails = { mayHaveLeft };
  return ApplicationFailure.nonRetryable(
    knownUnits(deps, call.businessUnit),
    mayHaveLeft || call.madeUnder !== undefined ? FAILURE_TYPES.credentialsRejected : FAILURE_TYPES.invalidInput,
    details,
  );
}
