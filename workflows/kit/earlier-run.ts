import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { BEFORE_NEW_REFERENCE, FAILURE_TYPES } from '../../src/contract/names.js';
import { engineLookup } from '../policies.js';
import { decodedOrRetry } from './decoded-or-retry.js';

export function secondRunFailure(reference: string, earlier: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `Reference "${reference}" has already been used by run ${earlier}: ${BEFORE_NEW_REFERENCE}`,
    FAILURE_TYPES.referenceConflict,
  );
}

/**
 * Looks once for an earlier run with this workflow id. It is an activity, because each replay must get the same answer.
 * @throws ApplicationFailure `InvalidInput` if the workers refuse a start in clear text
 */
export async function earlierRun(inClear: boolean): Promise<string | undefined> {
  try {
    return decodedOrRetry(await engineLookup.findEarlierRun(...(inClear ? [{ inClear }] : [])));
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    throw cause instanceof ApplicationFailure && cause.type === FAILURE_TYPES.invalidInput ? cause : error;
  }
}
