import { ApplicationFailure, CancelledFailure, workflowInfo } from '@temporalio/workflow';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import type { FinalOutcome } from '../../src/contract/messages.js';
import { engineLookup } from '../policies.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { earlierRun, secondRunFailure } from '../kit/earlier-run.js';
import { decidesAfterReset, inResetRun } from '../kit/start-guard.js';
import type { FlowState } from './state.js';

/**
 * A raw start may lack the reuse policy by which the server refuses a second run of an ended flow, so such a run looks
 * once for an earlier one before it sends anything (money rule 1). The same look-up says whether the workers accept a
 * start in clear text.
 * @throws ApplicationFailure `ReferenceConflict`, `InvalidInput`
 */
export async function refuseSecondRun(flow: FlowState): Promise<void> {
  // Runs before a continue-as-new are the same flow.
  if (flow.runs > 1) return;
  // A start in clear text can also forge that our client has started it.
  if (flow.startedByClient && !flow.startedInClear) return;
  const earlier = await earlierRun(flow.startedInClear);
  if (earlier !== undefined) throw secondRunFailure(flow.reference, earlier);
}

/**
 * True if a workflow task of this run was lost, by its worker or by a restore of the engine's database: what it sent is
 * known to nothing in the run. An activity asks, because each replay must get the same answer.
 */
export async function taskWasLost(flow: FlowState): Promise<boolean> {
  flow.inLocalTry = false;
  // Only the first run of a flow tries anything locally.
  const run = flow.runs === 1 ? [] : [workflowInfo().firstExecutionRunId];
  // A "no" is asked for again: since then the engine's database may have been restored.
  if (flow.taskLost !== true) flow.taskLost = decodedOrRetry(await engineLookup.taskWasLost(...run));
  return flow.taskLost;
}

/**
 * The same of the tasks up to event `through` of this run alone, or of the flow's first run.
 * @param through number of the last event when the operation was given to a regular activity: nothing is tried locally
 * from then on, so that a task which is lost later has sent nothing
 */
export async function taskWasLostBefore(flow: FlowState, through: number): Promise<boolean> {
  const { runId, firstExecutionRunId } = workflowInfo();
  const asked =
    flow.runs === 1 ? engineLookup.taskWasLost(runId, through) : engineLookup.taskWasLost(firstExecutionRunId);
  return decodedOrRetry(await asked);
}

/**
 * If a lost task, or the run before a reset, may have sent something, the flow only reads (see `executeFirst`).
 * @throws CancelledFailure if a cancel came before anything was sent (money rule 8)
 */
export async function stopIfCancelled(flow: FlowState): Promise<void> {
  // Not `cancelRequested`: it is set some microtasks later, too late for a cancel that came with the start.
  if (!flow.isCancelled() || flow.moneyPostMayHaveLeft || (await taskWasLost(flow)) || decidesAfterReset()) return;
  throw new CancelledFailure('Cancelled before anything was sent');
}

/**
 * Whether the flow says that nothing was sent, as a run before a reset has decided it. A run that decides anew looks first.
 * @param outcome undefined: it was refused, or cancelled before anything was sent
 */
export function repeatsThatNothingWasSent(outcome?: FinalOutcome): boolean {
  const saysSo = outcome === undefined || (SAYS_SO.has(outcome.status) && outcome.transactionId === undefined);
  return saysSo && inResetRun() && !decidesAfterReset();
}

const SAYS_SO: ReadonlySet<string> = new Set(['notExecuted', 'declined']);

/**
 * To be asked in the last task of a run that {@link repeatsThatNothingWasSent}.
 * @throws ApplicationFailure `ReferenceConflict` if another reset of this flow made a run that may have sent money
 */
export async function refuseIfAnotherRunSent({ reference }: FlowState): Promise<void> {
  const other = decodedOrRetry(await engineLookup.findSiblingThatSent());
  if (other === undefined) return;
  throw ApplicationFailure.nonRetryable(
    `That nothing was sent for "${reference}" was decided before run ${other}, which another reset of this flow has made, may have sent ` +
      'money: this run does not say it again, and sends nothing. See in that run how it ended; if it was stopped, reset it to its last task',
    FAILURE_TYPES.referenceConflict,
  );
}
