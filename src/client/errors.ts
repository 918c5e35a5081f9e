import { FAILURE_TYPES, type FailureType } from '../contract/failure-types.js';

/** `EngineUnavailable`: Temporal did not answer in time, so nothing is known. Only the client throws it. */
export type HoldfastErrorType = FailureType | 'EngineUnavailable' | 'FlowNotFound' | 'FlowStopped';

const TYPES: ReadonlySet<string> = new Set([
  ...Object.values(FAILURE_TYPES),
  'EngineUnavailable',
  'FlowNotFound',
  'FlowStopped',
]);

/** The error that every method of the client throws. Match `type`, never the class. */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError';

  constructor(
    readonly type: HoldfastErrorType,
    message: string,
    /** One line per fault, for `InvalidInput`. */
    readonly faults: readonly string[] = [],
    /** The same call may be repeated at once: this error says nothing about the payment. */
    readonly askAgain = false,
  ) {
    super(message);
  }
}

export function isHoldfastErrorType(type: string | null | undefined): type is HoldfastErrorType {
  return typeof type === 'string' && TYPES.has(type);
}

const OPEN: ReadonlySet<string> = new Set(['EngineUnavailable', 'ProviderUnavailable']);

/** Adds the commandId to the message: the flow may have the command, and without its id a repeat is another one. */
export function naming(error: HoldfastError, commandId: string): HoldfastError {
  if (!OPEN.has(error.type)) return error;
  const message = `${error.message} Repeat it with commandId "${commandId}": without, it is another command.`;
  return new HoldfastError(error.type, message, error.faults, error.askAgain);
}
