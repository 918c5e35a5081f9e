import { condition, workflowInfo } from '@temporalio/workflow';
import type { Billing } from './state.js';

/**
 * Waits for a command, a cancel, or the limit of what the engine keeps of one run, until `at` (epoch ms; undefined: as
 * long as it takes). True when one came. Questions count as well: a run that has been asked too often takes no command.
 */
export async function commandBefore(flow: Billing, at: number | undefined, summary: string): Promise<boolean> {
  const heard = (): boolean => flow.queue.length > 0 || flow.isCancelled() || workflowInfo().continueAsNewSuggested;
  if (at === undefined) {
    await condition(heard);
    return true;
  }
  const ms = at - Date.now();
  return ms <= 0 ? heard() : await condition(heard, ms, { summary });
}
