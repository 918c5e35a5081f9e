import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import type { FlowState } from './state.js';
import { engineLookup } from '../policies.js';
import { decodedOrRetry } from './decoded-or-retry.js';

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
