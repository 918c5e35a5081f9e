import { activityInfo } from '@temporalio/activity';
import type { ActivityDeps } from './deps.js';

/** Run id of another run under this flow's workflow id (money rule 1). */
export async function findEarlierRun(deps: ActivityDeps): Promise<string | undefined> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return undefined;
  return await deps.engine.earlierRun(workflowExecution.workflowId, workflowExecution.runId);
}
