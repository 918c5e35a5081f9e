import { FAILURE_TYPES, type FailureType } from '../../contract/names.js';
import type { VersionRules } from '../versions.js';

/** All values of {@link ProviderError.kind}. */
export const PROVIDER_ERROR_KINDS = ['refused', 'lost', 'timeout', 'http', 'unexpected', 'request'] as const;

/**
 * - `refused`: proven that no byte of the request left (connect, DNS or TLS fault, connect limit, closed client, early
 *   abort).
 * - `lost`: the connection broke, or the caller aborted, after sending began. The call may have been executed.
 * - `timeout`: the time limit of the whole call passed.
 * - `http`: any status outside 2xx.
 * - `unexpected`: an unusable answer: not HTTP, not JSON, too large, or a 2xx that does not fit the schema.
 * - `request`: refused by this client before sending, because the service could not accept the request.
 */
export type ProviderErrorKind = (typeof PROVIDER_ERROR_KINDS)[number];

export interface ProviderErrorFields {
  kind: ProviderErrorKind;
  operation: string;
  mayHaveLeft: boolean;
  /** From the operation's failure map; overrides the type derived from kind and status. */
  failureType?: FailureType | undefined;
  httpStatus?: number | undefined;
  requestId?: string | undefined;
  category?: string | undefined;
  description?: string | undefined;
  moreInfo?: string | undefined;
  retryAfterMs?: number | undefined;
  faults?: readonly string[] | undefined;
  code?: string | undefined;
  excerpt?: string | undefined;
}

/**
 * Why a call has no usable answer. Contains no secret, no card data and no error object of the HTTP library (those can
 * contain raw bytes of an answer), so it may be logged as it is.
 */
export class ProviderError extends Error {
  readonly kind: ProviderErrorKind;
  /** Name of the called method, such as `createCharge`. */
  readonly operation: string;
  /** False only when it is proven that no byte of this request left. */
  readonly mayHaveLeft: boolean;
  /** Failure type of the contract, such as `StateConflict`. Does not say whether the call may be repeated. */
  readonly failureType: FailureType;
  readonly httpStatus?: number;
  /** The service's id of this request, for its support. */
  readonly requestId?: string;
  /** `category`, `description` and `more_info` of the service's error body. */
  readonly category?: string;
  readonly description?: string;
  readonly moreInfo?: string;
  /** Value of `Retry-After`, in ms. */
  readonly retryAfterMs?: number;
  /** Kinds `request` and `unexpected`: one line per fault with its path, never with a value of an answer. */
  readonly faults?: readonly string[];
  /** Error code of the system or the HTTP library, such as `ECONNREFUSED`; `ABORTED` for a caller's abort. */
  readonly code?: string;
  /** Kind `unexpected`: names and types of the body's fields, or its masked beginning. Never field values. */
  readonly excerpt?: string;

  constructor(message: string, fields: ProviderErrorFields) {
    super(message);
    this.kind = fields.kind;
    this.operation = fields.operation;
    this.mayHaveLeft = fields.mayHaveLeft;
    this.failureType = fields.failureType ?? failureTypeOf(fields.kind, fields.httpStatus);
    if (fields.httpStatus !== undefined) this.httpStatus = fields.httpStatus;
    if (fields.requestId !== undefined) this.requestId = fields.requestId;
    if (fields.category !== undefined) this.category = fields.category;
    if (fields.description !== undefined) this.description = fields.description;
    if (fields.moreInfo !== undefined) this.moreInfo = fields.moreInfo;
    if (fields.retryAfterMs !== undefined) this.retryAfterMs = fields.retryAfterMs;
    if (fields.faults !== undefined) this.faults = fields.faults;
    if (fields.code !== undefined) this.code = fields.code;
    if (fields.excerpt !== undefined) this.excerpt = fields.excerpt;
  }

  static {
    // On the prototype, as in the built-in error classes, so that `name` is not a field of each error.
    this.prototype.name = 'ProviderError';
  }
}

/** Meaning of each HTTP status that is documented for an operation. */
export type FailureMap = Readonly<Record<number, FailureType>>;

const EVERYWHERE: FailureMap = {
  400: FAILURE_TYPES.invalidInput,
  401: FAILURE_TYPES.credentialsRejected,
  404: FAILURE_TYPES.notFound,
  405: FAILURE_TYPES.invalidInput,
  500: FAILURE_TYPES.providerUnavailable,
  503: FAILURE_TYPES.providerUnavailable,
};

/** Failures of reads and of other operations without a state conflict. */
export const plainFailures = (): FailureMap => EVERYWHERE;

/** Failures of an operation that depends on the state of the payment. */
export const stateFailures = (): FailureMap => ({ ...EVERYWHERE, 409: FAILURE_TYPES.stateConflict });

/** State failures of an operation that calls the provider. An unavailable provider is 504 at API 1.0.0, 503 later. */
export const providerFailures = (rules: VersionRules): FailureMap => ({
  ...stateFailures(),
  [rules.providerAwayStatus]: FAILURE_TYPES.providerUnavailable,
});

/** Failures of an operation that reserves a reference of the merchant. */
export const referenceFailures = (): FailureMap => ({ ...EVERYWHERE, 409: FAILURE_TYPES.referenceConflict });

