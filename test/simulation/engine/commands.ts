import { randomUUID } from 'node:crypto';
import type { RetryRule } from './activities.js';
import { answerUpdate } from './answer-update.js';
import { nextOfCron } from './cron.js';
import type { Engine } from './engine.js';
import { MOST_RUNS } from './limits.js';
import type { Run } from './run.js';
import { type Event, given, limitMs, long, type Payload, toMs, type WorkflowCommand } from './shapes.js';

type Commands = { [K in keyof Required<WorkflowCommand>]: NonNullable<WorkflowCommand[K]> };

/** What the commands of a completed workflow task do, in their order. */
export class CommandHandler {
  constructor(private readonly engine: Engine) {}

  apply(run: Run, commands: readonly WorkflowCommand[], completedId: number): void {
    const workflowTaskCompletedEventId = long(completedId);
    for (const command of commands) this.applyOne(run, command, workflowTaskCompletedEventId);
  }

  rejectUpdates(run: Run, commands: readonly WorkflowCommand[]): void {
    for (const { updateResponse } of commands)
      if (updateResponse != null) answerUpdate(this.engine, run, updateResponse, long(0));
  }

  private applyOne(run: Run, command: WorkflowCommand, completed: Event['eventId']): void {
    const workflowTaskCompletedEventId = completed;
    const { userMetadata: metadata } = command;
    if (command.startTimer != null) {
      const { seq, startToFireTimeout } = command.startTimer;
      const timerId = String(seq);
      const startedEventId = run.append(
        'EVENT_TYPE_TIMER_STARTED',
        { timerStartedEventAttributes: given({ timerId, startToFireTimeout, workflowTaskCompletedEventId }) },
        metadata,
      );
      this.engine.startTimer(run, { timerId, startedEventId, dueAt: Date.now() + (toMs(startToFireTimeout) ?? 0) });
    } else if (command.cancelTimer != null) {
      const timerId = String(command.cancelTimer.seq);
      const fired = run.buffered.findIndex(({ firedTimer }) => firedTimer?.timerId === timerId);
      const timer = run.timers.get(timerId) ?? run.buffered[fired]?.firedTimer;
      if (timer === undefined) return;
      if (fired >= 0) run.buffered.splice(fired, 1);
      clearTimeout(timer.handle);
      run.timers.delete(timerId);
      run.append('EVENT_TYPE_TIMER_CANCELED', {
        timerCanceledEventAttributes: given({
          timerId,
          startedEventId: long(timer.startedEventId),
          workflowTaskCompletedEventId,
        }),
      });
    } else if (command.scheduleActivity != null) {
      this.scheduleActivity(run, command.scheduleActivity, command, completed);
    } else if (command.requestCancelActivity != null) {
      const activityId = String(command.requestCancelActivity.seq);
      const task = [...run.activities.values()].find((one) => one.activityId === activityId);
      if (task === undefined) return;
      const id = run.append('EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED', {
        activityTaskCancelRequestedEventAttributes: given({
          scheduledEventId: long(task.scheduledEventId),
          workflowTaskCompletedEventId,
        }),
      });
      // What it ends with comes after the events of this task.
      run.afterTask.push(() => this.engine.activities.requestCancel(task, id));
    } else if (command.updateResponse != null) {
      answerUpdate(this.engine, run, command.updateResponse, completed);
    } else if (command.upsertWorkflowSearchAttributes != null) {
      const fields = command.upsertWorkflowSearchAttributes.searchAttributes?.indexedFields ?? {};
      run.append('EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', {
        upsertWorkflowSearchAttributesEventAttributes: given({
          searchAttributes: { indexedFields: fields },
          workflowTaskCompletedEventId,
        }),
      });
      this.engine.upsertAttributes(run, fields);
    } else if (command.modifyWorkflowProperties != null) {
      const fields = command.modifyWorkflowProperties.upsertedMemo?.fields ?? {};
      run.append('EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED', {
        workflowPropertiesModifiedEventAttributes: given({ upsertedMemo: { fields }, workflowTaskCompletedEventId }),
      });
      Object.assign(run.memo, fields);
    } else if (command.startChildWorkflowExecution != null) {
      this.startChild(run, command.startChildWorkflowExecution, command, completed);
    } else if (MARKER in command) {
      const { markerName, details, failure } = (command as MarkerCommand)[MARKER];
      run.append(
        'EVENT_TYPE_MARKER_RECORDED',
        { markerRecordedEventAttributes: given({ markerName, details, failure, workflowTaskCompletedEventId }) },
        metadata,
      );
    } else if (command.completeWorkflowExecution != null) {
      const { result } = command.completeWorkflowExecution;
      run.append('EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED', {
        workflowExecutionCompletedEventAttributes: given({
          result: result ? { payloads: [result] } : undefined,
          workflowTaskCompletedEventId,
        }),
      });
      this.engine.close(run, 'WORKFLOW_EXECUTION_STATUS_COMPLETED');
    } else if (command.failWorkflowExecution != null) {
      const { failure } = command.failWorkflowExecution;
      const next = nextOfCron(this.engine, run);
      run.append('EVENT_TYPE_WORKFLOW_EXECUTION_FAILED', {
        workflowExecutionFailedEventAttributes: given({
          failure,
          retryState: 5,
          workflowTaskCompletedEventId,
          newExecutionRunId: next?.runId,
        }),
      });
      this.engine.close(run, 'WORKFLOW_EXECUTION_STATUS_FAILED', next?.begin);
    } else if (command.cancelWorkflowExecution != null) {
      run.append('EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED', {
        workflowExecutionCanceledEventAttributes: given({ workflowTaskCompletedEventId }),
      });
      this.engine.close(run, 'WORKFLOW_EXECUTION_STATUS_CANCELED');
    } else if (command.continueAsNewWorkflowExecution != null) {
      this.continueAsNew(run, command.continueAsNewWorkflowExecution, completed);
    } else {
      throw new Error(`the simulated engine does not know the command ${Object.keys(command).join(', ')}`);
    }
  }

