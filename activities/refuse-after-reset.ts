import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { CreateTransactionCall, KeyedCall } from '../src/contract/activity-calls.js';
import type { ToldEnd } from '../src/contract/engine-port.js';
import {
  FAILURE_TYPES,
  type FailureDetails,
  referenceOfWorkflowId,
  subscriptionOfAttempt,
} from '../src/contract/names.js';
import type { TransactionRecord } from '../src/contract/records.js';
import { isNameless } from '../src/domain/ownership.js';
import { hasFailed } from '../src/domain/settling.js';
import { mayBeLost } from './after-restore.js';
import { findSentBefore } from './engine-calls.js';
import type { ActivityDeps } from './read-call.js';
import { noEarlierLeft } from './send-call.js';

/**
 * True of a failure that echoes nothing, if the run before has sent nothing under this key, or nobody knows: the answer to
 * the key, which is sent then, tells what became of ours.
 */
export async function isOfOthers(
  deps: ActivityDeps,
  { key }: KeyedCall,
  found: TransactionRecord | undefined,
): Promise<boolean> {
  if (found === undefined || !isNameless(found) || !hasFailed(found)) return false;
  const { workflowId = '' } = activityInfo().workflowExecution ?? {};
  const { firstSent, isKept } = await findSentBefore(deps);
  if (firstSent[key.slice(workflowId.length + 1)] !== undefined) return false;
  return isKept || (await mayBeLost(deps));
}

/** A reset gives no cancel again. What the run before has sent is followed, as it may have been executed. */
export async function refuseIfCancelled(
  deps: ActivityDeps,
  { key, mayHaveLeft }: CreateTransactionCall,
): Promise<void> {
  const { cancelled, firstSent } = await findSentBefore(deps);
  const { workflowId = '' } = activityInfo().workflowExecution ?? {};
  if (!cancelled || firstSent[key.slice(workflowId.length + 1)] !== undefined) return;
  const details: FailureDetails = { mayHaveLeft: mayHaveLeft || !noEarlierLeft(activityInfo()) };
  throw ApplicationFailure.nonRetryable(
    'Not sent: this run was made by a reset, and the run before was cancelled',
    FAILURE_TYPES.stateConflict,
    details,
  );
}

/**
 * Whoever was told that a flow has ended without money may have it paid by another one: the next attempt to bill, or a new
 * reference. Then this one would charge again.
 */
export async function refuseIfTold({ engine }: ActivityDeps, { originalRunId }: KeyedCall): Promise<void> {
  const { workflowId = '', runId = '' } = activityInfo().workflowExecution ?? {};
  // Only a reset leaves another run.
  if (runId === originalRunId) return;
  const subscription = subscriptionOfAttempt(referenceOfWorkflowId(workflowId) ?? '');
  const told = await engine.toldEnd(workflowId, runId, subscription);
  if (told === undefined) return;
  const { saidTaken } = told;
  // Without a read that shows it, this run must not prove that nothing was taken.
  const details: FailureDetails = {
    mayHaveLeft: true,
    windowClosed: true,
    ...(saidTaken !== undefined && { ambiguousIds: [saidTaken] }),
  };
  throw ApplicationFailure.nonRetryable(
    `Not sent: this run was made by a reset, and ${sinceWhat(told)}`,
    FAILURE_TYPES.outcomeUnknown,
    details,
  );
}

function sinceWhat({ runId, ofAttempt, saidTaken, isForgotten }: ToldEnd): string {
  if (isForgotten === true)
    return `Temporal no longer keeps run ${runId}, so that nobody knows whether the order was paid otherwise`;
  if (ofAttempt)
    return `the subscription has gone on from the end of run ${runId}: what is left of the bill it tries by a payment of its own`;
  if (saidTaken !== undefined)
    return `run ${runId} has told as a person said that transaction ${saidTaken} took the money`;
  return `run ${runId} has told that it took nothing, so that the order may have been paid otherwise: pay it under a new reference`;
}

/** A command that the earlier run refused must not reverse money that the run captured or is capturing. */
export function captured({ paymentId, mayHaveLeft }: CreateTransactionCall, status: string): ApplicationFailure {
  // An earlier attempt of this call may have left, and its transaction may not be listed yet.
  const details: FailureDetails = { mayHaveLeft: mayHaveLeft || !noEarlierLeft(activityInfo()) };
  return ApplicationFailure.nonRetryable(
    `Not sent: this run was made by a reset, and the service shows payment ${paymentId} as ${status}`,
    FAILURE_TYPES.stateConflict,
    details,
  );
}
