import type { ProviderErrorKind } from './error-kinds.js';

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
 * What a code of undici, of Node or of this client means, before and after sending began. A code that is
 * not here counts as "no connection": `refused` before, `lost` after.
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

/** The same in words, for an error message. */
export function wordsOfFault(code: string): string {
  return meaningOf(code).says;
}

/**
 * Only the code is kept of a foreign error: its other fields can hold raw bytes of the answer. Read by shape,
 * since an error of another realm is no `instanceof Error` here.
 */
export function codeOfError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'UNKNOWN';
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code)) return code;
  // undici's parser leaves the code out for some faults.
  return name === 'HTTPParserError' ? 'HPE_UNKNOWN' : 'UNKNOWN';
}
