import { randomUUID } from 'node:crypto';
import type { Engine } from './engine.js';
import { RESETTER } from './children.js';
import type { Run } from './run.js';
import {
  type Event,
  EventType,
  GRPC,
  GrpcError,
  limitMs,
  long,
  toMs,
  type UpdateRequest,
  WorkflowTaskFailedCause,
} from './shapes.js';

/**
 * Makes a new run from the history up to the named end of a workflow task, as `ResetWorkflowExecution` does: pending
 * activities and timers of that moment are taken up again, signals and accepted updates that came later, to this run or to
 * those that follow it, are given again.
 */
export function resetRun(
  engine: Engine,
  base: Run,
  request: {
    workflowTaskFinishEventId?: unknown;
    reason?: string | null;
    resetReapplyExcludeTypes?: readonly number[] | null;
  },
): Run {
  const finish = Number(request.workflowTaskFinishEventId ?? 0);
  const finishing = base.events[finish - 1];
  if (
    finishing?.workflowTaskCompletedEventAttributes == null &&
    finishing?.workflowTaskFailedEventAttributes == null &&
    finishing?.workflowTaskTimedOutEventAttributes == null &&
    finishing?.workflowTaskStartedEventAttributes == null
  )
    throw new GrpcError(GRPC.invalidArgument, `Workflow task finish ID ${finish} is not the end of a workflow task.`);
  const runId = randomUUID();
  const excluded = request.resetReapplyExcludeTypes ?? [];
  const later = [...base.events.slice(finish - 1), ...eventsOfLaterRuns(engine, base)];
  refuseSameUpdateTwice(later, excluded);
  const latest = engine.find(base.start.workflowId) ?? base;
  if (latest.isOpen) engine.terminate(latest, 'ResetWorkflowExecution', RESETTER);
  const { originalRunId } = base.start;
  const { parent } = latest.start;
  const run = engine.admit({ ...base.start, runId, originalRunId, parent, requestId: undefined });
  for (const event of base.events.slice(0, finish - 1)) copyEvent(engine, run, event);
  const startedEventId = run.events.length;
  run.append('EVENT_TYPE_WORKFLOW_TASK_FAILED', {
    workflowTaskFailedEventAttributes: {
      scheduledEventId: long(startedEventId - 1),
      startedEventId: long(startedEventId),
      cause: WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
      baseRunId: base.start.runId,
      newRunId: runId,
      failure: { message: request.reason ?? '', source: 'Server', resetWorkflowFailureInfo: {} },
    },
  });
  for (const event of later) giveAgain(run, event, excluded);
  takeUp(engine, run);
  engine.tasks.need(run);
  return run;
}

/** What the runs were told as which the base has continued (server 1.32, `reapplyContinueAsNewWorkflowEvents`). */
function eventsOfLaterRuns(engine: Engine, base: Run): Event[] {
  const next = base.continuedTo === undefined ? undefined : engine.find(base.start.workflowId, base.continuedTo);
  return next === undefined ? [] : [...next.events, ...eventsOfLaterRuns(engine, next)];
}

/** Two runs may have accepted an update of one id; the server can't give both to one run, and refuses the reset. */
function refuseSameUpdateTwice(later: readonly Event[], excluded: readonly number[]): void {
  if (excluded.includes(RESET_REAPPLY_EXCLUDE_TYPE_UPDATE)) return;
  const ids = later.flatMap((event) => requestOf(event)?.meta?.updateId ?? []);
  const twice = ids.find((id, at) => ids.indexOf(id) < at);
  if (twice !== undefined) throw new GrpcError(GRPC.internal, `Update ID ${twice} is already present in mutable state`);
}

/** Of one that is given again. An acceptance without it follows on an admission, which has it. */
function requestOf(event: Event): UpdateRequest | undefined {
  return (
    event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest ??
    event.workflowExecutionUpdateAdmittedEventAttributes?.request ??
    undefined
  );
}

