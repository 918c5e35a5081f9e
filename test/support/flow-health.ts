import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';

const { EventType, WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;

/** More failed tasks than this in one history is a flow that does not get on. */
const MAX_FAILED_TASKS = 3;

/** Not failures of ours, though they are recorded as such. */
const HARMLESS = new Set<number | null | undefined>([
  // A message arrived while the flow was ending: the server runs the task again with it.
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
  // Somebody has reset the flow to here.
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
]);

/**
 * What is wrong with the flows of a namespace, one sentence each: a problem that the server reports, a task
 * that is being retried, or tasks that failed. The server records only the first of a row of failures in
 * the history, so an open flow's present attempt is looked at too.
 */
export async function flowProblems(temporal: Client): Promise<string[]> {
  const problems: string[] = [];
  for await (const { workflowId } of temporal.workflow.list({ query: 'TemporalReportedProblems IS NOT NULL' })) {
    problems.push(`${workflowId}: has TemporalReportedProblems set`);
  }
  for (const { workflowId, runId } of await everyRun(temporal)) {
    const causes = await failedTasks(temporal, workflowId, runId);
    const unexpected = causes.filter((cause) => !HARMLESS.has(cause));
    if (unexpected.length > 0) problems.push(`${workflowId}: workflow tasks failed, ${unexpected.map(nameOf).join()}`);
    if (causes.length > MAX_FAILED_TASKS) problems.push(`${workflowId}: ${causes.length} workflow tasks failed`);
    const { raw } = await temporal.workflow.getHandle(workflowId, runId).describe();
    const attempt = raw.pendingWorkflowTask?.attempt ?? 0;
    if (attempt > MAX_FAILED_TASKS) problems.push(`${workflowId}: is at attempt ${attempt} of one workflow task`);
  }
  return problems;
}

/** How many events of one type the histories of a namespace hold together. */
export async function countEvents(temporal: Client, type: keyof typeof EventType): Promise<number> {
  let count = 0;
  for (const { workflowId, runId } of await everyRun(temporal)) {
    const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    count += events?.filter(({ eventType }) => eventType === EventType[type]).length ?? 0;
  }
  return count;
}

/** Names of the flows that have not ended. */
export async function openFlows(temporal: Client): Promise<string[]> {
  return (await everyRun(temporal)).filter(({ open }) => open).map(({ workflowId }) => workflowId);
}

async function everyRun(temporal: Client): Promise<{ workflowId: string; runId: string; open: boolean }[]> {
  const runs: { workflowId: string; runId: string; open: boolean }[] = [];
  for await (const { workflowId, runId, status } of temporal.workflow.list()) {
    runs.push({ workflowId, runId, open: status.name === 'RUNNING' });
  }
  return runs;
}

async function failedTasks(
  temporal: Client,
  workflowId: string,
  runId: string,
): Promise<(number | null | undefined)[]> {
  const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const failed = event.workflowTaskFailedEventAttributes;
    return failed ? [failed.cause] : [];
  });
}

function nameOf(cause: number | null | undefined): string {
  return WorkflowTaskFailedCause[cause ?? 0] ?? String(cause);
}
