import { readFileSync } from 'node:fs';
import { TypedSearchAttributes } from '@temporalio/common';
import type { WorkflowInfo } from '@temporalio/workflow';
import { parseWorkflowCode } from '@temporalio/worker/lib/worker.js';
import { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js';
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';
import type { Run } from '../engine/run.js';
import { long, timestamp } from '../engine/shapes.js';
import { withSharedStorage } from '../shared-storage.js';

const { ACTIVITIES } = await activityNames();

/** The runtime copies dates into the flow's realm by the name of their class: those of a virtual clock have another. */
const SystemDate = globalThis.Date;

/** The code as it is built. */
export const BUNDLE = new URL('../../../dist/workflow-bundle.js', import.meta.url).pathname;

/** The SDK's own workflow runtime by the bundle in it: one for each process, since loading takes a third of a second. */
const creators = new Map<string, Promise<ReusableVMWorkflowCreator>>();

export function workflowRuntime(bundlePath: string): Promise<ReusableVMWorkflowCreator> {
  const creator = creators.get(bundlePath) ?? load(bundlePath);
  creators.set(bundlePath, creator);
  return creator;
}

async function load(bundlePath: string): Promise<ReusableVMWorkflowCreator> {
  const bundle = parseWorkflowCode(readFileSync(bundlePath, 'utf8'));
  // Without the watchdog and the promise hook a flow costs a sixth. In place of the watchdog: `failEndlessTask`.
  const made = await withSharedStorage(
    async () => await ReusableVMWorkflowCreator.create(bundle, undefined as unknown as number, ACTIVITIES),
  );
  (globalHandlers as unknown as { stopPromiseHook(): void }).stopPromiseHook();
  return made;
}

async function activityNames() {
  const { createActivities } = await import('../../../activities/index.js');
  const { createBillingActivities } = await import('../../../activities/billing.js');
  const none = { providers: new Map(), engine: {}, now: Date.now } as never;
  return {
    ACTIVITIES: new Set([...Object.keys(createActivities(none)), ...Object.keys(createBillingActivities(none))]),
  };
}

export type Flow = Awaited<ReturnType<ReusableVMWorkflowCreator['createWorkflow']>>;

/** As the SDK's worker makes a workflow for the first activation of a run. */
export async function createFlow(
  runtime: ReusableVMWorkflowCreator,
  run: Run,
  namespace: string,
  now: number,
): Promise<Flow> {
  const { start } = run;
  const info = {
    workflowId: start.workflowId,
    runId: start.runId,
    workflowType: start.type,
    searchAttributes: {},
    typedSearchAttributes: new TypedSearchAttributes(),
    ...(start.parent && {
      parent: { workflowId: start.parent.run.start.workflowId, runId: start.parent.run.start.runId, namespace },
    }),
    taskQueue: start.taskQueue,
    namespace,
    firstExecutionRunId: start.firstRunId,
    originalExecutionRunId: start.originalRunId,
    ...(start.continuedFrom !== undefined && { continuedFromExecutionRunId: start.continuedFrom }),
    startTime: new SystemDate(startTimeOf(run)),
    runStartTime: new SystemDate(now),
    ...(start.executionTimeoutMs !== undefined && { executionTimeoutMs: start.executionTimeoutMs }),
    ...(start.runTimeoutMs !== undefined && { runTimeoutMs: start.runTimeoutMs }),
    taskTimeoutMs: 10_000,
    ...(start.retryPolicy !== undefined && { retryPolicy: start.retryPolicy }),
    attempt: 1,
    ...(start.cron !== undefined && { cronSchedule: start.cron }),
    historyLength: 0,
    historySize: 0,
    continueAsNewSuggested: false,
    unsafe: { now: () => Date.now(), isReplaying: false, isReplayingHistoryEvents: false },
  } as unknown as WorkflowInfo;
  const flow = await runtime.createWorkflow({
    info,
    randomnessSeed: seedOf(start.runId),
    now,
    showStackTraceSources: false,
  } as never);
  failEndlessTask(flow);
  return flow;
}

/** In one activation. No flow of the tests that ends its task asks for a hundredth of it. */
const MOST_QUESTIONS = 100_000;

/**
 * A flow that never ends its task would hang the process, and no test could say which: nothing else has its turn while promises of it are
 * kept. Each wait of a flow asks for the time, which the SDK sets at each activation.
 */
function failEndlessTask(flow: Flow): void {
  const { activator } = flow as unknown as { activator: { now: number } };
  let { now } = activator;
  let asked = 0;
  Object.defineProperty(activator, 'now', {
    get: () => {
      asked += 1;
      if (asked > MOST_QUESTIONS) throw new Error('the flow goes on for ever without a wait');
      return now;
    },
    set: (to: number) => {
      now = to;
      asked = 0;
    },
  });
}

export function initializeJob(run: Run, namespace: string) {
  const { start } = run;
  const attributes = run.events[0]?.workflowExecutionStartedEventAttributes;
  return {
    initializeWorkflow: {
      workflowId: start.workflowId,
      workflowType: start.type,
      arguments: start.input?.payloads ?? [],
      randomnessSeed: long(seedOf(start.runId)[0] ?? 0),
      headers: {},
      firstExecutionRunId: start.firstRunId,
      originalExecutionRunId: start.originalRunId,
      ...(start.continuedFrom !== undefined && { continuedFromExecutionRunId: start.continuedFrom }),
      attempt: 1,
      ...(start.lastResult && { lastCompletionResult: start.lastResult }),
      startTime: timestamp(startTimeOf(run)),
      ...(attributes?.memo && { memo: attributes.memo }),
      ...(attributes?.searchAttributes && { searchAttributes: attributes.searchAttributes }),
      ...(start.parent && {
        parentWorkflowInfo: {
          workflowId: start.parent.run.start.workflowId,
          runId: start.parent.run.start.runId,
          namespace,
        },
      }),
    },
  };
}

/** A reset run has the start of the run that it copies. */
function startTimeOf(run: Run): number {
  const time = run.events[0]?.eventTime;
  return Number(time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6;
}

/** Of a run, or of what a reset made of it. */
export function seedOf(runId: string): number[] {
  return [...Buffer.from(runId.replaceAll('-', ''), 'hex')].slice(0, 8);
}
