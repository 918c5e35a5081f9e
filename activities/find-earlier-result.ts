import { activityInfo } from '@temporalio/activity';
import type { EarlierResult } from '../src/contract/activities.js';
import { isUndecodable } from '../src/contract/undecodable.js';
import type { ActivityDeps } from './deps.js';

/**
 * What the run before a reset has told: the run that the reset has made, and those in which it continues, must tell the same,
 * whatever was done since. Without a reset no run before has told anything.
 * @throws Error (retried) until a worker that has the key for it takes over
 */
export async function findEarlierResult({ engine }: ActivityDeps): Promise<EarlierResult | undefined> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return undefined;
  const { workflowId, runId } = workflowExecution;
  const { result } = await engine.latestResult(workflowId, runId);
  if (isUndecodable(result)) {
    throw new Error(
      `What the run before a reset has told can't be decoded by this worker (${result.holdfastUndecodable}); give it the missing key`,
    );
  }
  return typeof result === 'object' && result !== null ? (result as EarlierResult) : undefined;
}
