import { condition, workflowInfo } from '@temporalio/workflow';
import type { Billing } from './state.js';

/**
 * Waits until `at` (epoch ms; undefined: no limit) for a command, a cancel, or the engine's suggestion to continue as
 * new. True if one came. Questions count towards the suggestion: a run with too many updates takes no command.
 */
export async function commandBefore(flow: Billing, at: number | undefined, summary: string): Promise<boolean> {
  const next = (): boolean => flow.queue.length > 0 || flow.isCancelled() || workflowInfo().continueAsNewSuggested;
  const ms = at === undefined ? undefined : at - Date.now();
  if (ms !== undefined && ms <= 0) return next();
  flow.canContinue = true;
  try {
    if (ms !== undefined) return await condition(next, ms, { summary });
    await condition(next);
    return true;
  } finally {
    flow.canContinue = false;
  }
}
