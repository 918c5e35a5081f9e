import { setHandler, workflowInfo } from '@temporalio/workflow';
import { moveOnSignal } from '../messages.js';
import { type Billing, isKnown, type OpenPeriod } from './state.js';

/**
 * A run is pinned to the build that it began with, and a build's workers are needed as long as one is pinned to it. A
 * subscription moves by continuing as new: when told, before a payment of a bill, and after each period.
 */
export function registerMoveOn(flow: Billing): void {
  setHandler(moveOnSignal, () => void (flow.movesOn = true), {
    description: 'Continues as new on the build that gets new work, as soon as nothing is under way',
  });
}

/**
 * An unanswered `billNow` has a payment under way. A bill that is paid is closed first, which ends the run anyway. While
 * it can't say where it stands a caller may wait for that.
 */
export function canMoveOn(flow: Billing): boolean {
  const { movesOn, billing, open } = flow;
  return movesOn && billing === undefined && open?.step.do !== 'nothing' && isKnown(flow);
}

/**
 * True if another build than this run's gets new work. Use it only where a command follows in the same workflow task
 * without a local activity in between: a replay takes the heartbeats of a task as one, with what the last of them was
 * told, and would decide otherwise.
 */
export function isOtherBuildNext(): boolean {
  return workflowInfo().targetWorkerDeploymentVersionChanged;
}

/** Whether it continues as new on another build for the next payment of the bill, at most once for each payment. */
export function movesFor(flow: Billing, open: OpenPeriod): boolean {
  if (flow.billing !== undefined || open.moved === true || !isOtherBuildNext()) return false;
  open.moved = true;
  flow.movesOn = true;
  return true;
}
