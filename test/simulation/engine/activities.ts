import type { Engine } from './engine.js';
import type { Run } from './run.js';
import { type Failure, long, type Payloads, RetryState, timeoutFailure, TimeoutType } from './shapes.js';

/** An activity from the command that scheduled it to the event that ends it. */
export interface ActivityTask {
  readonly run: Run;
  readonly scheduledEventId: number;
  readonly activityId: string;
  readonly type: string;
  readonly taskQueue: string;
  readonly input: Payloads | undefined;
  readonly startToCloseMs: number | undefined;
  readonly scheduleToCloseMs: number | undefined;
  readonly heartbeatMs: number | undefined;
  readonly retry: RetryRule;
  readonly priority: Priority;
  readonly scheduledAt: number;
  attemptScheduledAt: number;
  attempt: number;
  state: 'scheduled' | 'started' | 'backoff';
  startedAt: number;
  heartbeat: Payloads | undefined;
  lastFailure: Failure | undefined;
  cancelRequested: boolean;
  /** Changes with each attempt: what an earlier one reports is not taken. */
  token: object;
  timers: NodeJS.Timeout[];
  overall?: NodeJS.Timeout | undefined;
}

type Priority = { priorityKey?: number | null; fairnessKey?: string | null } | null | undefined;

export interface RetryRule {
  initialMs: number;
  coefficient: number;
  maximumMs: number;
  maximumAttempts: number;
  nonRetryable: readonly string[];
}

export type ActivityEnd =
  { completed: Payloads | undefined } | { failed: Failure } | { cancelled: Payloads | undefined };

/** Keeps activities going: dispatch, time-outs, retries. */
export class Activities {
  constructor(private readonly engine: Engine) {}

  schedule(task: ActivityTask): void {
    task.run.activities.set(task.scheduledEventId, task);
    if (task.scheduleToCloseMs !== undefined) {
      const left = task.scheduledAt + task.scheduleToCloseMs - Date.now();
      task.overall = setTimeout(() => this.timeOutOverall(task), Math.max(0, left));
    }
    this.offer(task);
  }

  /** A worker has taken it. */
  started(task: ActivityTask): void {
    task.state = 'started';
    task.startedAt = Date.now();
    if (task.startToCloseMs !== undefined) {
      task.timers.push(
        setTimeout(() => this.attemptTimedOut(task, TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE), task.startToCloseMs),
      );
    }
    this.armHeartbeat(task);
  }

  /** What the worker tells while it works; answers whether the activity is to be given up. */
  beat(task: ActivityTask, token: object, details: Payloads | undefined): 'gone' | 'cancel' | 'go on' {
    if (!this.isCurrent(task, token)) return 'gone';
    task.heartbeat = details;
    this.armHeartbeat(task);
    return task.cancelRequested ? 'cancel' : 'go on';
  }

  /** The worker's result of one attempt. Nothing happens when nobody waits for it any more. */
  ended(task: ActivityTask, token: object, end: ActivityEnd): void {
    if (!this.isCurrent(task, token)) return;
    const retryState = 'failed' in end ? this.retry(task, end.failed) : 0;
    if (retryState === undefined) return;
    this.engine.arrive(task.run, { kind: 'activity', id: task.activityId }, () => {
      if (this.isCurrent(task, token)) this.closeWith(task, end, retryState);
    });
  }

  private closeWith(task: ActivityTask, end: ActivityEnd, retryState: number): void {
    if ('failed' in end) {
      this.close(task, 'EVENT_TYPE_ACTIVITY_TASK_FAILED', {
        activityTaskFailedEventAttributes: { ...ids(task), failure: end.failed, retryState },
      });
    } else if ('cancelled' in end) {
      this.close(task, 'EVENT_TYPE_ACTIVITY_TASK_CANCELED', {
        activityTaskCanceledEventAttributes: { ...ids(task), ...(end.cancelled && { details: end.cancelled }) },
      });
    } else {
      this.close(task, 'EVENT_TYPE_ACTIVITY_TASK_COMPLETED', {
        activityTaskCompletedEventAttributes: { ...ids(task), ...(end.completed && { result: end.completed }) },
      });
    }
  }

  /** By a command of the flow. One that is not with a worker ends at once. */
  requestCancel(task: ActivityTask, requestedEventId: number): void {
    task.cancelRequested = true;
    if (task.state === 'started') return;
    this.forget(task);
    this.engine.tasks.record(task.run, () => {
      task.run.append('EVENT_TYPE_ACTIVITY_TASK_CANCELED', {
        activityTaskCanceledEventAttributes: {
          scheduledEventId: long(task.scheduledEventId),
          startedEventId: long(0),
          latestCancelRequestedEventId: long(requestedEventId),
        },
      });
    });
  }

