import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import { FAILURE_TYPES, type FailureDetails, type FailureType } from '../../src/contract/names.js';
import { isSealed, isUndecodable } from '../../src/contract/payload-marks.js';
import { isNotOffered, noteRefusedRead, type RefusedReads, REFUSING_STATUSES } from '../../src/domain/absence.js';
import { readableOrRetry } from '../kit/decoded-or-retry.js';
import type { FlowState, StepKind } from '../flow/state.js';

/** What a failed call means for the loop that sends it. */
export interface ClassifiedFailure {
  /**
   * refuse: believed, the flow fails with `error`. again: send the same key again after `waitMs`. closed: no POST may
   * be sent any more. credentials: wait until they work. book: wait for the reference book. braked: wait for a
   * release, or end if nothing has left. final: `error` ends the step, whatever left before: without the reference
   * it can have moved no money, or its consent was given back. readFirst: a read must answer before the next POST. readOnly: no further POST makes
   * sense; only reads can show the outcome.
   */
  next: 'refuse' | 'again' | 'closed' | 'credentials' | 'book' | 'braked' | 'final' | 'readFirst' | 'readOnly';
  message: string;
  /** False only if it is proven that no request left this machine. */
  mayHaveLeft: boolean;
  waitMs: number;
  /** The service has answered. */
  byService: boolean;
  /** A 409 that an earlier attempt of ours may have caused. */
  conflict: boolean;
  /** Transactions that an earlier run may have created. */
  ambiguousIds: readonly string[];
  /** The business unit has endpoints for notifications. */
  notifies?: true;
  /** A worker has not sent it, to spare the service or other business units. */
  heldBack?: true;
  error: Error;
}

/**
 * Classifies the failure of a POST activity. An unrecognized failure counts as "no answer": the flow reads before it
 * sends again, and so does one whose details no worker has encrypted for this flow. A failure that only another worker
 * can decode fails the task.
 */
export function classifyFailure(error: unknown): ClassifiedFailure {
  const failure = error instanceof Error ? error : new Error(String(error));
  const cause = failure instanceof ActivityFailure ? failure.cause : failure;
  const timedOut = failure instanceof ActivityFailure && failure.retryState === 'TIMEOUT';
  if (cause instanceof TimeoutFailure) {
    return verdict(cause.timeoutType === 'SCHEDULE_TO_CLOSE' || timedOut ? 'closed' : 'again', cause, {});
  }
  if (!(cause instanceof ApplicationFailure)) return verdict('readFirst', failure, {});
  const given = readableOrRetry(cause.details?.[0], 'why a call failed');
  // Whoever has access to Temporal can fail an activity whose call is under way.
  if (!isSealed(given) || isUndecodable(given)) return verdict('readFirst', cause, { mayHaveLeft: true });
  const details = given as Partial<FailureDetails>;
  switch (cause.type) {
    case FAILURE_TYPES.invalidInput:
    case FAILURE_TYPES.notFound:
    case FAILURE_TYPES.stateConflict:
      return verdict(details.consentGivenBack === true ? 'final' : 'refuse', cause, details);
    case FAILURE_TYPES.credentialsRejected:
      return verdict('credentials', cause, details);
    case FAILURE_TYPES.referenceConflict:
      // A reference of the merchant at the service, such as a customer's, is read first.
      return verdict(details.referenceBook === 'taken' ? 'final' : 'readFirst', cause, details);
    case FAILURE_TYPES.providerUnavailable:
    case FAILURE_TYPES.rateLimited:
      if (details.braked === true) return verdict('braked', cause, details);
      if (details.referenceBook !== undefined && !timedOut) return verdict('book', cause, details);
      return verdict(timedOut ? 'closed' : 'again', cause, details);
    case FAILURE_TYPES.outcomeUnknown:
      if (details.windowClosed === true) return verdict('closed', cause, details);
      // A 409 may only mean that our own earlier attempt is still being processed: it is worth sending again.
      return verdict(details.disbelieved === FAILURE_TYPES.stateConflict ? 'readFirst' : 'readOnly', cause, details);
    default:
      return verdict('readFirst', cause, details);
  }
}

