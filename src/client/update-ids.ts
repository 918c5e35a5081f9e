import { createHash } from 'node:crypto';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { FAILURE_TYPES } from '../contract/names.js';
import { GIVE_IT_AGAIN } from '../contract/refusals.js';

/** ms. A new answer that something is not known takes longer. */
const OLD_ANSWER_MS = 5_000;

/**
 * Whether the answer that has come now may be one of before: the server keeps it for an update id, and the flow may not.
 * @param asked epoch ms
 */
export function mayBeOld(asked: number): boolean {
  return Date.now() - asked <= OLD_ANSWER_MS;
}

/** True of a refusal after which the same command is looked at again. */
export function isForAMoment(error: unknown): boolean {
  const failure = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  if (!(failure instanceof ApplicationFailure)) return false;
  return failure.type === FAILURE_TYPES.providerUnavailable || failure.message.includes(GIVE_IT_AGAIN);
}

/**
 * A repeated command gets the same update id and joins the waiting update: a flow accepts only ten at a time, including
 * the operator's. The id also hashes the request: for the bare commandId the server would return the first answer to a
 * different request. It also hashes the run: a closed one may have refused what the next run can do, and a reset fails
 * where two runs have accepted the same id.
 */
export function updateIdOf(name: string, request: object, run: string | undefined): string {
  const asked = Object.entries(request).sort(([x], [y]) => (x < y ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([name, asked, run]))
    .digest('hex');
}

/** The run that is to take a command, which may be the next one: for an id that a closed run knows the server gives its answer. */
export function runOf({ runId, isOpen: goesOn }: { runId: string; isOpen: boolean }): string {
  return goesOn ? runId : `after ${runId}`;
}
