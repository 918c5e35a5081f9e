import type { Client } from '@temporalio/client';
import { FAILURE_TYPES, subscriptionWorkflowId } from '../contract/names.js';
import { isSealed } from '../contract/payload-marks.js';
import { allOtherRuns, described, eventsOf, runsBefore } from './earlier-runs.js';

/** Who ends the run that a reset replaces (server, `consts.IdentityResetter`). */
const RESETTER = 'history-resetter';

/**
 * Another run of a flow that has told somebody that it took nothing, who goes on from that: its caller, or the subscription
 * whose attempt to bill it is, which goes on from any end. A run that a reset has replaced, or that continues as new, has told nothing; nor has one that a person has
 * terminated, but to its subscription.
 * @param subscription the one whose attempt it is by its reference
 * @throws Error while the visibility list, which lags, may not have all runs
 */
export async function toldEnd(
  client: Client,
  workflowId: string,
  ownRunId: string,
  subscription: string | undefined,
): Promise<{ runId: string; ofAttempt: boolean } | undefined> {
  const ofAttempt = subscription !== undefined && (await isAttemptOf(client, workflowId, ownRunId, subscription));
  const hasTold = async (runId: string): Promise<boolean> => await wasTold(client, workflowId, runId, ofAttempt);
  const before = await runsBefore(client, workflowId, ownRunId);
  for (const runId of before) if (await hasTold(runId)) return { runId, ofAttempt };
  const others = await allOtherRuns(client, workflowId, ownRunId);
  for (const runId of others.filter((each) => !before.includes(each)))
    if (await hasTold(runId)) return { runId, ofAttempt };
  return undefined;
}

/** The reference of any other payment may look like one of an attempt. */
async function isAttemptOf(client: Client, workflowId: string, runId: string, subscription: string): Promise<boolean> {
  const own = await described(client, workflowId, runId);
  const parent = own?.raw.workflowExecutionInfo?.parentExecution?.workflowId;
  return own === undefined || parent === subscriptionWorkflowId(subscription);
}

const resultOf = async (client: Client, workflowId: string, runId: string): Promise<unknown> =>
  await client.workflow.getHandle(workflowId, runId).result();

/** A person's word is no proof that the key was sent. Where it was, the service answers to it as before, and moves nothing twice. */
function saysThatNothingWasSent(result: unknown): boolean {
  if (!isSealed(result)) return true;
  const { status, transactionId, evidence } = result as Partial<{
    status: string;
    transactionId: string;
    evidence: { knownBy: string };
  }>;
  if (evidence?.knownBy === 'operator') return true;
  return transactionId === undefined && (status === 'notExecuted' || status === 'declined');
}

async function wasTold(client: Client, workflowId: string, runId: string, ofAttempt: boolean): Promise<boolean> {
  const run = await described(client, workflowId, runId);
  const status = run?.status.name;
  if (status === 'COMPLETED') return ofAttempt || saysThatNothingWasSent(await resultOf(client, workflowId, runId));
  if (status === 'CANCELLED') return true;
  if (status !== 'FAILED' && (status !== 'TERMINATED' || !ofAttempt)) return false;
  let told = true;
  for await (const event of eventsOf(client, workflowId, runId)) {
    if (event.workflowExecutionTerminatedEventAttributes?.identity === RESETTER) told = false;
    // It says that it does not know what another run has done.
    const { failure } = event.workflowExecutionFailedEventAttributes ?? {};
    if (!ofAttempt && failure?.applicationFailureInfo?.type === FAILURE_TYPES.referenceConflict) told = false;
  }
  return told;
}
