import { condition, workflowInfo } from '@temporalio/workflow';
import type { Billing } from './state.js';

/**
 * Waits for a command, a cancel, or the limit of what the engine keeps of one run, until `at` (epoch ms; undefined: as
 * long as it takes). True when one came. Questions count as well: a run that has been asked too often takes no command.
 */
export async function commandBefore(flow: Billing, at: number | undefined, summary: string): Promise<boolean> {
  const heard = (): boolean => flow.queue.length > 0 || flow.isCancelled() || workflowInfo().continueAsNewSuggested;
  const ms = at === undefined ? undefined : at - Date.now();
  if (ms !== undefined && ms <= 0) return heard();
  flow.canGiveWay = true;
  try {
    if (ms !== undefined) return await condition(heard, ms, { summary });
    await condition(heard);
    return true;
  } finally {
    flow.canGiveWay = false;
  }
}
