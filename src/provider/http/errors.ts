import type { FailureType } from '../contract/failure-types.js';
import type { ProviderErrorKind } from './error-kinds.js';
import { failureTypeOf } from './failures.js';

export interface ProviderErrorFields {
  kind: ProviderErrorKind;
  operation: string;
  mayHaveLeft: boolean;
  /** Where the operation's own failure map knows better than kind and status alone. */
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
 * Why a call has no usable answer. Holds no secret, no card data and no foreign error object (those of
 * the HTTP library can hold raw bytes of an answer), so it may be logged as it is.
 */
export class ProviderError extends Error {
  readonly kind: ProviderErrorKind;
  /** Name of the method that was called, such as `createCharge`. */
  readonly operation: string;
  /** False only when it is proven that no byte of this request left. */
  readonly mayHaveLeft: boolean;
  /** The same failure in the words of the contract, such as `StateConflict`. Says nothing about repeating. */
  readonly failureType: FailureType;
  readonly httpStatus?: number;
  /** The service's id of this request; quote it to its support. */
  readonly requestId?: string;
  /** `category`, `description` and `more_info` of the service's error body. */
  readonly category?: string;
  readonly description?: string;
  readonly moreInfo?: string;
  /** ms, from `Retry-After`. */
  readonly retryAfterMs?: number;
  /** Kinds `request` and `unexpected`: one line per fault, each with its path, never with a value of an answer. */
  readonly faults?: readonly string[];
  /** Error code of the system or the HTTP library, such as `ECONNREFUSED`; `ABORTED` for a caller's abort. */
  readonly code?: string;
  /** Kind `unexpected`: names and types of the body's fields, or a masked beginning. Never its values. */
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
    // On the prototype, where the built-in error classes keep it, so that it is no field of each error.
    this.prototype.name = 'ProviderError';
  }
}