function verdict(next: ClassifiedFailure['next'], error: Error, details: Partial<FailureDetails>): ClassifiedFailure {
  return {
    next,
    message: error.message,
    mayHaveLeft: details.mayHaveLeft ?? true,
    waitMs: details.retryAfterMs ?? 0,
    byService: details.httpStatus !== undefined,
    conflict: details.disbelieved === FAILURE_TYPES.stateConflict,
    ambiguousIds: details.ambiguousIds ?? [],
    ...(details.notifies === true && { notifies: true }),
    ...(details.heldBack === true && { heldBack: true }),
    error,
  };
}

/** The refusal of a call, where it is believed and of this type. */
export function refusedAs(error: unknown, type: FailureType): ApplicationFailure | undefined {
  const { error: cause, next } = classifyFailure(error);
  return next === 'refuse' && cause instanceof ApplicationFailure && cause.type === type ? cause : undefined;
}

/** What a refusal means once an earlier try turns out to be possible: what the activity says where it knows of one. */
export function disbelieve(failure: ClassifiedFailure): ClassifiedFailure {
  if (failure.next !== 'refuse') return failure;
  const { error } = failure;
  const conflict = error instanceof ApplicationFailure && error.type === FAILURE_TYPES.stateConflict;
  return { ...failure, next: conflict ? 'readFirst' : 'readOnly', conflict };
}

/** This many answers take half a minute: the service won't process an earlier attempt of ours for much longer. */
const MOST_CONFLICTS = 5;

/**
 * Ends the sending if the service answers 409 every time: another POST would show nothing new, and every other command
 * would wait behind it until its window closes. Reads must prove whether an earlier attempt was executed.
 * @param conflicts 409 answers before this one
 */
export function afterConflicts(failure: ClassifiedFailure, conflicts: number): ClassifiedFailure {
  const isLast = failure.conflict && failure.next === 'readFirst' && conflicts + 1 >= MOST_CONFLICTS;
  return isLast ? { ...failure, next: 'readOnly' } : failure;
}

/** How the service, or the unit's setting, refused a read. */
export interface ReadRefusal {
  /** For an operator, as the end of a sentence. */
  how: string;
  bySetting: boolean;
  /** By repeated refusals or by the unit's setting the service counts as not offering it (money rule 6). */
  notOffered: boolean;
}

/** Returns undefined for every other failure: a service that is down or answers garbage may answer the next time. */
export function readRefusal(error: unknown): Omit<ReadRefusal, 'notOffered'> | undefined {
  const { error: cause } = classifyFailure(error);
  if (!(cause instanceof ApplicationFailure)) return undefined;
  const given: unknown = cause.details?.[0];
  if (!isSealed(given)) return undefined;
  const { httpStatus, notOffered } = given as Partial<FailureDetails>;
  if (notOffered === true) return { how: "is not asked, by the business unit's setting", bySetting: true };
  if (httpStatus === undefined || !REFUSING_STATUSES.includes(httpStatus)) return undefined;
  return { how: `is answered with ${httpStatus}`, bySetting: false };
}

/** Counts a refused list of this kind; returns undefined if it failed otherwise. */
export function noteListRefusal(flow: FlowState, kind: StepKind, error: unknown): ReadRefusal | undefined {
  return noteRefusal(flow.refusedLists, kind, error);
}

export function noteRefusal(
  refusals: Partial<Record<StepKind, RefusedReads>>,
  kind: StepKind,
  error: unknown,
): ReadRefusal | undefined {
  const refusal = readRefusal(error);
  if (refusal === undefined) return undefined;
  const refused = noteRefusedRead(refusals[kind], Date.now(), refusal.bySetting);
  refusals[kind] = refused;
  return { ...refusal, notOffered: isNotOffered(refused) };
}

/** The list was answered, so the service offers it: earlier refusals don't count. */
export function noteListAnswer(flow: FlowState, kind: StepKind): void {
  delete flow.refusedLists[kind];
}
