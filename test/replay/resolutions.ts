import proto from '@temporalio/proto';
import { type Command, markerOf } from './commands.js';
import { type HistoryEvent, whole } from './decode.js';
import type { Job } from './jobs.js';

const { RetryState, TimeoutType, StartChildWorkflowExecutionFailedCause } = proto.temporal.api.enums.v1;
const StartFailedCause = proto.coresdk.child_workflow.StartChildWorkflowExecutionFailedCause;

/** What the code has begun, and how far it is. */
export interface Machine {
  command: Command;
  seq: number;
  cancellation?: number | null | undefined;
  /** The history holds its event. */
  recorded?: boolean;
  /** Cancelled in the task that began it: the history never is told of it. */
  dropped?: boolean;
  /** The code knows how it ended, or that it will not know. */
  done?: boolean;
}

export interface Resolution {
  /** The event that began it. */
  of: number;
  isEnd: boolean;
  job(machine: Machine): Job;
}

/** @returns undefined for an event that resolves nothing the code has begun */
export function resolutionOf(event: HistoryEvent): Resolution | undefined {
  const fired = event.timerFiredEventAttributes;
  if (fired) return end(fired.startedEventId, ({ seq }) => ({ fireTimer: { seq } }));
  return activityResolution(event) ?? childResolution(event);
}

function end(of: unknown, job: Resolution['job'], isEnd = true): Resolution {
  return { of: whole(of), isEnd, job };
}

function activityResolution(event: HistoryEvent): Resolution | undefined {
  const completed = event.activityTaskCompletedEventAttributes;
  if (completed) {
    const result = completed.result?.payloads?.[0];
    return end(completed.scheduledEventId, ({ seq }) => ({
      resolveActivity: { seq, result: { completed: { result } } },
    }));
  }
  const failed = event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes;
  if (failed) {
    const message = event.activityTaskFailedEventAttributes ? 'Activity task failed' : 'Activity task timed out';
    return end(failed.scheduledEventId, (machine) => {
      const failure = activityFailure(machine, message, failed.failure, failed);
      return { resolveActivity: { seq: machine.seq, result: { failed: { failure } } } };
    });
  }
  const canceled = event.activityTaskCanceledEventAttributes;
  return canceled ? end(canceled.scheduledEventId, (machine) => cancelledJob(machine, canceled)) : undefined;
}

interface EndOfActivity {
  scheduledEventId?: unknown;
  startedEventId?: unknown;
  identity?: string | null;
  retryState?: number | null;
}

export function cancelledJob(machine: Machine, of: EndOfActivity & { details?: object | null } = {}): Job {
  const cause = { canceledFailureInfo: { details: of.details ?? null } };
  const how = { ...of, retryState: RetryState.RETRY_STATE_CANCEL_REQUESTED };
  const failure = activityFailure(machine, 'Activity cancelled', cause, how);
  return { resolveActivity: { seq: machine.seq, result: { cancelled: { failure } } } };
}

function activityFailure(
  { command }: Machine,
  message: string,
  cause: object | null | undefined,
  { scheduledEventId, startedEventId, identity = '', retryState = 0 }: EndOfActivity,
): object {
  const { activityId, activityType } = command.content;
  return {
    message,
    cause: cause ?? null,
    activityFailureInfo: {
      identity,
      activityId,
      activityType: { name: activityType },
      retryState,
      scheduledEventId: whole(scheduledEventId),
      startedEventId: whole(startedEventId),
    },
  };
}

/** From its marker. */
export function localJob(event: HistoryEvent): Job {
  const { seq, attempt, backoff, original_schedule_time: originalScheduleTime } = markerOf(event);
  const { failure, details } = event.markerRecordedEventAttributes ?? {};
  const resolved = (result: object): Job => ({ resolveActivity: { seq, isLocal: true, result } });
  if (backoff) {
    return resolved({ backoff: { attempt: attempt + 1, backoffDuration: backoff, originalScheduleTime } });
  }
  if (!failure) return resolved({ completed: { result: details?.['result']?.payloads?.[0] } });
  const wasCancelled = failure.canceledFailureInfo ?? failure.cause?.canceledFailureInfo;
  return resolved(wasCancelled ? { cancelled: { failure } } : { failed: { failure } });
}

function childResolution(event: HistoryEvent): Resolution | undefined {
  const started = event.childWorkflowExecutionStartedEventAttributes;
  if (started) {
    const runId = started.workflowExecution?.runId ?? '';
    const job = ({ seq }: Machine): Job => ({ resolveChildWorkflowExecutionStart: { seq, succeeded: { runId } } });
    return end(started.initiatedEventId, job, false);
  }
  const notStarted = event.startChildWorkflowExecutionFailedEventAttributes;
  if (notStarted) {
    const name = StartChildWorkflowExecutionFailedCause[notStarted.cause ?? 0] ?? '';
    const failed = {
      workflowId: notStarted.workflowId,
      workflowType: notStarted.workflowType?.name,
      cause: StartFailedCause[name as keyof typeof StartFailedCause],
    };
    return end(notStarted.initiatedEventId, ({ seq }) => ({ resolveChildWorkflowExecutionStart: { seq, failed } }));
  }
  const completed = event.childWorkflowExecutionCompletedEventAttributes;
  if (completed) {
    const result = completed.result?.payloads?.[0];
    return end(completed.initiatedEventId, ({ seq }) => ({
      resolveChildWorkflowExecution: { seq, result: { completed: { result } } },
    }));
  }
  return childFailure(event);
}

function childFailure(event: HistoryEvent): Resolution | undefined {
  const failed = event.childWorkflowExecutionFailedEventAttributes;
  if (failed) return childFailed(failed, 'Child Workflow execution failed', failed.failure ?? null);
  const terminated = event.childWorkflowExecutionTerminatedEventAttributes;
  if (terminated) {
    const cause = { message: 'Terminated', terminatedFailureInfo: {} };
    return childFailed(terminated, 'Child Workflow execution terminated', cause);
  }
  const timedOut = event.childWorkflowExecutionTimedOutEventAttributes;
  if (timedOut) {
    const timeoutType = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE;
    const cause = { message: 'Timed out', timeoutFailureInfo: { timeoutType } };
    return childFailed(timedOut, 'Child Workflow execution timed out', cause);
  }
  const canceled = event.childWorkflowExecutionCanceledEventAttributes;
  if (!canceled) return undefined;
  return childFailed(canceled, 'Child Workflow execution cancelled', { canceledFailureInfo: {} }, 'cancelled');
}

interface EndOfChild {
  initiatedEventId?: unknown;
  startedEventId?: unknown;
  workflowExecution?: object | null;
  workflowType?: object | null;
  namespace?: string | null;
  retryState?: number | null;
}

function childFailed(of: EndOfChild, message: string, cause: object | null = null, how = 'failed'): Resolution {
  const { namespace, workflowExecution, workflowType, startedEventId, initiatedEventId } = of;
  const retryState = of.retryState ?? RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE;
  const childWorkflowExecutionFailureInfo = {
    namespace,
    workflowExecution,
    workflowType,
    initiatedEventId,
    startedEventId,
    retryState,
  };
  const failure = { message, cause, childWorkflowExecutionFailureInfo };
  return end(initiatedEventId, ({ seq }) => ({
    resolveChildWorkflowExecution: { seq, result: { [how]: { failure } } },
  }));
}
