import type { Engine } from './engine.js';
import { LIMITS, suggestsContinueAsNew } from './limits.js';
import type { PendingTimer, Run, Update, WorkflowTask } from './run.js';
import {
  EventType,
  type Failure,
  long,
  type Outcome,
  TimeoutType,
  type WorkflowCommand,
  WorkflowTaskFailedCause,
} from './shapes.js';

/** What a worker answers to a workflow task. */
export interface TaskAnswer {
  commands: WorkflowCommand[];
  /** Local activities are still running: the next task is to follow at once. */
  heartbeat: boolean;
  /** Behaviours of the SDK that the flow has used for the first time. */
  flags: number[];
}

/** When the server makes workflow tasks, and what becomes of them. */
export class WorkflowTasks {
  constructor(private readonly engine: Engine) {}

  /**
   * Puts events into the history, or keeps them until the task under way has ended; a task will look at them. The
   * attributes of events that wait are made when they are written, since ids are given then.
   */
  record(run: Run, write: () => void, firedTimer?: PendingTimer): void {
    if (!run.isOpen) return;
    if (run.task?.state === 'started') {
      run.buffered.push({ write, ...(firedTimer && { firedTimer }) });
      return;
    }
    if (run.task?.speculative === true) this.writeScheduled(run, run.task);
    if (run.task !== undefined && !run.task.written) {
      // It is a repetition no more: there is news.
      this.cancelTask(run);
    }
    if (run.task === undefined) run.attempt = 1;
    write();
    this.engine.enforceHistoryLimit(run);
    this.need(run);
  }

  /** A task is wanted for what stands in the history, or for an update alone. */
  need(run: Run, speculative = false): void {
    if (!run.isOpen || run.task !== undefined) return;
    const task: WorkflowTask = {
      state: 'scheduled',
      attempt: run.attempt,
      speculative: speculative && run.attempt === 1,
      written: false,
      scheduledAt: Date.now(),
      startedAt: 0,
      startedEventId: 0,
      updates: [],
    };
    run.task = task;
    if (!task.speculative && task.attempt === 1) this.writeScheduled(run, task);
    this.engine.matching.offerWorkflowTask(run, task);
  }

  started(run: Run, task: WorkflowTask, worker: object): void {
    clearTimeout(task.timer);
    task.state = 'started';
    task.worker = worker;
    task.startedAt = Date.now();
    task.updates = this.takeUpdates(run);
    const build = this.engine.targetBuild?.(run);
    run.build ??= build;
    task.shown = {
      historySizeBytes: long(run.sizeBytes),
      targetWorkerDeploymentVersionChanged: run.isPinned && build !== run.build,
      suggestContinueAsNew: suggestsContinueAsNew(run, this.engine.suggestRunAfter(run)),
    };
    if (task.written) this.writeStarted(run, task);
    else task.startedEventId = run.nextEventId + 1;
    task.timer = setTimeout(() => this.timedOut(run, task), LIMITS.workflowTaskMs);
  }

  /** The worker that has the flow in its cache is gone, and the server learns it by waiting. */
  waitForSticky(run: Run, task: WorkflowTask): true {
    task.timer = setTimeout(() => {
      if (run.task !== task || !run.isOpen || task.state !== 'scheduled') return;
      run.stickyTo = undefined;
      if (task.speculative) this.writeScheduled(run, task);
      if (task.written) {
        run.append('EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT', {
          workflowTaskTimedOutEventAttributes: {
            scheduledEventId: long(run.events.length),
            timeoutType: TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START,
          },
        });
      }
      run.task = undefined;
      this.need(run);
    }, LIMITS.stickyMs);
    return true;
  }

  /** Events of the run as the worker is given them: those of an unwritten task included. */
  eventsFor(run: Run, task: WorkflowTask) {
    if (task.written) return [...run.events];
    const at = run.nextEventId;
    return [
      ...run.events,
      {
        eventId: long(at),
        eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
        workflowTaskScheduledEventAttributes: { attempt: task.attempt },
        eventTime: run.events.at(-1)?.eventTime ?? null,
      },
      {
        eventId: long(at + 1),
        eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
        eventTime: this.engine.time(task.startedAt),
        workflowTaskStartedEventAttributes: this.startedAttributes(task, at),
      },
    ];
  }

  /** False: the task is no longer this worker's, and nothing of the answer counts. */
  completed(run: Run, task: WorkflowTask, answer: TaskAnswer): boolean {
    if (!this.isCurrent(run, task)) return false;
    const { commands } = answer;
    const closes = commands.some(isClosing);
    if (closes && run.buffered.length > 0) {
      this.failed(run, task, WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND, {
        message: 'UnhandledCommand',
      });
      return false;
    }
    clearTimeout(task.timer);
    const onlyRejected = commands.every(({ updateResponse }) => updateResponse?.rejected != null) && !answer.heartbeat;
    if (task.speculative && onlyRejected && run.buffered.length === 0) {
      run.task = undefined;
      this.engine.commands.rejectUpdates(run, commands);
      this.follow(run);
      return true;
    }
    if (!task.written) {
      this.writeScheduled(run, task);
      this.writeStarted(run, task);
    }
    run.task = undefined;
    run.attempt = 1;
    run.stickyTo = task.worker;
    run.isPinned = run.build !== undefined;
    const completedId = run.append('EVENT_TYPE_WORKFLOW_TASK_COMPLETED', {
      workflowTaskCompletedEventAttributes: {
        scheduledEventId: long(task.startedEventId - 1),
        startedEventId: long(task.startedEventId),
        identity: 'simulated',
        ...(run.version && { deploymentVersion: run.version }),
        sdkMetadata: { langUsedFlags: answer.flags, coreUsedFlags: [1, 2, 3] },
      },
    });
    this.engine.commands.apply(run, commands, completedId);
    const news = this.flush(run);
    if (!run.isOpen) return true;
    this.engine.enforceHistoryLimit(run);
    for (const after of run.afterTask.splice(0)) after();
    if (news || answer.heartbeat) this.need(run);
    else this.follow(run);
    return true;
  }

