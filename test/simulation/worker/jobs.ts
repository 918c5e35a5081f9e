import {
  type Event,
  type Failure,
  type Job,
  long,
  RetryState,
  TimeoutType,
  type UpdateRequest,
} from '../engine/shapes.js';

type Activation = 'failed' | 'timedOut' | 'cancelled';

const MESSAGES: Record<Activation, string> = {
  failed: 'Activity task failed',
  timedOut: 'Activity task timed out',
  cancelled: 'Activity cancelled',
};

/** What Core makes of the event that ends an activity. */
export function resolutionOf(event: Event, seq: number, activity: { type: string; id: string }): Job {
  const completed = event.activityTaskCompletedEventAttributes;
  if (completed) {
    const [result] = completed.result?.payloads ?? [];
    return { resolveActivity: { seq, isLocal: false, result: { completed: result ? { result } : {} } } };
  }
  const failed = event.activityTaskFailedEventAttributes;
  const timedOut = event.activityTaskTimedOutEventAttributes;
  const cancelled = event.activityTaskCanceledEventAttributes;
  const attributes = failed ?? timedOut ?? cancelled;
  const kind: Activation = failed ? 'failed' : timedOut ? 'timedOut' : 'cancelled';
  const cause: Failure = cancelled
    ? { canceledFailureInfo: { ...(cancelled.details && { details: cancelled.details }) } }
    : ((failed ?? timedOut)?.failure ?? {});
  const failure: Failure = {
    message: MESSAGES[kind],
    cause,
    activityFailureInfo: {
      activityType: { name: activity.type },
      activityId: activity.id,
      scheduledEventId: attributes?.scheduledEventId ?? long(0),
      startedEventId: attributes?.startedEventId ?? long(0),
      identity: '',
      retryState: (failed ?? timedOut)?.retryState ?? RetryState.RETRY_STATE_CANCEL_REQUESTED,
    },
  };
  const result = kind === 'cancelled' ? { cancelled: { failure } } : { failed: { failure } };
  return { resolveActivity: { seq, isLocal: false, result } };
}

/** The flow gave it up: it is not waited for how it ends. */
export function cancelledAtOnce(seq: number, activity: { type: string; id: string }, scheduledEventId = 0): Job {
  const failure: Failure = {
    message: 'Activity cancelled',
    cause: { canceledFailureInfo: {} },
    activityFailureInfo: {
      activityType: { name: activity.type },
      activityId: activity.id,
      scheduledEventId: long(scheduledEventId),
      startedEventId: long(0),
      identity: '',
      retryState: RetryState.RETRY_STATE_CANCEL_REQUESTED,
    },
  };
  return { resolveActivity: { seq, isLocal: false, result: { cancelled: { failure } } } };
}

/** A local activity that took too long reaches the flow as an activity failure around the time-out. */
export function localTimeout(activity: { type: string; id: string }): Failure {
  return {
    message: 'Local Activity timed out',
    cause: {
      message: 'Activity timed out',
      timeoutFailureInfo: { timeoutType: TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE },
    },
    activityFailureInfo: {
      activityType: { name: activity.type },
      activityId: activity.id,
      scheduledEventId: long(0),
      startedEventId: long(0),
      identity: '',
      retryState: RetryState.RETRY_STATE_CANCEL_REQUESTED,
    },
  };
}

/** What Core makes of an event about a child; undefined for other events. */
export function childJob(event: Event, seqOf: (initiatedEventId: number) => number | undefined): Job | undefined {
  const started = event.childWorkflowExecutionStartedEventAttributes;
  const notStarted = event.startChildWorkflowExecutionFailedEventAttributes;
  const completed = event.childWorkflowExecutionCompletedEventAttributes;
  const failed = event.childWorkflowExecutionFailedEventAttributes;
  const cancelled = event.childWorkflowExecutionCanceledEventAttributes;
  const terminated = event.childWorkflowExecutionTerminatedEventAttributes;
  const attributes = started ?? notStarted ?? completed ?? failed ?? cancelled ?? terminated;
  if (!attributes) return undefined;
  const seq = seqOf(Number(attributes.initiatedEventId));
  if (seq === undefined) throw new Error(`no child was initiated by event ${String(attributes.initiatedEventId)}`);
  if (started)
    return {
      resolveChildWorkflowExecutionStart: { seq, succeeded: { runId: started.workflowExecution?.runId ?? '' } },
    };
  if (notStarted) {
    const { workflowId = '', workflowType } = notStarted;
    return {
      resolveChildWorkflowExecutionStart: {
        seq,
        failed: { workflowId: workflowId ?? '', workflowType: workflowType?.name ?? '', cause: 1 },
      },
    };
  }
  if (completed) {
    const [result] = completed.result?.payloads ?? [];
    return { resolveChildWorkflowExecution: { seq, result: { completed: result ? { result } : {} } } };
  }
  const about = failed ?? cancelled ?? terminated;
  const wrap = (message: string, cause: Failure): Failure => ({
    message,
    cause,
    childWorkflowExecutionFailureInfo: {
      namespace: '',
      workflowExecution: about?.workflowExecution ?? null,
      workflowType: about?.workflowType ?? null,
      initiatedEventId: about?.initiatedEventId ?? long(0),
      startedEventId: about?.startedEventId ?? long(0),
      retryState: RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE,
    },
  });
  if (cancelled) {
    const failure = wrap('Child Workflow execution cancelled', { canceledFailureInfo: {} });
    return { resolveChildWorkflowExecution: { seq, result: { cancelled: { failure } } } };
  }
  const failure = failed
    ? wrap('Child Workflow execution failed', failed.failure ?? {})
    : wrap('Child Workflow execution terminated', { message: 'Terminated', terminatedFailureInfo: {} });
  return { resolveChildWorkflowExecution: { seq, result: { failed: { failure } } } };
}

/** In which order Core hands the jobs of one activation over (`prepare_to_ship_activation`). */
export function inOrder(jobs: readonly Job[]): Job[] {
  const rank = (job: Job): number => {
    if (job.initializeWorkflow != null) return 0;
    if (job.notifyHasPatch != null) return 1;
    if (job.updateRandomSeed != null) return 2;
    if (job.signalWorkflow != null || job.doUpdate != null) return 3;
    if (job.resolveActivity?.isLocal === true) return 5;
    return 4;
  };
  return jobs.toSorted((a, b) => rank(a) - rank(b));
}

export function updateJob(id: string, request: UpdateRequest, runValidator: boolean): Job {
  return {
    doUpdate: {
      id: request.meta?.updateId ?? id,
      protocolInstanceId: id,
      name: request.input?.name ?? '',
      input: request.input?.args?.payloads ?? [],
      headers: {},
      meta: request.meta ?? null,
      runValidator,
    },
  };
}

/** The id of the event that scheduled the activity which this one ends. */
export function scheduledBy(event: Event): number {
  const attributes =
    event.activityTaskCompletedEventAttributes ??
    event.activityTaskFailedEventAttributes ??
    event.activityTaskTimedOutEventAttributes ??
    event.activityTaskCanceledEventAttributes;
  return Number(attributes?.scheduledEventId);
}
