import type { Client } from '@temporalio/client';
import { subscriptionWorkflowId } from '../contract/names.js';
import { allOtherRuns, described, eventsOf, runsBefore } from './earlier-runs.js';

/** Who ends the run that a reset replaces (server, `consts.IdentityResetter`). */
const RESETTER = 'history-resetter';

/**
 * Another run of a subscription's attempt to bill that has closed: the subscription was told its end, goes on from that,
 * and no longer waits for this flow. A run that a reset has replaced, or that continues as new, has told nothing.
 * @throws Error while the visibility list, which lags, may not have all runs
 */
export async function toldEnd(
  client: Client,
  workflowId: string,
  ownRunId: string,
  subscription: string,
): Promise<string | undefined> {
  // The reference of any other payment may look like one of an attempt.
  const own = await described(client, workflowId, ownRunId);
  const parent = own?.raw.workflowExecutionInfo?.parentExecution?.workflowId;
  if (own !== undefined && parent !== subscriptionWorkflowId(subscription)) return undefined;
  const before = await runsBefore(client, workflowId, ownRunId);
  for (const runId of before) if (await hasTold(client, workflowId, runId)) return runId;
  const others = await allOtherRuns(client, workflowId, ownRunId);
  for (const runId of others.filter((each) => !before.includes(each)))
    if (await hasTold(client, workflowId, runId)) return runId;
  return undefined;
}

async function hasTold(client: Client, workflowId: string, runId: string): Promise<boolean> {
  const run = await described(client, workflowId, runId);
  const status = run?.status.name;
  if (status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED') return true;
  if (status !== 'TERMINATED') return false;
  let isReplaced = false;
  for await (const { workflowExecutionTerminatedEventAttributes: end } of eventsOf(client, workflowId, runId))
    isReplaced ||= end?.identity === RESETTER;
  return !isReplaced;
}
