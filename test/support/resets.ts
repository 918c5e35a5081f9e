import { randomUUID } from 'node:crypto';
import type { TestStack } from './stack.js';

/**
 * Resets the flow's first run, or the one that is named, to just after each of its workflow tasks in turn, or those that
 * `takes` chooses by their number from 0, and looks at each run that this makes before the next one. Returns how often.
 */
export async function resetToEachTask(
  { temporal, namespace }: TestStack,
  workflowId: string,
  look: (runId: string) => Promise<void>,
  takes: (task: number) => boolean = () => true,
  ofRun?: string,
): Promise<number> {
  const { raw } = await temporal.workflow.getHandle(workflowId).describe();
  const runId = ofRun ?? raw.workflowExecutionInfo?.firstRunId ?? '';
  const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  const tasks = (events ?? [])
    .filter((event) => event.workflowTaskCompletedEventAttributes)
    .filter((_, task) => takes(task));
  for (const { eventId } of tasks) {
    const reset = await temporal.workflowService.resetWorkflowExecution({
      namespace,
      workflowExecution: { workflowId, runId },
      workflowTaskFinishEventId: eventId ?? null,
      requestId: randomUUID(),
      reason: 'test',
    });
    await look(reset.runId);
  }
  return tasks.length;
}
