import { workflowInfo } from '@temporalio/workflow';
import type { FlowState } from '../flow/state.js';
import { engineLookup } from '../policies.js';
import { decodedOrRetry } from '../flow/decoded-or-retry.js';

/**
 * True if a workflow task of this run was lost: what it tried locally may have been sent, and nothing in the run
 * remembers it. An activity asks Temporal, because each replay must get the same answer. A flow that our client did not
 * start tries nothing locally.
 */
export async function taskWasLost(flow: FlowState): Promise<boolean> {
  if (!flow.startedByClient) return false;
  flow.inLocalTry = false;
  // Only the first run of a flow tries anything locally.
  const run = flow.runs === 1 ? [] : [workflowInfo().firstExecutionRunId];
  flow.taskLost ??= decodedOrRetry(await engineLookup.taskWasLost(...run));
  return flow.taskLost;
}
