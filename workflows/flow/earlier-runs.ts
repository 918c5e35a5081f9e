import { ApplicationFailure, CancelledFailure, workflowInfo } from '@temporalio/workflow';
import { BEFORE_NEW_REFERENCE, FAILURE_TYPES } from '../../src/contract/names.js';
import type { SiblingThatSent } from '../../src/contract/activities.js';
import { engineLookup } from '../policies.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { refuseUsedReference } from '../kit/earlier-run.js';
import { decidesAfterReset } from '../kit/start-guard.js';
import { publish } from '../kit/visibility.js';
import { enter } from './explain.js';
import { addLasting } from './new-state.js';
import type { FlowState, Hold } from './state.js';

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
  await refuseUsedReference(flow.reference, flow.outbox, flow.startedInClear);
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
 * True if a restore may have lost what the flow did after its hold, whatever its workers have lost: no task ends before the
 * first event.
 */
export async function restoreMayHaveLost({ heldAt }: Pick<Hold, 'heldAt'> = {}): Promise<boolean> {
  return decodedOrRetry(await engineLookup.taskWasLost(workflowInfo().runId, 0, heldAt));
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
 * To be asked before a run that a reset made ends by saying that nothing was sent: what it has copied was decided before
 * another reset of the same run can have sent money.
 */
export async function siblingThatSent(): Promise<SiblingThatSent> {
  return decodedOrRetry(await engineLookup.findSiblingThatSent());
}

/** Takes back what the flow has said, and calls a person. @returns the failure to end with */
export function takeBack(flow: FlowState, sibling: string): ApplicationFailure {
  const why =
    `run ${sibling}, which another reset of this flow has made, may have sent money: look at the payment at the service ` +
    'before anything else; resetting that run to its last task goes on with it';
  addLasting(flow, why);
  flow.outcome = undefined;
  const failure = ApplicationFailure.nonRetryable(
    `"${flow.reference}": ${why}; ${BEFORE_NEW_REFERENCE}`,
    FAILURE_TYPES.referenceConflict,
  );
  flow.failure = failure;
  enter(flow, { status: 'refused', waitingFor: 'nothing', needsOperator: flow.lasting ?? why, dueAt: null });
  publish(flow);
  return failure;
}
