import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { FailureDetails } from '../../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import { readableOrRetry } from './decoded-or-retry.js';

/** What a failed call means for the loop that sends it. */
export interface JudgedFailure {
  /**
   * refuse: believed, the flow fails with `error`. again: same key at once (after `waitMs`). closed: no
   * POST may leave any more. credentials: park. readFirst: a read must answer before the next POST.
   * readOnly: no further POST makes sense; only reads can tell what happened.
   */
  next: 'refuse' | 'again' | 'closed' | 'credentials' | 'readFirst' | 'readOnly';
  message: string;
  /** False only when it is proven that nothing left this machine. */
  mayHaveLeft: boolean;
  waitMs: number;
  /** The service has answered. */
  byService: boolean;
  /** A 409 that an earlier try of ours may have caused. */
  conflict: boolean;
  /** Transactions that an earlier run may have made. */
  couldBeOurs: readonly string[];
  error: Error;
}

/**
 * Judges the failure of a POST activity. What is not understood counts as "no answer": the flow reads
 * before it sends again. What another worker can read fails the task.
 */
export function judgeFailure(error: unknown): JudgedFailure {
  const failure = error instanceof Error ? error : new Error(String(error));
  const cause = failure instanceof ActivityFailure ? failure.cause : failure;
  const timedOut = failure instanceof ActivityFailure && failure.retryState === 'TIMEOUT';
  if (cause instanceof TimeoutFailure) {
    return verdict(cause.timeoutType === 'SCHEDULE_TO_CLOSE' || timedOut ? 'closed' : 'again', cause, {});
  }
  if (!(cause instanceof ApplicationFailure)) return verdict('readFirst', failure, {});
  const details = (readableOrRetry(cause.details?.[0], 'why a call failed') ?? {}) as Partial<FailureDetails>;
  switch (cause.type) {
    case FAILURE_TYPES.invalidInput:
    case FAILURE_TYPES.notFound:
    case FAILURE_TYPES.stateConflict:
      return verdict('refuse', cause, details);
    case FAILURE_TYPES.credentialsRejected:
      return verdict('credentials', cause, details);
    case FAILURE_TYPES.providerUnavailable:
    case FAILURE_TYPES.rateLimited:
      return verdict(timedOut ? 'closed' : 'again', cause, details);
    case FAILURE_TYPES.outcomeUnknown:
      if (details.windowClosed === true) return verdict('closed', cause, details);
      // A 409 may only say that our own earlier attempt is still being worked on: worth asking again.
      return verdict(details.disbelieved === FAILURE_TYPES.stateConflict ? 'readFirst' : 'readOnly', cause, details);
    default:
      return verdict('readFirst', cause, details);
  }
}

function verdict(next: JudgedFailure['next'], error: Error, details: Partial<FailureDetails>): JudgedFailure {
  return {
    next,
    message: error.message,
    mayHaveLeft: details.mayHaveLeft ?? true,
    waitMs: details.retryAfterMs ?? 0,
    byService: details.httpStatus !== undefined,
    conflict: details.disbelieved === FAILURE_TYPES.stateConflict,
    couldBeOurs: details.couldBeOurs ?? [],
    error,
  };
}

/** So many answers take half a minute: no earlier try of ours is still under way at the service for much longer. */
const MOST_CONFLICTS = 5;

/**
 * A service that answers 409 every time has said all it will: another POST tells nothing new, and every other command
 * would wait behind it until its window closes. Whether an earlier try has acted is for reads to prove.
 * @param conflicts such answers before this one
 */
export function afterConflicts(failure: JudgedFailure, conflicts: number): JudgedFailure {
  const isLast = failure.conflict && failure.next === 'readFirst' && conflicts + 1 >= MOST_CONFLICTS;
  return isLast ? { ...failure, next: 'readOnly' } : failure;
}
