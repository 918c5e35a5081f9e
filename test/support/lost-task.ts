import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { PAYMENTS_TASK_QUEUE } from '../../src/contract/names.js';

const { WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;

/**
 * Takes up the next workflow task as a worker that then dies: what it sent nobody knows. No other worker may be
 * running.
 */
export async function loseTask({ workflowService, options }: Client): Promise<void> {
  const { namespace } = options;
  const taskQueue = { name: PAYMENTS_TASK_QUEUE };
  const { taskToken } = await workflowService.pollWorkflowTaskQueue({ namespace, taskQueue, identity: 'lost' });
  const cause = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE;
  await workflowService.respondWorkflowTaskFailed({ namespace, taskToken, cause, identity: 'lost' });
}
