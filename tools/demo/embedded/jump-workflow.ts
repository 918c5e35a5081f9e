import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';

const { FastForwardPollingResult } = proto.temporal.api.enums.v1;
/** A jump takes the server about a second per timer that it passes. */
const JUMP_LIMIT_MS = 20_000;

/**
 * Moves the clock of one workflow forward by `ms` with the server's time skipping. Its timers in between fire; other
 * workflows are not affected. Resolves when the workflow's clock has moved.
 * @throws Error if the server can't: it must allow `frontend.WorkflowTimeSkippingEnabled`
 */
export async function jumpWorkflow(client: Client, workflowId: string, ms: number): Promise<void> {
  const { namespace } = client.options;
  const workflowExecution = { workflowId };
  const id = randomUUID();
  await client.connection.withDeadline(Date.now() + JUMP_LIMIT_MS, async () => {
    await client.workflowService.updateWorkflowExecutionOptions({
      namespace,
      workflowExecution,
      workflowExecutionOptions: {
        timeSkippingConfig: { enabled: true, fastForwardConfig: { id, duration: msToTs(ms) } },
      },
      updateMask: { paths: ['time_skipping_config'] },
    });
    for (;;) {
      const { fastForwardPollingResult: result, failedReason } =
        await client.workflowService.pollWorkflowExecutionTimeSkipping({
          namespace,
          workflowExecution,
          fastForwardId: id,
        });
      if (result === FastForwardPollingResult.FAST_FORWARD_POLLING_RESULT_FAST_FORWARD_COMPLETED) return;
      if (result === FastForwardPollingResult.FAST_FORWARD_POLLING_RESULT_POLL_TIMEOUT) continue;
      throw new Error(`the time of ${workflowId} could not be jumped: ${failedReason}`);
    }
  });
}
