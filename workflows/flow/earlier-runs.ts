import { ActivityFailure, ApplicationFailure, workflowInfo, CancelledFailure } from '@temporalio/workflow';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import { engineLookup } from '../policies.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import { inResetRun } from './start-guard.js';
import type { FlowState } from './state.js';

/**
 * A raw start may lack the reuse policy by which the server refuses a second run of an ended flow, so such a run looks
 * once for an earlier one before it sends anything (money rule 1). The same look-up says whether the workers accept a
 * start in clear text. It is an activity, because each replay must get the same answer.
 * @throws ApplicationFailure `ReferenceConflict`, `InvalidInput`
 */
export async function refuseSecondRun(flow: FlowState): Promise<void> {
  // Runs before a continue-as-new are the same flow.
  if (flow.runs > 1) return;
  // A start in clear text can also forge that our client has started it.
  if (flow.startedByClient && !flow.startedInClear) return;
  const earlier = await earlierRun(flow.startedInClear);
  if (earlier !== undefined) throw secondRunFailure(flow.reference, earlier);
}

export function secondRunFailure(reference: string, earlier: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `Reference "${reference}" has already been used by run ${earlier}; use a new reference`,
    FAILURE_TYPES.referenceConflict,
  );
}

/** @throws ApplicationFailure `InvalidInput` if the workers refuse a start in clear text */
export async function earlierRun(inClear: boolean): Promise<string | undefined> {
  try {
    return decodedOrRetry(await engineLookup.findEarlierRun(...(inClear ? [{ inClear }] : [])));
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    throw cause instanceof ApplicationFailure && cause.type === FAILURE_TYPES.invalidInput ? cause : error;
  }
}

/**
 * True if a workflow task of this run was lost: what it tried locally may have been sent, and nothing in the run
 * remembers it. An activity asks Temporal, because each replay must get the same answer. A flow that our client did not
 * start tries nothing locally.
 */
export async function taskWasLost(flow: FlowState): Promise<boolean> {
  if (!flow.startedByClient) return false;
  flow.inLocalTry = false;
  // Only the first run of a flow tries anything locally.
  const run = flow.runs === 1 ? [] : [workflowInfo().firstExecutionRunId];
  flow.taskLost ??= decodedOrRetry(await engineLookup.taskWasLost(...run));
  return flow.taskLost;
}

/**
 * If a lost task, or the run before a reset, may have sent something, the flow only reads (see `executeFirst`).
 * @throws CancelledFailure if a cancel came before anything was sent (money rule 8)
 */
export async function stopIfCancelled(flow: FlowState): Promise<void> {
  // Not `cancelRequested`: it is set some microtasks later, too late for a cancel that came with the start.
  if (!flow.isCancelled() || flow.moneyPostMayHaveLeft || (await taskWasLost(flow)) || inResetRun()) return;
  throw new CancelledFailure('Cancelled before anything was sent');
}
