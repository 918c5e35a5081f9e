import type { Engine } from './engine.js';
import { copyEvent, takeUp } from './reset.js';
import type { Run } from './run.js';
import { EventType, long, TimeoutType, WorkflowExecutionStatus } from './shapes.js';

/** How far each run's history was, oldest first: the database holds nothing else that a run is made of. */
export type Backup = ReadonlyMap<Run, number>;

export function takeBackup(engine: Engine): Backup {
  return new Map([...engine.all()].map((run) => [run, run.events.length]));
}

/**
 * Puts the engine's database back to a backup: what came later never was, and runs that the backup does not have are
 * gone. Workers must be dead.
 */
export function restoreBackup(engine: Engine, backup: Backup): void {
  engine.kill();
  const all = [...engine.all()];
  for (const run of all) silence(engine, run);
  for (const { start } of all) engine.forget(start.workflowId);
  const restored = new Map<Run, Run>();
  for (const [old, length] of backup) {
    const run = engine.admit({ ...old.start });
    restored.set(old, run);
    run.startedAt = old.startedAt;
    for (const event of old.events.slice(0, length)) copyEvent(engine, run, event);
    const end = endOf(run);
    if (end !== undefined) Object.assign(run, { status: end, closedAt: old.closedAt, continuedTo: old.continuedTo });
  }
  for (const run of restored.values()) {
    const { parent } = run.start;
    const found = parent && restored.get(parent.run);
    if (found !== undefined) run.start.parent = { ...parent, run: found } as typeof parent;
  }
  engine.up();
  for (const run of restored.values()) {
    if (!run.isOpen) continue;
    takeUp(engine, run, true);
    endLostTask(run);
    engine.tasks.need(run);
  }
}

/** What memory held of it is gone: nothing of the old run acts any more. */
function silence(engine: Engine, run: Run): void {
  clearTimeout(run.task?.timer);
  run.task = undefined;
  for (const timer of run.timers.values()) clearTimeout(timer.handle);
  run.timers.clear();
  for (const activity of [...run.activities.values()]) engine.activities.forget(activity);
  run.watchers.clear();
  run.status = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TERMINATED;
}

const ENDS: Readonly<Partial<Record<keyof typeof EventType, keyof typeof WorkflowExecutionStatus>>> = {
  EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: 'WORKFLOW_EXECUTION_STATUS_COMPLETED',
  EVENT_TYPE_WORKFLOW_EXECUTION_FAILED: 'WORKFLOW_EXECUTION_STATUS_FAILED',
  EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED: 'WORKFLOW_EXECUTION_STATUS_CANCELED',
  EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: 'WORKFLOW_EXECUTION_STATUS_TERMINATED',
  EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW: 'WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW',
};

function endOf(run: Run): number | undefined {
  const last = EventType[run.events.at(-1)?.eventType ?? 0] as keyof typeof EventType;
  const status = ENDS[last];
  return status === undefined ? undefined : WorkflowExecutionStatus[status];
}

/** A task that was under way in the backup has no worker: it ends by its time-out. */
function endLostTask(run: Run): void {
  const last = run.events.findLastIndex(
    (event) => event.workflowTaskScheduledEventAttributes ?? event.workflowTaskStartedEventAttributes,
  );
  const ended = run.events.findLastIndex(
    (event) =>
      event.workflowTaskCompletedEventAttributes ??
      event.workflowTaskFailedEventAttributes ??
      event.workflowTaskTimedOutEventAttributes,
  );
  if (last <= ended) return;
  const isStarted = run.events[last]?.workflowTaskStartedEventAttributes != null;
  run.append('EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT', {
    workflowTaskTimedOutEventAttributes: {
      scheduledEventId: long(isStarted ? last : last + 1),
      ...(isStarted && { startedEventId: long(last + 1) }),
      timeoutType: isStarted ? TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE : TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START,
    },
  });
}
