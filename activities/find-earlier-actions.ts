import { activityInfo } from '@temporalio/activity';
import type { ActionRecord, PaymentActionsResult, PaymentCreator } from '../src/contract/payment-actions.js';
import { isUndecodable } from '../src/contract/undecodable.js';
import { madeByFlow } from '../src/domain/made-by-flow.js';
import type { ActivityDeps } from './deps.js';

/**
 * What was done to the payment in an earlier run: a repeated command is answered from there.
 * @throws Error (retried) until a worker that has the key for it takes over
 */
export async function findEarlierActions({ engine }: ActivityDeps): Promise<PaymentActionsResult | undefined> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return undefined;
  const { workflowId, runId } = workflowExecution;
  const { result, ofLatestRun } = await engine.latestResult(workflowId, runId);
  const earlier = readable(result) as PaymentActionsResult | undefined;
  if (ofLatestRun) return earlier;
  return { status: 'idle', paymentId: '', actions: [], ...earlier, incomplete: true };
}

/** The flow that made the payment, and what it did on command. Throws like {@link findEarlierActions}. */
export async function findCreator({ engine }: ActivityDeps, workflowId: string): Promise<PaymentCreator> {
  if (await engine.isOpen(workflowId)) return { open: true, actions: [] };
  const latest = await engine.latestResult(workflowId);
  const result = readable(latest.result);
  const made = madeByFlow(latest.workflowType, result);
  const actions = (result as { actions?: ActionRecord[] } | undefined)?.actions ?? [];
  return { open: false, actions, ...(made !== undefined && { made }), ...(!latest.ofLatestRun && { lost: true }) };
}

function readable(result: unknown): unknown {
  if (!isUndecodable(result)) return result;
  throw new Error(
    `The result can't be decoded by this worker (${result.holdfastUndecodable}); give it the missing key`,
  );
}