  private scheduleActivity(
    run: Run,
    call: Commands['scheduleActivity'],
    { userMetadata }: WorkflowCommand,
    workflowTaskCompletedEventId: Event['eventId'],
  ): void {
    const activityId = call.activityId || String(call.seq);
    const taskQueue = call.taskQueue || run.start.taskQueue;
    const input = call.arguments?.length ? { payloads: call.arguments } : undefined;
    const { scheduleToCloseTimeout, scheduleToStartTimeout, startToCloseTimeout, heartbeatTimeout, priority } = call;
    const retry = retryRule(call.retryPolicy);
    const scheduledEventId = run.append(
      'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED',
      {
        activityTaskScheduledEventAttributes: given({
          activityId,
          activityType: { name: call.activityType ?? '' },
          taskQueue: { name: taskQueue, kind: 1 },
          input,
          scheduleToCloseTimeout,
          scheduleToStartTimeout,
          startToCloseTimeout,
          heartbeatTimeout,
          priority,
          workflowTaskCompletedEventId,
          retryPolicy: {
            initialInterval: this.engine.length(retry.initialMs),
            backoffCoefficient: retry.coefficient,
            maximumInterval: this.engine.length(retry.maximumMs),
            maximumAttempts: retry.maximumAttempts,
            nonRetryableErrorTypes: [...retry.nonRetryable],
          },
        }),
      },
      userMetadata,
    );
    this.engine.activities.schedule({
      run,
      scheduledEventId,
      activityId,
      type: call.activityType ?? '',
      taskQueue,
      input,
      startToCloseMs: limitMs(startToCloseTimeout) ?? limitMs(scheduleToCloseTimeout),
      scheduleToCloseMs: limitMs(scheduleToCloseTimeout),
      heartbeatMs: limitMs(heartbeatTimeout),
      retry,
      priority,
      scheduledAt: Date.now(),
      attemptScheduledAt: Date.now(),
      attempt: 1,
      state: 'scheduled',
      startedAt: 0,
      heartbeat: undefined,
      lastFailure: undefined,
      cancelRequested: false,
      token: {},
      timers: [],
    });
  }