/** Statuses from systems between us and the service, or not documented for any operation. */
const ANYWHERE_ELSE: FailureMap = {
  403: FAILURE_TYPES.credentialsRejected,
  408: FAILURE_TYPES.providerUnavailable,
  409: FAILURE_TYPES.stateConflict,
  413: FAILURE_TYPES.invalidInput,
  415: FAILURE_TYPES.invalidInput,
  422: FAILURE_TYPES.invalidInput,
  429: FAILURE_TYPES.rateLimited,
};

/** Failure type of a status outside 2xx; `documented` is the operation's own map. */
export function failureTypeOfStatus(status: number | undefined, documented: FailureMap = EVERYWHERE): FailureType {
  if (status === undefined) return FAILURE_TYPES.unexpectedResponse;
  const known = documented[status] ?? EVERYWHERE[status] ?? ANYWHERE_ELSE[status];
  return known ?? (status >= 500 ? FAILURE_TYPES.providerUnavailable : FAILURE_TYPES.unexpectedResponse);
}

/** Failure type of a call without a usable answer. */
function failureTypeOf(kind: ProviderErrorKind, status: number | undefined): FailureType {
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

interface Meaning {
  before: ProviderErrorKind;
  after: ProviderErrorKind;
  says: string;
}

const CAN_NOT_BE_SENT: Meaning = { before: 'request', after: 'lost', says: 'the request can not be sent as it is' };
const NO_CONNECTION: Meaning = { before: 'refused', after: 'lost', says: 'no connection' };
const UNREADABLE: Meaning = { before: 'refused', after: 'unexpected', says: 'the answer can not be read' };
const TRUNCATED: Meaning = { before: 'refused', after: 'lost', says: 'the answer broke off' };
const SLOW: Meaning = { before: 'refused', after: 'timeout', says: 'no answer in time' };

/**
 * Meaning of a code of undici, Node or this client, before and after sending began. An unlisted code counts as "no
 * connection": `refused` before, `lost` after.
 */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  ABORTED: { before: 'refused', after: 'lost', says: 'aborted by the caller' },
  CALL_LIMIT: { before: 'timeout', after: 'timeout', says: 'the limit of the whole call passed' },
  SENT_TWICE: {
    before: 'lost',
    after: 'lost',
    says: 'the dispatcher tried to send the request again, which was stopped',
  },
  BODY_TOO_LARGE: { before: 'unexpected', after: 'unexpected', says: 'the answer is larger than the limit' },
  ECONNREFUSED: { ...NO_CONNECTION, says: 'nothing listens there' },
  ENOTFOUND: { ...NO_CONNECTION, says: 'no such host' },
  EAI_AGAIN: { ...NO_CONNECTION, says: 'the host name can not be looked up now' },
  EHOSTUNREACH: { ...NO_CONNECTION, says: 'no route to the host' },
  ENETUNREACH: { ...NO_CONNECTION, says: 'no route to the network' },
  ECONNRESET: { ...NO_CONNECTION, says: 'the connection was reset' },
  EPIPE: { ...NO_CONNECTION, says: 'the connection was closed' },
  UND_ERR_CONNECT_TIMEOUT: { ...NO_CONNECTION, says: 'no connection within the connect limit' },
  UND_ERR_SOCKET: { ...NO_CONNECTION, says: 'the connection was closed' },
  UND_ERR_CLOSED: { ...NO_CONNECTION, says: 'the client is closed' },
  UND_ERR_DESTROYED: { ...NO_CONNECTION, says: 'the client is closed' },
  UND_ERR_ABORT: { ...NO_CONNECTION, says: 'stopped by the dispatcher' },
  UND_ERR_ABORTED: { ...NO_CONNECTION, says: 'stopped by the dispatcher' },
  UND_ERR_INFO: NO_CONNECTION,
  UND_ERR_PRX_TLS: NO_CONNECTION,
  UND_ERR_REQ_RETRY: NO_CONNECTION,
  UND_ERR_HEADERS_TIMEOUT: SLOW,
  UND_ERR_BODY_TIMEOUT: SLOW,
  UND_ERR_HEADERS_OVERFLOW: UNREADABLE,
  UND_ERR_RES_EXCEEDED_MAX_SIZE: UNREADABLE,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: TRUNCATED,
  HPE_INVALID_EOF_STATE: TRUNCATED,
  HPE_CLOSED_CONNECTION: TRUNCATED,
  UND_ERR_INVALID_ARG: CAN_NOT_BE_SENT,
  UND_ERR_INVALID_RETURN_VALUE: CAN_NOT_BE_SENT,
  UND_ERR_NOT_SUPPORTED: CAN_NOT_BE_SENT,
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: CAN_NOT_BE_SENT,
};

function meaningOf(code: string): Meaning {
  const listed = Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined;
  return listed ?? (code.startsWith('HPE_') ? UNREADABLE : NO_CONNECTION);
}

/** The kind of a failure without a complete answer. */
export function kindOfFault(code: string, sendingBegan: boolean): ProviderErrorKind {
  const { before, after } = meaningOf(code);
  return sendingBegan ? after : before;
}

/** Text of a fault code for an error message. */
export function wordsOfFault(code: string): string {
  return meaningOf(code).says;
}

/**
 * Keeps only the code of another library's error: its other fields can contain raw bytes of the answer. Does not use
 * `instanceof Error`, which is false for an error of another realm.
 */
export function codeOfError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'UNKNOWN';
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return code;
  // undici's parser sets no code for some faults.
  return name === 'HTTPParserError' ? 'HPE_UNKNOWN' : 'UNKNOWN';
}
