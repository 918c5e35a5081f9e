import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { TestStack } from './stack.js';

type EventId = NonNullable<
  Parameters<Client['workflowService']['resetWorkflowExecution']>[0]['workflowTaskFinishEventId']
>;

/**
 * Resets a flow to just after the workflow task that ended with this event. Returns the run that this makes.
 * @param without kinds of events (`ResetReapplyExcludeType`) that the engine is not to give again
 */
export async function resetTo(
  client: Client,
  workflowExecution: { workflowId: string; runId?: string },
  task: EventId | null | undefined,
  without: number[] = [],
): Promise<string> {
  if (task === null || task === undefined) throw new Error(`${workflowExecution.workflowId} has no such workflow task`);
  const { runId } = await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution,
    workflowTaskFinishEventId: task,
    requestId: randomUUID(),
    reason: 'test',
    resetReapplyExcludeTypes: without,
  });
  return runId;
}

/** So that the flow's latest run, or the one that is named, begins again, with all that it was told before. */
export async function resetToFirstTask(
  client: Client,
  workflowId: string,
  without?: number[],
  runId?: string,
): Promise<string> {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  return await resetTo(client, { workflowId, ...(runId !== undefined && { runId }) }, first?.eventId, without);
}

/** A flow that continues as new has several. */
export async function firstRunOf(client: Client, workflowId: string): Promise<string> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  return raw.workflowExecutionInfo?.firstRunId ?? '';
}

/**
 * Resets the flow's first run, or the one that is named, to just after each of its workflow tasks in turn, or those that
 * `takes` chooses by their number from 0, and looks at each run that this makes before the next one. Returns how often.
 */
export async function resetToEachTask(
  { temporal }: TestStack,
  workflowId: string,
  look: (runId: string) => Promise<void>,
  takes: (task: number) => boolean = () => true,
  ofRun?: string,
): Promise<number> {
  const runId = ofRun ?? (await firstRunOf(temporal, workflowId));
  const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  const tasks = (events ?? [])
    .filter((event) => event.workflowTaskCompletedEventAttributes)
    .filter((_, task) => takes(task));
  for (const { eventId } of tasks) {
    await look(await resetTo(temporal, { workflowId, runId }, eventId));
  }
  return tasks.length;
}

/** How a run ends, or the latest one: the status of its outcome, or the type of its failure. */
export async function endOf(client: Client, workflowId: string, runId?: string): Promise<string> {
  return await client.workflow
    .getHandle(workflowId, runId)
    .result()
    .then(
      (outcome: { status: string }) => outcome.status,
      (error: { cause?: { type?: string }; message: string }) => error.cause?.type ?? error.message,
    );
}

/** The workflow tasks of a run that were completed, as {@link resetTo} takes them. */
export async function tasksOf(client: Client, workflowId: string, runId: string): Promise<EventId[]> {
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  return (events ?? []).flatMap((event) =>
    event.workflowTaskCompletedEventAttributes && event.eventId ? [event.eventId] : [],
  );
}