  forget(task: ActivityTask): void {
    this.disarm(task);
    clearTimeout(task.overall);
    task.token = {};
    task.run.activities.delete(task.scheduledEventId);
    this.engine.matching.withdraw(task);
  }

  private offer(task: ActivityTask): void {
    task.state = 'scheduled';
    task.attemptScheduledAt = Date.now();
    task.token = {};
    this.engine.matching.offerActivity(task);
  }

  private isCurrent(task: ActivityTask, token: object): boolean {
    return (
      task.run.isOpen &&
      task.token === token &&
      task.state === 'started' &&
      task.run.activities.has(task.scheduledEventId)
    );
  }

  private attemptTimedOut(task: ActivityTask, timeoutType: number): void {
    if (!task.run.isOpen) return;
    const failure = timeoutFailure('activity timeout', timeoutType);
    const retryState = this.retry(task, failure);
    if (retryState !== undefined) this.closeTimedOut(task, failure, retryState);
  }

  private timeOutOverall(task: ActivityTask): void {
    if (!task.run.isOpen || !task.run.activities.has(task.scheduledEventId)) return;
    const failure = timeoutFailure(
      'activity ScheduleToClose timeout',
      TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE,
      task.lastFailure,
    );
    this.closeTimedOut(task, failure, RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE);
  }

  private closeTimedOut(task: ActivityTask, failure: Failure, retryState: number): void {
    this.close(task, 'EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT', {
      activityTaskTimedOutEventAttributes: { ...ids(task), failure, retryState },
    });
  }

  /** Undefined when it is tried again, else why not. */
  private retry(task: ActivityTask, failure: Failure): number | undefined {
    const { retry, attempt } = task;
    const info = failure.applicationFailureInfo;
    if (task.cancelRequested) return RetryState.RETRY_STATE_CANCEL_REQUESTED;
    if (info?.nonRetryable === true || retry.nonRetryable.includes(info?.type ?? ''))
      return RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE;
    if (retry.maximumAttempts > 0 && attempt >= retry.maximumAttempts)
      return RetryState.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED;
    const asked =
      info?.nextRetryDelay == null
        ? undefined
        : Number(info.nextRetryDelay.seconds ?? 0) * 1000 + (info.nextRetryDelay.nanos ?? 0) / 1e6;
    // As the server does: it takes a delay of nothing for the end of the time.
    if (asked === 0) return RetryState.RETRY_STATE_TIMEOUT;
    const pause = asked ?? Math.min(retry.initialMs * retry.coefficient ** (attempt - 1), retry.maximumMs);
    const end = task.scheduleToCloseMs === undefined ? Infinity : task.scheduledAt + task.scheduleToCloseMs;
    if (Date.now() + pause >= end) return RetryState.RETRY_STATE_TIMEOUT;
    this.disarm(task);
    task.state = 'backoff';
    task.attempt += 1;
    task.lastFailure = failure;
    task.token = {};
    task.timers.push(setTimeout(() => this.offer(task), pause));
    return undefined;
  }

  private close(
    task: ActivityTask,
    type: Parameters<Run['append']>[0],
    attributes: Parameters<Run['append']>[1],
  ): void {
    const { run } = task;
    const wasStarted = task.state === 'started';
    this.forget(task);
    this.engine.tasks.record(run, () => {
      const startedEventId = !wasStarted
        ? 0
        : run.append('EVENT_TYPE_ACTIVITY_TASK_STARTED', {
            activityTaskStartedEventAttributes: {
              scheduledEventId: long(task.scheduledEventId),
              attempt: task.attempt,
              identity: 'simulated',
              ...(task.lastFailure !== undefined && { lastFailure: task.lastFailure }),
            },
          });
      const [named] = Object.values(attributes ?? {}) as [{ startedEventId?: unknown }];
      named.startedEventId = long(startedEventId);
      run.append(type, attributes);
    });
  }

  private armHeartbeat(task: ActivityTask): void {
    if (task.heartbeatMs === undefined) return;
    const [limit] = task.timers.splice(1);
    clearTimeout(limit);
    task.timers[1] = setTimeout(() => this.attemptTimedOut(task, TimeoutType.TIMEOUT_TYPE_HEARTBEAT), task.heartbeatMs);
  }

  private disarm(task: ActivityTask): void {
    for (const timer of task.timers) clearTimeout(timer);
    task.timers = [];
  }
}

function ids(task: ActivityTask) {
  return { scheduledEventId: long(task.scheduledEventId), identity: 'simulated' };
}
