import { ApplicationFailure, CancellationScope } from '@temporalio/workflow';
import type { z } from 'zod';
import type { FailureType } from '../../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import { faultsOf } from '../../src/contract/fields.js';
import type { SharedSchema } from '../../src/contract/shared-schema.js';
import { IN_CLEAR, isRefusedInClear } from '../../src/contract/sealed.js';
import { isUndecodable, whyUndecodable } from '../../src/contract/undecodable.js';
import { readableOrRetry } from '../steps/decoded-or-retry.js';
import type { FlowState } from './state.js';

/** A cancelled flow goes on, and so do the questions to it: handlers run in the scope that a cancel reaches. */
export function whateverIsCancelled<Answer>(answer: () => Promise<Answer>): Promise<Answer> {
  return CancellationScope.nonCancellable(answer);
}

/** The failure of an update that is not taken; the flow goes on unharmed. */
export function refused(why: string, type: FailureType = FAILURE_TYPES.stateConflict): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`Refused: ${why}`, type);
}

/** Why a command is not taken under the id of an earlier one. */
export function describeReuse(commandId: string, earlier: string): string {
  return `command "${commandId}" was already given as ${earlier} with another request; use a new commandId`;
}

export function refuseWhenEnded(flow: FlowState): void {
  if (flow.outcome !== undefined) throw refused(`the flow has already ended: ${flow.outcome.status}`);
  if (flow.failure !== undefined) throw refused('the flow has already ended: refused');
}

/**
 * The request of an update that was accepted. A worker that can't read it leaves it to the one that could: to refuse it now
 * would be another answer than the one in the history.
 */
export function parseAccepted<Schema extends z.ZodType>(
  schema: SharedSchema<Schema>,
  value: unknown,
): z.output<Schema> {
  return parsed(schema, readableOrRetry(value, 'a command'));
}

/**
 * For validators, whose refusals no history keeps.
 * @throws ApplicationFailure `InvalidInput` with every fault
 */
export function parse<Schema extends z.ZodType>(schema: SharedSchema<Schema>, value: unknown): z.output<Schema> {
  if (isRefusedInClear(value)) throw refused(`it ${IN_CLEAR}`, FAILURE_TYPES.invalidInput);
  return parsed(schema, value);
}

function parsed<Schema extends z.ZodType>(schema: SharedSchema<Schema>, value: unknown): z.output<Schema> {
  if (isUndecodable(value)) {
    throw ApplicationFailure.nonRetryable(
      `Refused: this worker can't decode the request (${whyUndecodable(value)}); the flow goes on`,
      FAILURE_TYPES.unexpectedResponse,
    );
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const faults = faultsOf(result.error);
  throw ApplicationFailure.nonRetryable(`Refused: ${faults.join('; ')}`, FAILURE_TYPES.invalidInput, faults);
}
