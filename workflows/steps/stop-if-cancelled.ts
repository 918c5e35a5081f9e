import { CancelledFailure } from '@temporalio/workflow';
import type { FlowState } from '../flow/state.js';
import { taskWasLost } from './task-was-lost.js';

/** @throws CancelledFailure when a cancel came before anything was sent (money rule 8) */
export async function stopIfCancelled(flow: FlowState): Promise<void> {
  // Not `cancelRequested`: that follows some microtasks later, too late for a cancel that came with the start.
  if (!flow.isCancelled() || flow.moneyPostMayHaveLeft || (await taskWasLost(flow))) return;
  throw new CancelledFailure('Cancelled before anything was sent');
}
