import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { IN_CLEAR } from '../src/contract/sealed.js';
import type { ActivityDeps } from './deps.js';

/**
 * Run id of another run under this flow's workflow id (money rule 1).
 * @throws ApplicationFailure `InvalidInput` for a start in clear where such are refused, but for a run that a reset has
 * made: the one before it may have moved money, and "nothing was sent" would be false
 */
export async function findEarlierRun(deps: ActivityDeps, start?: { inClear: boolean }): Promise<string | undefined> {
  if (start?.inClear === true && deps.refusesClear === true && !(await isReset(deps))) {
    throw ApplicationFailure.nonRetryable(`Nothing was sent: the input ${IN_CLEAR}`, FAILURE_TYPES.invalidInput);
  }
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return undefined;
  return await deps.engine.earlierRun(workflowExecution.workflowId, workflowExecution.runId);
}

async function isReset({ engine }: ActivityDeps): Promise<boolean> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return false;
  return await engine.madeByReset(workflowExecution.workflowId, workflowExecution.runId);
}