/** Adds an event of another run, and what it says of the run. */
export function copyEvent(engine: Engine, run: Run, event: Event): void {
  const id = run.nextEventId;
  const started = event.workflowExecutionStartedEventAttributes;
  run.events.push({
    ...event,
    eventId: long(id),
    ...(started && { workflowExecutionStartedEventAttributes: { ...started } }),
  });
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal?.requestId) run.requestIds.add(signal.requestId);
  if (event.workflowExecutionCancelRequestedEventAttributes) run.cancelRequested = true;
  const attributes = event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes?.indexedFields;
  if (attributes) engine.upsertAttributes(run, attributes);
  const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields;
  if (memo) Object.assign(run.memo, memo);
  const admitted = event.workflowExecutionUpdateAdmittedEventAttributes?.request;
  const admittedId = admitted?.meta?.updateId;
  if (admitted && admittedId) {
    const [state, waiters] = ['sent', new Set<never>()] as const;
    run.updates.set(admittedId, { id: admittedId, request: admitted, state, admittedEventId: id, waiters });
  }
  const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
  const acceptedId = accepted?.protocolInstanceId;
  if (accepted && acceptedId) {
    run.updateCount += 1;
    const request = accepted.acceptedRequest ?? run.updates.get(acceptedId)?.request;
    if (request === undefined) throw new Error(`update ${acceptedId} was accepted and never asked for`);
    run.updates.set(acceptedId, {
      id: acceptedId,
      request,
      state: 'accepted',
      acceptedEventId: id,
      waiters: new Set(),
    });
  }
  const completed = event.workflowExecutionUpdateCompletedEventAttributes;
  const update = run.updates.get(completed?.meta?.updateId ?? '');
  if (completed?.outcome && update !== undefined) {
    update.state = 'completed';
    update.outcome = completed.outcome;
  }
}

const RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL = 1;
const RESET_REAPPLY_EXCLUDE_TYPE_UPDATE = 2;

/**
 * Signals and updates after the point are given again; the updates as events, since no caller waits for them. So is
 * what came of children that were ordered before the point. A request to cancel is not. The same of all runs as which
 * the run has continued (server 1.32, `reapplyEvents`).
 */
function giveAgain(run: Run, event: Event, excluded: readonly number[]): void {
  if (tellsOfChild(event) !== undefined) giveChildEventAgain(run, event);
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal && !excluded.includes(RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL)) {
    if (signal.requestId) run.requestIds.add(signal.requestId);
    run.append('EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED', { workflowExecutionSignaledEventAttributes: signal });
  }
  const request = requestOf(event);
  const id = request?.meta?.updateId;
  if (!request || !id || run.updates.has(id) || excluded.includes(RESET_REAPPLY_EXCLUDE_TYPE_UPDATE)) return;
  const admittedEventId = run.append('EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED', {
    workflowExecutionUpdateAdmittedEventAttributes: { request, origin: 1 },
  });
  run.updates.set(id, { id, request, state: 'sent', admittedEventId, waiters: new Set() });
}

type Order = NonNullable<Event['startChildWorkflowExecutionInitiatedEventAttributes']>;
type AboutChild = { initiatedEventId?: Event['eventId'] };

function tellsOfChild(event: Event): AboutChild | undefined {
  return event.childWorkflowExecutionStartedEventAttributes ?? endOfChild(event);
}

function endOfChild(event: Event): AboutChild | undefined {
  return (
    event.childWorkflowExecutionCompletedEventAttributes ??
    event.childWorkflowExecutionFailedEventAttributes ??
    event.childWorkflowExecutionTerminatedEventAttributes ??
    event.childWorkflowExecutionCanceledEventAttributes ??
    event.startChildWorkflowExecutionFailedEventAttributes ??
    undefined
  );
}

function giveChildEventAgain(run: Run, event: Event): void {
  const { eventId: _id, eventTime: _time, eventType, ...rest } = event;
  const initiated = Number(tellsOfChild(event)?.initiatedEventId);
  const order = run.events[initiated - 1]?.startChildWorkflowExecutionInitiatedEventAttributes;
  const ends = endOfChild(event) !== undefined;
  const isKnown = run.events.some(
    (known) => Number((ends ? endOfChild(known) : tellsOfChild(known))?.initiatedEventId) === initiated,
  );
  if (order != null && !isKnown) run.append(EventType[eventType ?? 0] as keyof typeof EventType, rest);
}

