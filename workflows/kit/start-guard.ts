import { ApplicationFailure, patched, workflowInfo } from '@temporalio/workflow';
import type { z } from 'zod';
import {
  FAILURE_TYPES,
  MEMO_KEYS,
  PATCHES,
  referenceOfWorkflowId,
  subscriptionOfAttempt,
  subscriptionWorkflowId,
  type WorkflowType,
} from '../../src/contract/names.js';
import { faultsOf } from '../../src/contract/fields.js';
import type { Flow } from '../../src/contract/flows.js';
import { isUndecodable, whyUndecodable } from '../../src/contract/payload-marks.js';
import { readableOrRetry } from './decoded-or-retry.js';

/**
 * True if the flow was reset: an earlier run has already done part of its work. Use it only where no workflow command
 * depends on it: for what a validator accepts, the words of an outcome, what a call carries. It is true as well while the
 * history is replayed that the reset has copied, where the earlier run had the answer "no". Runs that continue a reset
 * run count too, because they remember no more than it did.
 */
export function inResetRun(): boolean {
  return isMadeByReset() || continuesResetRun();
}

/**
 * True if the flow was reset, and decides this anew. False while the copied history is replayed: what the earlier run has
 * decided there has ordered what follows in that history. Not for validators and queries: it records a marker.
 */
export function decidesAfterReset(): boolean {
  // A run that no reset made never asks for the patch, so that its copied history has "no". What a reset run has decided
  // stays "yes" in the run of a further reset, which copies the marker.
  return inResetRun() && (continuesResetRun() || patched(PATCHES.afterReset));
}

/** True if a reset has made this very run, which is given commands again. To be used only as {@link inResetRun} is. */
export function isMadeByReset(): boolean {
  const { runId, originalExecutionRunId } = workflowInfo();
  return runId !== originalExecutionRunId;
}

function continuesResetRun(): boolean {
  return workflowInfo().memo?.[MEMO_KEYS.afterReset] !== undefined;
}

/** The run that can have sent first what this run sends first: another run than this one after a reset. */
export function originalRunId(): string {
  const { memo, originalExecutionRunId, firstExecutionRunId } = workflowInfo();
  return memo?.[MEMO_KEYS.afterReset] === undefined ? originalExecutionRunId : firstExecutionRunId;
}

/**
 * Parses the input of a flow and checks how the flow was started. A worker that lacks the key leaves it to a worker
 * that has it: an earlier try of the first task may have charged there, and changing keys in the wrong order must not
 * use up a reference.
 * @throws ApplicationFailure `InvalidInput` with every fault of an input that no worker can read or use
 */
export function parseStart<Schema extends z.ZodType>(
  { schema, workflowId }: Pick<Flow<WorkflowType, Schema>, 'schema' | 'workflowId'>,
  raw: unknown,
): z.output<Schema> {
  readableOrRetry(raw, 'the input');
  if (isUndecodable(raw)) throw invalidInput([`input: can't be decoded (${whyUndecodable(raw)})`]);
  const parsed = schema.safeParse(raw);
  if (!parsed.success) throw invalidInput(faultsOf(parsed.error));
  guardStart(workflowId(parsed.data));
  return parsed.data;
}

/** Money rule 1. Cron and retry policies would run the flow again; time-outs would end it while money is moving. */
function guardStart(expectedWorkflowId: string): void {
  const info = workflowInfo();
  const faults: string[] = [];
  if (info.workflowId !== expectedWorkflowId) {
    faults.push(`workflow id: is "${info.workflowId}", must be "${expectedWorkflowId}" for this input`);
  }
  if (info.cronSchedule !== undefined && info.cronSchedule !== '') faults.push('cron schedule: must not be set');
  if (info.retryPolicy !== undefined) faults.push('workflow retry policy: must not be set');
  if ((info.executionTimeoutMs ?? 0) > 0) faults.push('workflow execution timeout: must not be set');
  if ((info.runTimeoutMs ?? 0) > 0) faults.push('workflow run timeout: must not be set');
  if (faults.length > 0) throw invalidInput(faults);
}

/** True if a subscription started this flow for one of its periods. */
export function isAttemptToBill(): boolean {
  const { parent, workflowId } = workflowInfo();
  const subscription = subscriptionOfAttempt(referenceOfWorkflowId(workflowId) ?? '');
  return subscription !== undefined && parent?.workflowId === subscriptionWorkflowId(subscription);
}

export function invalidInput(faults: string[]): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`Nothing was sent: ${faults.join('; ')}`, FAILURE_TYPES.invalidInput, faults);
}
