/** Every value of {@link ProviderError.kind}. */
export const PROVIDER_ERROR_KINDS = ['refused', 'lost', 'timeout', 'http', 'unexpected', 'request'] as const;

/**
 * - `refused`: proven that no byte of the request left (connect, DNS or TLS fault, connect limit, closed client, early abort).
 * - `lost`: the connection broke, or the caller aborted, after sending began. The call may have acted.
 * - `timeout`: the limit of the whole call passed.
 * - `http`: any answer outside 2xx.
 * - `unexpected`: an answer that can't be relied on: no HTTP, no JSON, too large, or a 2xx that fits no schema.
 * - `request`: refused here, before sending, because the service could not accept it.
 */
export type ProviderErrorKind = (typeof PROVIDER_ERROR_KINDS)[number];
