import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { BEFORE_NEW_REFERENCE, FAILURE_TYPES } from '../../src/contract/names.js';
import { engineLookup } from '../policies.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import type { Outbox } from './outbox.js';

/**
 * Refuses a later run under a used reference. What the workers refuse because it came in clear may have been started by
 * anybody who can write to Temporal: no merchant is told of it, since that would be signed.
 * @throws ApplicationFailure `ReferenceConflict`, `InvalidInput`
 */
export async function refuseUsedReference(reference: string, outbox: Outbox, inClear: boolean): Promise<void> {
  let earlier: string | undefined;
  try {
    earlier = await earlierRun(inClear);
  } catch (refusal) {
    if (inClear) outbox.wanted = false;
    throw refusal;
  }
  if (earlier === undefined) return;
  throw ApplicationFailure.nonRetryable(
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
