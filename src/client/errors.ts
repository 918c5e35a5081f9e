import {
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { messageOf } from '../contract/message-of.js';
import { FAILURE_TYPES, type FailureType } from '../contract/names.js';
import { GRPC } from './grpc-codes.js';

/**
 * {@link FAILURE_TYPES} explains those of flows. Only the client throws the others. `EngineUnavailable`: Temporal did not answer in
 * time, or the call failed otherwise: nothing is known. `FlowNotFound`: no flow is known by this reference or id. `FlowStopped`: the
 * flow was terminated or cancelled from outside, and nobody follows its money any more: look the payment up first.
 */
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

function isHoldfastErrorType(type: string | null | undefined): type is HoldfastErrorType {
  return typeof type === 'string' && TYPES.has(type);
}

/** Of these the command may have been carried out. */
const OPEN: ReadonlySet<string> = new Set(['EngineUnavailable', 'ProviderUnavailable', 'UnexpectedResponse']);

/** Adds the commandId to the message: the flow may have the command, and without its id a repeat is another one. */
export function naming(error: HoldfastError, commandId: string): HoldfastError {
  if (!OPEN.has(error.type)) return error;
  const said = error.message.replace(/[^.]$/, '$&.');
  const message = `${said} Repeat it with commandId "${commandId}": without, it is another command.`;
  return new HoldfastError(error.type, message, error.faults, error.askAgain);
}

/**
 * Translates an error of the Temporal client for the caller; `ended`: the flow has closed.
 * @param again what has perhaps begun, and what is safe to do, in sentences
 */
export function translate(error: unknown, reference: string, again = startAgain(reference)): HoldfastError | 'ended' {
  if (error instanceof HoldfastError) return error;
  if (error instanceof WorkflowExecutionAlreadyStartedError) return 'ended';
  if (error instanceof WorkflowUpdateFailedError && !isTyped(error.cause)) {
    // The run ended before it answered, as in a reset; the next run may still answer.
    return unanswered(again, error.cause?.message ?? error.message);
  }
  if (error instanceof WorkflowUpdateFailedError || error instanceof WorkflowFailedError) {
    return fromFailure(error.cause, error.message);
  }
  if (error instanceof WorkflowNotFoundError) {
    if (/already completed/i.test(error.message)) return 'ended';
    if (isLostUpdate(error)) return unanswered(again, error.message);
    return new HoldfastError('FlowNotFound', `No flow with reference "${reference}" is known`);
  }
  if (error instanceof ApplicationFailure) return fromFailure(error, error.message);
  if (
    error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
    error instanceof ServiceError ||
    isGrpcServiceError(error)
  ) {
    return unavailable(error, again);
  }
  const message = `The call failed, and nobody knows how far it came. ${again} Cause: ${messageOf(error)}`;
  return new HoldfastError('EngineUnavailable', message);
}

/** The flow exists but the update doesn't: its run continued as new, and the next run did not get the update. */
export function isLostUpdate(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError && /^update .* not found/i.test(error.message);
}

/** The run was about to end when the update arrived. The update can be sent again to the next run, if any. */
export function isClosingRun(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && cause.code === GRPC.unavailable && /workflow is closing/i.test(cause.message);
}

function isTyped(cause: unknown): boolean {
  return cause instanceof ApplicationFailure && isHoldfastErrorType(cause.type);
}

function fromFailure(cause: unknown, message: string): HoldfastError {
  if (cause instanceof ApplicationFailure && isHoldfastErrorType(cause.type)) {
    const faults = Array.isArray(cause.details?.[0]) ? cause.details[0].map(String) : [];
    return new HoldfastError(cause.type, cause.message, faults);
  }
  return new HoldfastError(
    'FlowStopped',
    `The flow was stopped from outside (${cause instanceof Error ? cause.message : message}), so nobody follows its money ` +
      'any more: look the payment up before you repeat it',
  );
}

/** gRPC codes with which the server refuses a call: INVALID_ARGUMENT, PERMISSION_DENIED, UNAUTHENTICATED. */
const REFUSED = new Set([3, 7, 16]);

function unavailable(error: Error, again: string): HoldfastError {
  const cause = error instanceof ServiceError ? error.cause : error;
  const details = cause instanceof Error ? cause.message : error.message;
  // It may have been the wait for the answer to what had been taken before.
  if (isGrpcServiceError(cause) && REFUSED.has(cause.code))
    return new HoldfastError('EngineUnavailable', `Temporal refused this call (${details}). ${again}`);
  if (isCancelled(cause)) return new HoldfastError('EngineUnavailable', `There is no answer yet. ${again}`);
  return unanswered(again, details);
}

/** Nothing is known about the payment, and the same call may be repeated. */
export function engineUnavailable(reference: string, cause: string): HoldfastError {
  return unanswered(startAgain(reference), cause);
}

function unanswered(again: string, cause: string): HoldfastError {
  const message = `Temporal did not answer in time. ${again} Cause: ${cause}`;
  return new HoldfastError('EngineUnavailable', message, [], true);
}

/** gRPC code CANCELLED: our own side aborted the call, so it must not be repeated at once. */
function isCancelled(cause: unknown): boolean {
  return isGrpcServiceError(cause) && cause.code === 1;
}

/** Worded so that the caller does not treat it as a failed payment. */
function startAgain(reference: string): string {
  return (
    `The flow of "${reference}" may have started: call again with the same input ` +
    `and the same reference, or ask status("${reference}"). Never repeat it under a new reference.`
  );
}

/** Of a command: it may have been accepted. */
export const GIVE_AGAIN = 'The command may have been taken: give it again, with the same commandId.';
