/**
 * The `type` of every `ApplicationFailure` that leaves an activity or a workflow. Callers match these
 * strings and never a class: a failure that crossed the engine has lost its constructor.
 */
export const FAILURE_TYPES = {
  /** The input can't be used. Nothing was sent, or the service refused it before doing anything. */
  invalidInput: 'InvalidInput',
  /** The reference already belongs to a flow with another input or of another type. */
  referenceConflict: 'ReferenceConflict',
  /** 401 or 403. The flow parks and heals when the key is put right. */
  credentialsRejected: 'CredentialsRejected',
  /** 404 that is believed. */
  notFound: 'NotFound',
  /** 409 that is believed, or a command that makes no sense in the flow's present state. */
  stateConflict: 'StateConflict',
  /** No answer: refused or lost connection, time-out, 500, 502, 503, 504. Retried with the same key. */
  providerUnavailable: 'ProviderUnavailable',
  /** 429. Retried with the same key when `Retry-After` has passed. */
  rateLimited: 'RateLimited',
  /** It can't be known yet whether the call acted. Inside activities only; no workflow closes with it. */
  outcomeUnknown: 'OutcomeUnknown',
  /** The service answered with another amount or currency than was asked for. */
  amountMismatch: 'AmountMismatch',
  /** An answer that fits no schema. Counts as no answer; a read comes before any further POST. */
  unexpectedResponse: 'UnexpectedResponse',
} as const;
export type FailureType = (typeof FAILURE_TYPES)[keyof typeof FAILURE_TYPES];

/** First element of `ApplicationFailure.details` for every failure made by an activity. */
export interface FailureDetails {
  httpStatus?: number;
  requestId?: string;
  category?: string;
  description?: string;
  moreInfo?: string;
  /** False only when it is proven that the request never left this machine. */
  mayHaveLeft: boolean;
  /** ms, from `Retry-After`. */
  retryAfterMs?: number;
  /** What the answer would have been taken for, had it been safe to believe it (money rule 5). */
  disbelieved?: FailureType;
  /** The activity refused to send because its window had closed (money rule 4). */
  windowClosed?: true;
  /** Of a read: the unit's setting says that the service does not offer it, so it was not asked. */
  notOffered?: true;
  /** Transactions that an earlier run may have made: while nobody knows, nothing may be called "not executed". */
  couldBeOurs?: string[];
}