  private startChild(
    run: Run,
    child: Commands['startChildWorkflowExecution'],
    { userMetadata }: WorkflowCommand,
    workflowTaskCompletedEventId: Event['eventId'],
  ): void {
    const workflowId = child.workflowId || randomUUID();
    const taskQueue = child.taskQueue || run.start.taskQueue;
    const input = child.input?.length ? { payloads: child.input } : undefined;
    const memo = (child.memo ?? {}) as Record<string, Payload>;
    const searchAttributes = (child.searchAttributes?.indexedFields ?? {}) as Record<string, Payload>;
    const initiatedEventId = run.append(
      'EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED',
      {
        startChildWorkflowExecutionInitiatedEventAttributes: given({
          namespace: this.engine.namespace,
          workflowId,
          workflowType: { name: child.workflowType ?? '' },
          taskQueue: { name: taskQueue, kind: 1 },
          input,
          parentClosePolicy: child.parentClosePolicy,
          workflowIdReusePolicy: child.workflowIdReusePolicy,
          memo: Object.keys(memo).length === 0 ? undefined : { fields: memo },
          searchAttributes:
            Object.keys(searchAttributes).length === 0 ? undefined : { indexedFields: searchAttributes },
          workflowTaskCompletedEventId,
        }),
      },
      userMetadata,
    );
    this.engine.children.initiate(run, initiatedEventId, child.workflowIdReusePolicy ?? 0, {
      workflowId,
      type: child.workflowType ?? '',
      taskQueue,
      input,
      memo,
      searchAttributes,
      metadata: userMetadata ?? undefined,
    });
  }

  private continueAsNew(
    run: Run,
    command: Commands['continueAsNewWorkflowExecution'],
    workflowTaskCompletedEventId: Event['eventId'],
  ): void {
    const newExecutionRunId = randomUUID();
    const { start } = run;
    if (this.engine.runsOf(start.workflowId) >= MOST_RUNS) {
      this.engine.findings.push(`${start.workflowId}: it has had ${MOST_RUNS} runs, and no end`);
      return this.engine.terminate(run, `no end after ${MOST_RUNS} runs`);
    }
    const input = command.arguments?.length ? { payloads: command.arguments } : undefined;
    const type = command.workflowType || start.type;
    const taskQueue = command.taskQueue || start.taskQueue;
    const memo =
      command.memo && Object.keys(command.memo).length > 0 ? (command.memo as Record<string, Payload>) : run.memo;
    const attributes = command.searchAttributes?.indexedFields;
    // The next run asks for patches anew, as the recorded histories show.
    const { TemporalChangeVersion: _patches, ...kept } = run.searchAttributes;
    const searchAttributes =
      attributes && Object.keys(attributes).length > 0 ? (attributes as Record<string, Payload>) : kept;
    run.append('EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW', {
      workflowExecutionContinuedAsNewEventAttributes: given({
        newExecutionRunId,
        workflowType: { name: type },
        taskQueue: { name: taskQueue, kind: 1 },
        input,
        memo: { fields: memo },
        searchAttributes: { indexedFields: searchAttributes },
        workflowTaskCompletedEventId,
      }),
    });
    run.continuedTo = newExecutionRunId;
    this.engine.close(run, 'WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW', () =>
      this.engine.begin({
        ...start,
        runId: newExecutionRunId,
        originalRunId: newExecutionRunId,
        continuedFrom: start.runId,
        type,
        taskQueue,
        input,
        memo,
        searchAttributes,
        requestId: undefined,
      }),
    );
  }
}

/** What a worker sends to record a local activity's end; the SDK's own commands have none for it. */
export const MARKER = 'holdfastMarker';
export interface MarkerCommand extends WorkflowCommand {
  [MARKER]: { markerName: string; details: Record<string, { payloads: Payload[] }>; failure?: object | undefined };
}

function retryRule(policy: Commands['scheduleActivity']['retryPolicy']): RetryRule {
  const initialMs = limitMs(policy?.initialInterval) ?? 1_000;
  return {
    initialMs,
    coefficient: policy?.backoffCoefficient || 2,
    maximumMs: limitMs(policy?.maximumInterval) ?? initialMs * 100,
    maximumAttempts: policy?.maximumAttempts ?? 0,
    nonRetryable: policy?.nonRetryableErrorTypes ?? [],
  };
}
