/**
 * The `type` of every `ApplicationFailure` that leaves an activity or a workflow. Callers must match these strings,
 * never a class: a failure that crossed the engine has lost its constructor.
 */
export const FAILURE_TYPES = {
  /** The input is invalid. Nothing was sent, or the service refused it before doing anything. */
  invalidInput: 'InvalidInput',
  /** The reference belongs to a flow with another input or of another type. */
  referenceConflict: 'ReferenceConflict',
  /** 401 or 403. The flow waits and continues when the key is corrected. */
  credentialsRejected: 'CredentialsRejected',
  /** A 404 that is believed. */
  notFound: 'NotFound',
  /** A 409 that is believed, or a command that is not possible in the flow's present state. */
  stateConflict: 'StateConflict',
  /** No answer: refused or lost connection, time-out, 500, 502, 503, 504. Retried with the same key. */
  providerUnavailable: 'ProviderUnavailable',
  /** 429. Retried with the same key after `Retry-After`. */
  rateLimited: 'RateLimited',
  /** It is not known yet whether the call was executed. Only inside activities; no workflow fails with it. */
  outcomeUnknown: 'OutcomeUnknown',
  /** The service answered with another amount or currency than requested. */
  amountMismatch: 'AmountMismatch',
  /** An answer that fits no schema. It counts as no answer, so a read comes before any further POST. */
  unexpectedResponse: 'UnexpectedResponse',
} as const;
export type FailureType = (typeof FAILURE_TYPES)[keyof typeof FAILURE_TYPES];

/** First element of `ApplicationFailure.details` in every failure from an activity. */
export interface FailureDetails {
  httpStatus?: number;
  requestId?: string;
  category?: string;
  description?: string;
  moreInfo?: string;
  /** false only if it is proven that the request never left this machine. */
  mayHaveLeft: boolean;
  /** ms, from `Retry-After`. */
  retryAfterMs?: number;
  /** The failure type of the answer, had it been safe to believe (money rule 5). */
  disbelieved?: FailureType;
  /** The activity did not send because its window had closed (money rule 4). */
  windowClosed?: true;
  /** The unit's setting says that the service doesn't offer this read, so it was not sent. */
  notOffered?: true;
  /** Transactions that an earlier run may have made: until their origin is known, `notExecuted` is not allowed. */
  ambiguousIds?: string[];
}
