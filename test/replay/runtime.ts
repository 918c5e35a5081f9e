import { readFileSync } from 'node:fs';
import { TypedSearchAttributes } from '@temporalio/common';
import proto from '@temporalio/proto';
import { parseWorkflowCode } from '@temporalio/worker/lib/worker.js';
import type { Workflow } from '@temporalio/worker/lib/workflow/interface.js';
import { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';
import { createUnsafeRandomSource } from '@temporalio/workflow/lib/random-helpers.js';
import type { ActivationFields, Replay } from './activations.js';
import type { WorkflowCommand } from './commands.js';
import { ms } from './decode.js';

const { WorkflowActivation } = proto.coresdk.workflow_activation;

/** A flow that runs on for so long without a pause is in an endless loop. */
const CUT_OFF_MS = 10_000;

/** The SDK's own runtime for workflow code, without a worker or a server: internal to the SDK, whose version is pinned. */
export interface Runtime {
  creator: ReusableVMWorkflowCreator;
  close(): Promise<void>;
}

/** @param bundlePath of the bundle that `npm run build` makes */
export async function workflowRuntime(bundlePath: string): Promise<Runtime> {
  const bundle = parseWorkflowCode(readFileSync(bundlePath, 'utf8'), bundlePath);
  const creator = await ReusableVMWorkflowCreator.create(bundle, CUT_OFF_MS, new Set());
  // They keep a stack for every promise, for a query that nobody asks here: 40 % of the time. A worker that is made
  // later in this process puts them back.
  globalHandlers.uninstall();
  return { creator, close: () => creator.destroy() };
}

/**
 * Drives one flow through its history.
 *
 * @throws OutOfStep, or Error with the reason when the code fails a task
 */
export async function drive({ creator }: Runtime, replay: Replay): Promise<void> {
  let workflow: Workflow | undefined;
  try {
    for (let fields = replay.next(); fields !== undefined; fields = replay.next()) {
      workflow ??= await created(creator, fields, replay.taskQueue);
      const { successful, failed } = await workflow.activate(WorkflowActivation.fromObject(fields));
      await workflow.getAndResetSinkCalls();
      if (failed) throw new Error(`the code fails a task: ${failed.failure?.message ?? ''}`);
      replay.take((successful?.commands ?? []) as WorkflowCommand[]);
    }
  } finally {
    await workflow?.dispose();
  }
}

async function created(
  creator: ReusableVMWorkflowCreator,
  fields: ActivationFields,
  taskQueue: string,
): Promise<Workflow> {
  const { runId, timestamp, jobs, historyLength, historySizeBytes, continueAsNewSuggested } =
    WorkflowActivation.fromObject(fields);
  const start = jobs[0]?.initializeWorkflow;
  if (!start?.randomnessSeed) throw new Error('the first activation starts no flow');
  const { workflowExecutionTimeout, workflowRunTimeout, continuedFromExecutionRunId } = start;
  const parent = start.parentWorkflowInfo;
  return await creator.createWorkflow({
    info: {
      workflowId: start.workflowId ?? '',
      runId,
      workflowType: start.workflowType ?? '',
      // The runtime fills them in from the first job.
      searchAttributes: {},
      typedSearchAttributes: new TypedSearchAttributes(),
      ...(parent?.workflowId && {
        parent: { workflowId: parent.workflowId, runId: parent.runId ?? '', namespace: parent.namespace ?? '' },
      }),
      taskQueue,
      namespace: 'default',
      firstExecutionRunId: start.firstExecutionRunId ?? '',
      originalExecutionRunId: start.originalExecutionRunId || runId,
      ...(continuedFromExecutionRunId && { continuedFromExecutionRunId }),
      startTime: new Date(ms(start.startTime)),
      runStartTime: new Date(ms(timestamp)),
      ...(workflowExecutionTimeout && { executionTimeoutMs: ms(workflowExecutionTimeout) }),
      ...(workflowRunTimeout && { runTimeoutMs: ms(workflowRunTimeout) }),
      taskTimeoutMs: ms(start.workflowTaskTimeout),
      attempt: start.attempt ?? 1,
      historyLength,
      historySize: historySizeBytes.toNumber(),
      continueAsNewSuggested,
      targetWorkerDeploymentVersionChanged: false,
      unsafe: {
        now: () => Date.now(),
        isReplaying: true,
        isReplayingHistoryEvents: true,
        random: createUnsafeRandomSource(() => Math.random()),
      },
    },
    randomnessSeed: start.randomnessSeed.toBytes(),
    now: ms(timestamp),
    showStackTraceSources: false,
  });
}