  failed(run: Run, task: WorkflowTask, cause: number, failure: Failure): void {
    if (!this.isCurrent(run, task)) return;
    clearTimeout(task.timer);
    this.writeOnFirst(run, task, () =>
      run.append('EVENT_TYPE_WORKFLOW_TASK_FAILED', {
        workflowTaskFailedEventAttributes: {
          scheduledEventId: long(task.startedEventId - 1),
          startedEventId: long(task.startedEventId),
          cause,
          failure,
          identity: 'simulated',
        },
      }),
    );
    this.again(run, task);
  }

  isCurrent(run: Run, task: WorkflowTask): boolean {
    return run.isOpen && run.task === task && task.state === 'started';
  }

  private takeUpdates(run: Run): Update[] {
    const waiting = [...run.updates.values()].filter(
      ({ state, admittedEventId }) => (state === 'admitted' || state === 'sent') && admittedEventId === undefined,
    );
    for (const update of waiting) {
      update.state = 'sent';
      run.brought.set(update.id, update.request);
    }
    return waiting;
  }

  private timedOut(run: Run, task: WorkflowTask): void {
    if (!this.isCurrent(run, task)) return;
    this.writeOnFirst(run, task, () =>
      run.append('EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT', {
        workflowTaskTimedOutEventAttributes: {
          scheduledEventId: long(task.startedEventId - 1),
          startedEventId: long(task.startedEventId),
          timeoutType: TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE,
        },
      }),
    );
    this.again(run, task);
  }

  /** Only the first attempt leaves events when it fails: a flow that can't go on would fill its history else. */
  private writeOnFirst(run: Run, task: WorkflowTask, write: () => void): void {
    if (task.speculative) {
      this.writeScheduled(run, task);
      this.writeStarted(run, task);
    }
    if (task.written) write();
  }

  private again(run: Run, task: WorkflowTask): void {
    run.task = undefined;
    run.stickyTo = undefined;
    run.attempt = task.attempt + 1;
    for (const update of run.updates.values())
      if (update.state === 'sent' && update.admittedEventId === undefined) update.state = 'admitted';
    if (this.flush(run)) run.attempt = 1;
    // Later attempts back off, as the worker's code may need a deploy.
    const pause = run.attempt <= 2 ? 0 : Math.min(600_000, 1_000 * 2 ** (run.attempt - 3));
    if (pause === 0) return this.need(run);
    setTimeout(() => this.need(run), pause);
  }

  /** What was admitted meanwhile gets a task of its own. */
  private follow(run: Run): void {
    if ([...run.updates.values()].some(({ state }) => state === 'admitted')) this.need(run, true);
  }

  private flush(run: Run): boolean {
    const { buffered } = run;
    run.buffered = [];
    if (!run.isOpen) return false;
    for (const { write } of buffered) write();
    return buffered.length > 0;
  }

  private cancelTask(run: Run): void {
    clearTimeout(run.task?.timer);
    run.task = undefined;
  }

  private writeScheduled(run: Run, task: WorkflowTask): void {
    task.written = true;
    task.speculative = false;
    run.append('EVENT_TYPE_WORKFLOW_TASK_SCHEDULED', {
      workflowTaskScheduledEventAttributes: {
        taskQueue: { name: run.start.taskQueue, kind: 1 },
        startToCloseTimeout: this.engine.length(LIMITS.workflowTaskMs),
        attempt: task.attempt,
      },
    });
  }

  private writeStarted(run: Run, task: WorkflowTask): void {
    const attributes = this.startedAttributes(task, run.events.length);
    task.startedEventId = run.append('EVENT_TYPE_WORKFLOW_TASK_STARTED', {
      workflowTaskStartedEventAttributes: attributes,
    });
    const event = run.events.at(-1);
    if (event) event.eventTime = this.engine.time(task.startedAt);
  }

  private startedAttributes(task: WorkflowTask, scheduledEventId: number) {
    return { scheduledEventId: long(scheduledEventId), identity: 'simulated', ...task.shown };
  }
}

function isClosing(command: WorkflowCommand): boolean {
  return (
    command.completeWorkflowExecution != null ||
    command.failWorkflowExecution != null ||
    command.cancelWorkflowExecution != null ||
    command.continueAsNewWorkflowExecution != null
  );
}

/** Every waiter of an update is told of its new state. */
export function tell(update: Update, state: Update['state'], outcome?: Outcome): void {
  update.state = state;
  if (outcome !== undefined) update.outcome = outcome;
  for (const waiter of [...update.waiters]) waiter();
}
