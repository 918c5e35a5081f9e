import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { messageOf } from '../src/contract/message-of.js';
import { FAILURE_TYPES, type FailureDetails, type FailureType } from '../src/contract/names.js';
import { ProviderError } from '../src/provider/index.js';

/** `operation` of an error that comes from the reference book and not from the service. */
export const REFERENCE_BOOK = 'referenceBook';
/** `operation` of an error by which a brake has kept a POST from being sent. */
export const BRAKE = 'brake';

/** A call was not sent yet, to spare the service or other units. It comes back by itself. */
export class CallHeldBack extends ProviderError {}

/** Failure type, and whether the same request may be sent again unchanged. */
export interface Classification {
  type: FailureType;
  retryable: boolean;
  /** The service, or our own client, says that nothing was done. */
  refusal: boolean;
}

const REFUSED = { retryable: false, refusal: true };
const SEND_AGAIN = { retryable: true, refusal: false };
/** Neither an answer nor safe to send again: a read or an operator comes first. */
const LOOK_FIRST = { retryable: false, refusal: false };

const BY_TYPE: Readonly<Record<FailureType, Omit<Classification, 'type'>>> = {
  InvalidInput: REFUSED,
  NotFound: REFUSED,
  StateConflict: REFUSED,
  ReferenceConflict: REFUSED,
  CredentialsRejected: LOOK_FIRST,
  ProviderUnavailable: SEND_AGAIN,
  RateLimited: SEND_AGAIN,
  OutcomeUnknown: LOOK_FIRST,
  AmountMismatch: LOOK_FIRST,
  UnexpectedResponse: LOOK_FIRST,
};
const UNEXPECTED: Classification = { type: FAILURE_TYPES.unexpectedResponse, ...LOOK_FIRST };

/**
 * Decides, in this one place, what an answer of the payment service means for retries. The operation's row in the
 * client's table has already mapped the answer to a failure type of the contract.
 */
export function classify({ failureType }: ProviderError): Classification {
  return { type: failureType, ...BY_TYPE[failureType] };
}

/** What the activity knows about earlier attempts under the same key. */
export interface AttemptKnowledge {
  /** False only when it is proven that no earlier attempt reached the service. */
  earlierMayHaveLeft: boolean;
  /** Number of this attempt, from 1, if the server is to try again after it. */
  attempt?: number | undefined;
  /** ms. A further attempt that waits longer could not be sent any more. */
  longestDelayMs?: number;
}

/** ms. As the retry policy of POSTs doubles them. */
const FIRST_DELAY = 1_000;
const LONGEST_DELAY = 60_000;

/** The server's own retries have no jitter: after an outage, all that wait would come at the same moments. */
function retryDelay(attempt: number): number {
  return Math.round(Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (attempt - 1)) * (0.75 + Math.random() / 2));
}

/** For reads: they change nothing, so every refusal is believed. */
export const READ_KNOWLEDGE: AttemptKnowledge = { earlierMayHaveLeft: false };

/**
 * Builds the failure that an activity throws. A refusal (4xx) that an earlier attempt may have caused ("token already
 * used") becomes `OutcomeUnknown`, and reads decide (money rule 5).
 */
export function toApplicationFailure(error: unknown, known: AttemptKnowledge): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (!(error instanceof ProviderError)) {
    const message = messageOf(error);
    return failure(UNEXPECTED, `The call failed in a way nobody foresaw: ${message}`, { mayHaveLeft: true });
  }
  const classification = classify(error);
  const details: FailureDetails = {
    ...present(error),
    mayHaveLeft: error.mayHaveLeft || known.earlierMayHaveLeft,
  };
  // Who has the reference does not depend on what this flow has sent.
  if (classification.refusal && known.earlierMayHaveLeft && details.referenceBook === undefined) {
    return failure(
      { type: FAILURE_TYPES.outcomeUnknown, ...LOOK_FIRST },
      `Not believed, since an earlier attempt may have acted: ${error.message}`,
      { ...details, disbelieved: classification.type },
    );
  }
  return failure(classification, error.message, details, known, error instanceof CallHeldBack);
}

function failure(
  classification: Classification,
  message: string,
  details: FailureDetails,
  { attempt, longestDelayMs = Number.POSITIVE_INFINITY }: Omit<AttemptKnowledge, 'earlierMayHaveLeft'> = {},
  isHeldBack = false,
): ApplicationFailure {
  const { retryAfterMs = 0 } = details;
  // The server takes a delay of 0 for the end of all attempts.
  const delay = retryAfterMs > 0 ? retryAfterMs : attempt === undefined ? undefined : retryDelay(attempt);
  return ApplicationFailure.create({
    type: classification.type,
    message,
    // The flow shows that it waits for the book or a release, and sends again by itself.
    nonRetryable: !classification.retryable || details.referenceBook !== undefined || details.braked === true,
    details: [details],
    // It has a metric of its own; as failures, calls that wait would fill the log and the SDK's metric.
    ...(isHeldBack && { category: ApplicationFailureCategory.BENIGN }),
    ...(classification.retryable && delay !== undefined && { nextRetryDelay: Math.min(delay, longestDelayMs) }),
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
    ...(error instanceof CallHeldBack && { heldBack: true as const }),
    ...(error.operation === BRAKE && { braked: true as const }),
    ...(error.operation === REFERENCE_BOOK && {
      referenceBook: error.failureType === FAILURE_TYPES.referenceConflict ? 'taken' : 'unreachable',
    }),
  };
}
