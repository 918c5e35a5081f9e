import { CancelledFailure } from '@temporalio/workflow';
import { inResetRun } from '../flow/start-guard.js';
import type { FlowState } from '../flow/state.js';
import { taskWasLost } from './task-was-lost.js';

/**
 * If a lost task, or the run before a reset, may have sent something, the flow only reads (see `executeFirst`).
 * @throws CancelledFailure if a cancel came before anything was sent (money rule 8)
 */
export async function stopIfCancelled(flow: FlowState): Promise<void> {
  // Not `cancelRequested`: it is set some microtasks later, too late for a cancel that came with the start.
  if (!flow.isCancelled() || flow.moneyPostMayHaveLeft || (await taskWasLost(flow)) || inResetRun()) return;
  throw new CancelledFailure('Cancelled before anything was sent');
}