/**
 * What the copied history says is under way.
 * @param keepsTimes activities are as old as their events, as after a restore; a reset schedules them now
 */
export function takeUp(engine: Engine, run: Run, keepsTimes = false): void {
  const ended = new Set<number>();
  const firedTimers = new Set<string>();
  for (const event of run.events) {
    for (const attributes of [
      event.activityTaskCompletedEventAttributes,
      event.activityTaskFailedEventAttributes,
      event.activityTaskTimedOutEventAttributes,
      event.activityTaskCanceledEventAttributes,
    ])
      if (attributes) ended.add(Number(attributes.scheduledEventId));
    const timer = event.timerFiredEventAttributes ?? event.timerCanceledEventAttributes;
    if (timer?.timerId) firedTimers.add(timer.timerId);
    const child = endOfChild(event);
    if (child) ended.add(Number(child.initiatedEventId));
  }
  for (const event of run.events) {
    const id = Number(event.eventId);
    const activity = event.activityTaskScheduledEventAttributes;
    if (activity && !ended.has(id)) {
      const retry = activity.retryPolicy;
      const scheduledAt = keepsTimes ? (toMs(event.eventTime) ?? 0) : Date.now();
      engine.activities.schedule({
        run,
        scheduledEventId: id,
        activityId: activity.activityId ?? '',
        type: activity.activityType?.name ?? '',
        taskQueue: activity.taskQueue?.name ?? run.start.taskQueue,
        input: activity.input ?? undefined,
        startToCloseMs: limitMs(activity.startToCloseTimeout),
        scheduleToCloseMs: limitMs(activity.scheduleToCloseTimeout),
        heartbeatMs: limitMs(activity.heartbeatTimeout),
        priority: activity.priority,
        retry: {
          initialMs: limitMs(retry?.initialInterval) ?? 1_000,
          coefficient: retry?.backoffCoefficient || 2,
          maximumMs: limitMs(retry?.maximumInterval) ?? 100_000,
          maximumAttempts: retry?.maximumAttempts ?? 0,
          nonRetryable: retry?.nonRetryableErrorTypes ?? [],
        },
        scheduledAt,
        attemptScheduledAt: scheduledAt,
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
    const timer = event.timerStartedEventAttributes;
    if (timer?.timerId && !firedTimers.has(timer.timerId)) {
      const dueAt = (toMs(event.eventTime) ?? 0) + (toMs(timer.startToFireTimeout) ?? 0);
      engine.startTimer(run, { timerId: timer.timerId, startedEventId: id, dueAt });
    }
    const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
    if (child && !ended.has(id)) rejoinChild(engine, run, id, child);
  }
}

/** The child that the earlier run has started goes on, and tells the run that follows; one that never began is begun. */
function rejoinChild(engine: Engine, run: Run, initiatedEventId: number, order: Order): void {
  const started = run.events.find(
    (event) => Number(event.childWorkflowExecutionStartedEventAttributes?.initiatedEventId) === initiatedEventId,
  );
  const workflowId = order.workflowId ?? '';
  run.children.set(initiatedEventId, {
    initiatedEventId,
    workflowId,
    ...(started && { startedEventId: Number(started.eventId) }),
  });
  const child = engine.find(workflowId);
  if (started !== undefined && child !== undefined) engine.children.handOver(child, { run, initiatedEventId });
  if (started !== undefined) return;
  engine.children.initiateAfterReset(run, initiatedEventId, order.workflowIdReusePolicy ?? 0, {
    workflowId,
    type: order.workflowType?.name ?? '',
    taskQueue: order.taskQueue?.name ?? run.start.taskQueue,
    input: order.input ?? undefined,
    memo: order.memo?.fields ?? {},
    searchAttributes: order.searchAttributes?.indexedFields ?? {},
  });
}
