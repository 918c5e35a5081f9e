import proto from '@temporalio/proto';
import type { Worker } from '@temporalio/worker';

const { WorkflowActivation } = proto.coresdk.workflow_activation;
type Timeout = { seconds?: { toString(): string } | null } | null | undefined;

const TEN_YEARS_S = '315360000';

/** The part of the worker that is used here, which its type keeps to itself. */
interface Polling {
  nativeWorker: { pollWorkflowActivation(): Promise<Buffer> };
}

/**
 * The time-skipping test server gives every flow that is started without time-outs an execution and a run
 * time-out of ten years, and a money flow refuses to run under any. Takes exactly those away before the flow
 * sees them: a time-out that somebody did set stays.
 */
export function withoutDefaultTimeouts(worker: Worker): Worker {
  const { nativeWorker } = worker as unknown as Polling;
  const poll = nativeWorker.pollWorkflowActivation.bind(nativeWorker);
  nativeWorker.pollWorkflowActivation = async () => {
    const activation = WorkflowActivation.decode(await poll());
    for (const { initializeWorkflow: start } of activation.jobs) {
      if (isDefault(start?.workflowExecutionTimeout)) delete start?.workflowExecutionTimeout;
      if (isDefault(start?.workflowRunTimeout)) delete start?.workflowRunTimeout;
    }
    return Buffer.from(WorkflowActivation.encode(activation).finish());
  };
  return worker;
}

function isDefault(timeout: Timeout): boolean {
  return String(timeout?.seconds) === TEN_YEARS_S;
}
