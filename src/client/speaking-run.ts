import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { referenceOfWorkflowId } from '../contract/names.js';
import { described, otherRuns, wasRefused } from './earlier-runs.js';
import { engineUnavailable } from './errors.js';

/** ms that visibility may lag behind a flow that has just created its payment, or a run that has just ended. */
export const LIST_LAG_MS = 5_000;
const LOOK_AGAIN_MS = 100;
const LAGS = 'its list of runs lags behind';

/**
 * The run that speaks for a payment's flow. Whoever starts the flow without our client may leave a second run under its
 * workflow id, which is refused: what the first one has done stands in that one alone. Call it within a deadline.
 * @param latest the latest run
 * @throws HoldfastError `EngineUnavailable` while the list of its runs lags
 */
export async function speakingRun(
  client: Client,
  latest: WorkflowExecutionDescription,
): Promise<WorkflowExecutionDescription> {
  if (!wasRefused(latest)) return latest;
  const { workflowId } = latest;
  for (const runId of await runsBeside(client, latest)) {
    const run = await described(client, workflowId, runId);
    if (run !== undefined && !wasRefused(run)) return run;
  }
  return latest;
}

async function runsBeside(client: Client, { workflowId, runId }: WorkflowExecutionDescription): Promise<string[]> {
  const until = Date.now() + LIST_LAG_MS;
  for (;;) {
    const { runs, showsOwn } = await otherRuns(client, workflowId, runId);
    if (showsOwn) return runs;
    if (Date.now() >= until) throw engineUnavailable(referenceOfWorkflowId(workflowId) ?? workflowId, LAGS);
    await sleep(LOOK_AGAIN_MS);
  }
}
