import { ApplicationFailure } from '@temporalio/workflow';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import type { FlowState } from '../flow/state.js';
import { engineLookup } from '../policies.js';
import { decodedOrRetry } from './decoded-or-retry.js';

/**
 * A raw start may lack the reuse policy that makes the server refuse a second run of an ended flow, so
 * such a run looks once for an earlier one before it sends anything (money rule 1).
 * @throws ApplicationFailure `ReferenceConflict`
 */
export async function refuseSecondRun(flow: FlowState): Promise<void> {
  // The runs that a flow continues are itself.
  if (flow.startedByClient || flow.runs > 1) return;
  const earlier = decodedOrRetry(await engineLookup.findEarlierRun());
  if (earlier === undefined) return;
  throw ApplicationFailure.nonRetryable(
    `Reference "${flow.reference}" has already been used by run ${earlier}; use a new reference`,
    FAILURE_TYPES.referenceConflict,
  );
}
