import { activityInfo } from '@temporalio/activity';
import type { PaymentRecord } from '../src/contract/transaction.js';
import type { ActivityDeps } from './deps.js';

/** The payment that an earlier run of this flow created, read from that run's history. */
export async function findEarlierPayment(deps: ActivityDeps, key?: string): Promise<PaymentRecord | undefined> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return undefined;
  return await deps.engine.earlierPayment(workflowExecution.workflowId, workflowExecution.runId, key);
}
