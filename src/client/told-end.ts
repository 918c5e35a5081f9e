import type { Client } from '@temporalio/client';
import type { FinalChargeOutcome } from '../contract/charge.js';
import type { ToldEnd } from '../contract/engine-port.js';
import { FAILURE_TYPES, subscriptionWorkflowId } from '../contract/names.js';
import { isReadableElsewhere, isSealed, isUndecodable, whyUndecodable } from '../contract/payload-marks.js';
import { saysThatNothingWasSent } from '../domain/nothing-sent.js';
import { allOtherRuns, baseOf, described, runsBefore } from './earlier-runs.js';
import { closeEventOf } from './end-of-flow.js';

/** Who ends the run that a reset replaces (server, `consts.IdentityResetter`). */
const RESETTER = 'history-resetter';

/**
 * Another run of a flow that has told somebody that it took nothing, or a person's word, who goes on from that: its caller, or
 * the subscription whose attempt to bill it is, which goes on from any end. A run that a reset has replaced, or that continues
 * as new, has told nothing; nor has one that a person has terminated, but to its subscription. One that retention has
 * deleted may have told either.
 * @param subscription the one whose attempt it is by its reference
 * @throws Error while the visibility list, which lags, may not have all runs; on a worker that lacks the key of a result
 */
export async function toldEnd(
  client: Client,
  workflowId: string,
  ownRunId: string,
  subscription: string | undefined,
): Promise<ToldEnd | undefined> {
  const ofAttempt = subscription !== undefined && (await isAttemptOf(client, workflowId, ownRunId, subscription));
  const before = await runsBefore(client, workflowId, ownRunId);
  const told = await firstTold(client, workflowId, before, ofAttempt);
  if (told !== undefined) return told;
  const forgotten = await forgottenRun(client, workflowId, [ownRunId, ...before]);
  if (forgotten !== undefined) return { runId: forgotten, ofAttempt, saidTaken: UNNAMED, isForgotten: true };
  const others = await allOtherRuns(client, workflowId, ownRunId);
  return await firstTold(
    client,
    workflowId,
    others.filter((each) => !before.includes(each)),
    ofAttempt,
  );
}

async function firstTold(
  client: Client,
  workflowId: string,
  runs: readonly string[],
  ofAttempt: boolean,
): Promise<ToldEnd | undefined> {
  for (const runId of runs) {
    const told = await whatWasTold(client, workflowId, runId, ofAttempt);
    if (told !== undefined) return { runId, ofAttempt, ...told };
  }
  return undefined;
}

/** The reference of any other payment may look like one of an attempt. */
async function isAttemptOf(client: Client, workflowId: string, runId: string, subscription: string): Promise<boolean> {
  const own = await described(client, workflowId, runId);
  const parent = own?.raw.workflowExecutionInfo?.parentExecution?.workflowId;
  return own === undefined || parent === subscriptionWorkflowId(subscription);
}

/**
 * The run that a reset has replaced, or one since, that retention has deleted. One before the replaced run is none: that it was
 * continued shows that it told nothing.
 * @param runs each came from the next one; only the last can be deleted, as it shows no other
 */
async function forgottenRun(client: Client, workflowId: string, runs: readonly string[]): Promise<string | undefined> {
  const last = runs.at(-1);
  if (last === undefined || (await described(client, workflowId, last)) !== undefined) return undefined;
  for (const runId of runs) {
    const base = await baseOf(client, workflowId, runId);
    if (base !== undefined) return base === last ? last : undefined;
  }
  return last;
}

/** Where a key was sent, the service answers to it as before, and moves nothing twice. A person's word is no proof that it was. */
function told(result: unknown, runId: string): Pick<ToldEnd, 'saidTaken'> | undefined {
  // A value without its fields would pass for an end that told of a sent key, and the money would go a second time.
  if (isReadableElsewhere(result))
    throw new Error(
      `What run ${runId} has told can't be decoded by this worker (${whyUndecodable(result)}); give it the missing key`,
    );
  if (!isSealed(result) || isUndecodable(result)) return { saidTaken: UNNAMED };
  const outcome = result as Partial<FinalChargeOutcome>;
  if (saysThatNothingWasSent(outcome) || RELEASED.has(outcome.status)) return {};
  const { transactionId = UNNAMED, evidence } = outcome;
  return evidence?.knownBy === 'operator' ? { saidTaken: transactionId } : undefined;
}

const UNNAMED = 'of unknown id';

/** What was held or pending is not any more: a key that was never sent could hold it again. */
const RELEASED: ReadonlySet<string | undefined> = new Set(['voided', 'expired']);

async function whatWasTold(
  client: Client,
  workflowId: string,
  runId: string,
  ofAttempt: boolean,
): Promise<Pick<ToldEnd, 'saidTaken'> | undefined> {
  const run = await described(client, workflowId, runId);
  const status = run?.status.name;
  if (status === 'COMPLETED') {
    return ofAttempt ? {} : told(await client.workflow.getHandle(workflowId, runId).result(), runId);
  }
  if (status === 'CANCELLED') return {};
  if (status !== 'FAILED' && (status !== 'TERMINATED' || !ofAttempt)) return undefined;
  const { closed } = await closeEventOf(client, workflowId, { runId });
  const { identity } = closed?.workflowExecutionTerminatedEventAttributes ?? {};
  const { failure } = closed?.workflowExecutionFailedEventAttributes ?? {};
  // A conflict says that it does not know what another run has done.
  const isConflict = failure?.applicationFailureInfo?.type === FAILURE_TYPES.referenceConflict;
  return identity === RESETTER || (!ofAttempt && isConflict) ? undefined : {};
}
