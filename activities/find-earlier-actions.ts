import { activityInfo } from '@temporalio/activity';
import type { ActionRecord, PaymentActionsResult, PaymentCreator } from '../src/contract/payment-actions.js';
import { isUndecodable } from '../src/contract/undecodable.js';
import type { ActivityDeps } from './deps.js';

/**
 * What was done to the payment in an earlier run: a repeated command is answered from there.
 * @throws Error (retried) until a worker that has the key for it takes over
 */
export async function findEarlierActions({ engine }: ActivityDeps): Promise<PaymentActionsResult | undefined> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return undefined;
  const latest = await engine.latestResult(workflowExecution.workflowId, workflowExecution.runId);
  return readable(latest?.result) as PaymentActionsResult | undefined;
}

/** The flow that made the payment, and what it did on command. Throws like {@link findEarlierActions}. */
export async function findCreator({ engine }: ActivityDeps, workflowId: string): Promise<PaymentCreator> {
  if (await engine.isOpen(workflowId)) return { open: true, actions: [] };
  const latest = await engine.latestResult(workflowId);
  const result = readable(latest?.result) as { actions?: ActionRecord[] } | undefined;
  return { open: false, actions: result?.actions ?? [], ...(latest?.ofLatestRun !== true && { lost: true as const }) };
}

function readable(result: unknown): unknown {
  if (!isUndecodable(result)) return result;
  throw new Error(
    `The result can't be decoded by this worker (${result.holdfastUndecodable}); give it the missing key`,
  );
}
