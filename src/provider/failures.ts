import { FAILURE_TYPES } from '../contract/failure-types.js';
import type { FailureType } from '../contract/failure-types.js';
import type { ProviderErrorKind } from './error-kinds.js';
import type { VersionRules } from './versions.js';

/** HTTP status → what it means, for the statuses that an operation is documented to answer with. */
export type FailureMap = Readonly<Record<number, FailureType>>;

const EVERYWHERE: FailureMap = {
  400: FAILURE_TYPES.invalidInput,
  401: FAILURE_TYPES.credentialsRejected,
  404: FAILURE_TYPES.notFound,
  405: FAILURE_TYPES.invalidInput,
  500: FAILURE_TYPES.providerUnavailable,
  503: FAILURE_TYPES.providerUnavailable,
};

/** Failures of a read, and of whatever has no state to conflict with. */
export const plainFailures = (): FailureMap => EVERYWHERE;

/** Failures of an operation that depends on the state of the payment. */
export const stateFailures = (): FailureMap => ({ ...EVERYWHERE, 409: FAILURE_TYPES.stateConflict });

/** The same where the provider is asked; one that is away is a 504 at API version 1.0.0 and a 503 later. */
export const providerFailures = (rules: VersionRules): FailureMap => ({
  ...stateFailures(),
  [rules.providerAwayStatus]: FAILURE_TYPES.providerUnavailable,
});

/** Failures of an operation that claims a reference of the merchant's. */
export const referenceFailures = (): FailureMap => ({ ...EVERYWHERE, 409: FAILURE_TYPES.referenceConflict });

/** Statuses that come from between us and the service, or that no operation is documented to answer with. */
const ANYWHERE_ELSE: FailureMap = {
  403: FAILURE_TYPES.credentialsRejected,
  408: FAILURE_TYPES.providerUnavailable,
  409: FAILURE_TYPES.stateConflict,
  413: FAILURE_TYPES.invalidInput,
  415: FAILURE_TYPES.invalidInput,
  422: FAILURE_TYPES.invalidInput,
  429: FAILURE_TYPES.rateLimited,
};

/** What an HTTP answer outside 2xx means; `documented` is the operation's own map. */
export function failureTypeOfStatus(status: number | undefined, documented: FailureMap = EVERYWHERE): FailureType {
  if (status === undefined) return FAILURE_TYPES.unexpectedResponse;
  const known = documented[status] ?? EVERYWHERE[status] ?? ANYWHERE_ELSE[status];
  return known ?? (status >= 500 ? FAILURE_TYPES.providerUnavailable : FAILURE_TYPES.unexpectedResponse);
}

/** What a call without a usable answer means. */
export function failureTypeOf(kind: ProviderErrorKind, status: number | undefined): FailureType {
  switch (kind) {
    case 'request':
      return FAILURE_TYPES.invalidInput;
    case 'refused':
    case 'lost':
    case 'timeout':
      return FAILURE_TYPES.providerUnavailable;
    case 'unexpected':
      return FAILURE_TYPES.unexpectedResponse;
    case 'http':
      return failureTypeOfStatus(status);
    default:
      return kind satisfies never;
  }
}
