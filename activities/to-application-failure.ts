import { ApplicationFailure } from '@temporalio/common';
import type { FailureDetails, FailureType } from '../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { ProviderError } from '../src/provider/index.js';

/** A failure type, and whether the same request may be sent again as it is. */
export interface Ruling {
  type: FailureType;
  retryable: boolean;
  /** A refusal: the service, or our own client, says that nothing was done. */
  refusal: boolean;
}

const NO_ANSWER: Ruling = { type: FAILURE_TYPES.providerUnavailable, retryable: true, refusal: false };
const UNEXPECTED: Ruling = { type: FAILURE_TYPES.unexpectedResponse, retryable: false, refusal: false };
const BY_STATUS: ReadonlyMap<number, Ruling> = new Map([
  [400, { type: FAILURE_TYPES.invalidInput, retryable: false, refusal: true }],
  [401, { type: FAILURE_TYPES.credentialsRejected, retryable: false, refusal: false }],
  [403, { type: FAILURE_TYPES.credentialsRejected, retryable: false, refusal: false }],
  [404, { type: FAILURE_TYPES.notFound, retryable: false, refusal: true }],
  [405, { type: FAILURE_TYPES.invalidInput, retryable: false, refusal: true }],
  [408, NO_ANSWER],
  [409, { type: FAILURE_TYPES.stateConflict, retryable: false, refusal: true }],
  [413, { type: FAILURE_TYPES.invalidInput, retryable: false, refusal: true }],
  [415, { type: FAILURE_TYPES.invalidInput, retryable: false, refusal: true }],
  [422, { type: FAILURE_TYPES.invalidInput, retryable: false, refusal: true }],
  [429, { type: FAILURE_TYPES.rateLimited, retryable: true, refusal: false }],
]);

/** The one place that decides what an answer of the payment service means for retrying. */
export function ruleOn(error: ProviderError): Ruling {
  switch (error.kind) {
    case 'refused':
    case 'lost':
    case 'timeout':
      return NO_ANSWER;
    case 'request':
      return { type: FAILURE_TYPES.invalidInput, retryable: false, refusal: true };
    case 'unexpected':
      return UNEXPECTED;
    case 'http': {
      const status = error.httpStatus ?? 0;
      return BY_STATUS.get(status) ?? (status >= 500 ? NO_ANSWER : UNEXPECTED);
    }
    default:
      return error.kind satisfies never;
  }
}

/** What the activity knows about attempts before this one, under the same key. */
export interface AttemptKnowledge {
  /** False only when it is proven that no earlier attempt reached the service. */
  earlierMayHaveLeft: boolean;
}

/** For reads: nothing can have been done, so every refusal is believed. */
export const READ_KNOWLEDGE: AttemptKnowledge = { earlierMayHaveLeft: false };

/**
 * The failure that leaves an activity. A refusal (4xx) is believed only if no earlier attempt can have
 * left: the earlier one may have taken the money, and the refusal be its consequence ("token already
 * used"). Then it becomes `OutcomeUnknown`, and reads decide (money rule 5).
 */
export function toApplicationFailure(error: unknown, known: AttemptKnowledge): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (!(error instanceof ProviderError)) {
    const message = error instanceof Error ? error.message : String(error);
    return failure(UNEXPECTED, `The call failed in a way nobody foresaw: ${message}`, { mayHaveLeft: true });
  }
  const ruling = ruleOn(error);
  const details: FailureDetails = {
    ...present(error),
    mayHaveLeft: error.mayHaveLeft || known.earlierMayHaveLeft,
  };
  if (ruling.refusal && known.earlierMayHaveLeft) {
    return failure(
      { type: FAILURE_TYPES.outcomeUnknown, retryable: false, refusal: false },
      `Not believed, since an earlier attempt may have acted: ${error.message}`,
      { ...details, disbelieved: ruling.type },
    );
  }
  return failure(ruling, error.message, details);
}

function failure(ruling: Ruling, message: string, details: FailureDetails): ApplicationFailure {
  return ApplicationFailure.create({
    type: ruling.type,
    message,
    nonRetryable: !ruling.retryable,
    details: [details],
    ...(ruling.retryable && details.retryAfterMs !== undefined && { nextRetryDelay: details.retryAfterMs }),
  });
}

function present(error: ProviderError): Omit<FailureDetails, 'mayHaveLeft'> {
  return {
    ...(error.httpStatus !== undefined && { httpStatus: error.httpStatus }),
    ...(error.requestId !== undefined && { requestId: error.requestId }),
    ...(error.category !== undefined && { category: error.category }),
    ...(error.description !== undefined && { description: error.description }),
    ...(error.moreInfo !== undefined && { moreInfo: error.moreInfo }),
    ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
  };
}
