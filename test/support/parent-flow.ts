import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { PAYMENTS_TASK_QUEUE } from '../../src/contract/names.js';

const { CommandType, ParentClosePolicy, WorkflowIdReusePolicy } = proto.temporal.api.enums.v1;

/**
 * Starts a workflow as the child of another one, as a merchant's own workflow does. The parent is a single task that is
 * answered here by hand, so that no worker with code of its own is needed. It closes, and its child goes on.
 */
export async function startAsChild(
  client: Client,
  { type, workflowId, input }: { type: string; workflowId: string; input: unknown },
): Promise<void> {
  const { workflowService, options } = client;
  const { namespace, loadedDataConverter } = options;
  const taskQueue = `parents-${randomUUID()}`;
  await client.workflow.start('order', { workflowId: `order-of-${workflowId}`, taskQueue, args: [] });
  const { taskToken } = await client.withDeadline(Date.now() + 30_000, () =>
    workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: taskQueue }, identity: 'parent' }),
  );
  let payloads = [loadedDataConverter.payloadConverter.toPayload(input)];
  for (const codec of loadedDataConverter.payloadCodecs) payloads = await codec.encode(payloads);
  await workflowService.respondWorkflowTaskCompleted({
    namespace,
    taskToken,
    identity: 'parent',
    commands: [
      {
        commandType: CommandType.COMMAND_TYPE_START_CHILD_WORKFLOW_EXECUTION,
        startChildWorkflowExecutionCommandAttributes: {
          workflowId,
          workflowType: { name: type },
          taskQueue: { name: PAYMENTS_TASK_QUEUE },
          input: { payloads },
          parentClosePolicy: ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON,
          workflowIdReusePolicy: WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
        },
      },
    ],
  });
}
