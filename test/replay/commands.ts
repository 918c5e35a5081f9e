import type { Payload } from '@temporalio/common';
import type { coresdk } from '@temporalio/proto';
import { type HistoryEvent, isRecord, ms, type Plain, plain, plainFailure } from './decode.js';

export type WorkflowCommand = coresdk.workflow_commands.IWorkflowCommand;

/** What the workflow's code asks for, by content: the same form for a command and for the event it became. */
export interface Command {
  kind: CommandKind;
  content: { [key: string]: Plain };
}

type CommandKind =
  | 'activity'
  | 'localActivity'
  | 'patch'
  | 'cancelActivity'
  | 'timer'
  | 'cancelTimer'
  | 'child'
  | 'searchAttributes'
  | 'memo'
  | 'acceptUpdate'
  | 'completeUpdate'
  | 'complete'
  | 'fail'
  | 'cancel'
  | 'continueAsNew';

/** What an event or a command names by a number alone. */
export interface Known {
  taskQueue: string;
  /** What the next run takes over, if the code names no others. */
  searchAttributes: Record<string, Payload>;
  memo: Record<string, Payload>;
  /** Of the event that scheduled it. */
  activityId(scheduledEventId: unknown): Plain | undefined;
  update(instanceId: string): Update;
}

export interface Update {
  id: string;
  name: string;
  input: Payload[];
  /** Of the process that asked. */
  identity: string;
}

function command(kind: CommandKind, content: Record<string, unknown>): Command {
  return { kind, content: (plain(content, kind) ?? {}) as Command['content'] };
}

/** @returns undefined for an event that no command brought about */
export function commandOfEvent(event: HistoryEvent, known: Known): Command | undefined {
  const found = contentOfEvent(event, known);
  if (found === undefined) return undefined;
  const [kind, content] = found;
  // What cancels repeats the summary of what it cancels, in some versions of the server.
  const summary = kind.startsWith('cancel') ? undefined : event.userMetadata?.summary;
  return command(kind, { ...content, summary });
}

function contentOfEvent(event: HistoryEvent, known: Known): [CommandKind, Record<string, unknown>] | undefined {
  const scheduled = event.activityTaskScheduledEventAttributes;
  if (scheduled) return ['activity', { ...activity(scheduled), activityType: scheduled.activityType?.name }];
  const canceled = event.activityTaskCancelRequestedEventAttributes;
  if (canceled) return ['cancelActivity', { activityId: known.activityId(canceled.scheduledEventId) }];
  if (event.markerRecordedEventAttributes) {
    const patch = patchOf(event);
    if (patch !== undefined) return ['patch', { patch }];
    const { activity_id: activityId, activity_type: activityType } = markerOf(event);
    return ['localActivity', { activityId, activityType }];
  }
  const timer = event.timerStartedEventAttributes;
  if (timer) return ['timer', { timerId: timer.timerId, ms: ms(timer.startToFireTimeout) }];
  if (event.timerCanceledEventAttributes)
    return ['cancelTimer', { timerId: event.timerCanceledEventAttributes.timerId }];
  const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
  if (child)
    return ['child', { ...started(child), workflowType: child.workflowType?.name, input: child.input?.payloads }];
  const attributes = event.upsertWorkflowSearchAttributesEventAttributes;
  // Core sends it with the marker of a patch.
  if (isPatchAttribute(event)) return undefined;
  if (attributes) return ['searchAttributes', { ...attributes.searchAttributes?.indexedFields }];
  const memo = event.workflowPropertiesModifiedEventAttributes;
  if (memo) return ['memo', { ...memo.upsertedMemo?.fields }];
  const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
  if (accepted) return ['acceptUpdate', request(known.update(accepted.protocolInstanceId ?? ''))];
  const completed = event.workflowExecutionUpdateCompletedEventAttributes;
  if (completed) {
    const { success, failure } = completed.outcome ?? {};
    return [
      'completeUpdate',
      { id: completed.meta?.updateId, result: success?.payloads?.[0], failure: plainFailure(failure) },
    ];
  }
  return endOfEvent(event);
}

function endOfEvent(event: HistoryEvent): [CommandKind, Record<string, unknown>] | undefined {
  const completed = event.workflowExecutionCompletedEventAttributes;
  if (completed) return ['complete', { result: completed.result?.payloads?.[0] }];
  const failed = event.workflowExecutionFailedEventAttributes;
  if (failed) return ['fail', { failure: plainFailure(failed.failure) }];
  if (event.workflowExecutionCanceledEventAttributes) return ['cancel', {}];
  const next = event.workflowExecutionContinuedAsNewEventAttributes;
  if (next)
    return ['continueAsNew', { ...started(next), workflowType: next.workflowType?.name, input: next.input?.payloads }];
  return undefined;
}

/** As the server will record it. */
export function commandOfCode({ userMetadata, ...one }: WorkflowCommand, known: Known): Command | undefined {
  const found = contentOfCode(one, known);
  return found && command(found[0], { ...found[1], summary: userMetadata?.summary });
}

function contentOfCode(one: WorkflowCommand, known: Known): [CommandKind, Record<string, unknown>] | undefined {
  if (one.scheduleActivity) return ['activity', activity(one.scheduleActivity, known)];
  if (one.scheduleLocalActivity) {
    const { localRetryThreshold, ...content } = one.scheduleLocalActivity;
    return ['localActivity', { ...activity(content), localRetryThreshold }];
  }
  if (one.setPatchMarker) return ['patch', { patch: one.setPatchMarker.patchId }];
  if (one.startTimer) {
    return ['timer', { timerId: String(one.startTimer.seq), ms: ms(one.startTimer.startToFireTimeout) }];
  }
  const child = one.startChildWorkflowExecution;
  if (child) return ['child', { ...started(child, known), workflowType: child.workflowType, input: child.input }];
  const attributes = one.upsertWorkflowSearchAttributes;
  if (attributes) return ['searchAttributes', { ...attributes.searchAttributes?.indexedFields }];
  if (one.modifyWorkflowProperties) return ['memo', { ...one.modifyWorkflowProperties.upsertedMemo?.fields }];
  if (one.completeWorkflowExecution) return ['complete', { result: one.completeWorkflowExecution.result }];
  if (one.failWorkflowExecution) return ['fail', { failure: plainFailure(one.failWorkflowExecution.failure) }];
  if (one.cancelWorkflowExecution) return ['cancel', {}];
  const next = one.continueAsNewWorkflowExecution;
  if (next) {
    const { memo, searchAttributes } = carriedOver(next, known);
    const content = { ...started({ ...next, memo, searchAttributes }, known), input: next.arguments };
    return ['continueAsNew', { ...content, workflowType: next.workflowType }];
  }
  const answer = one.updateResponse;
  if (answer) {
    const update = known.update(answer.protocolInstanceId ?? '');
    if (answer.accepted) return ['acceptUpdate', request(update)];
    return ['completeUpdate', { id: update.id, result: answer.completed, failure: plainFailure(answer.rejected) }];
  }
  return undefined;
}

function request({ id, name, input }: Update): Record<string, unknown> {
  return { id, name, input };
}

interface Activity {
  activityId?: string | null;
  activityType?: unknown;
  taskQueue?: unknown;
  input?: { payloads?: unknown } | null;
  arguments?: unknown;
  scheduleToCloseTimeout?: Span;
  scheduleToStartTimeout?: Span;
  startToCloseTimeout?: Span;
  heartbeatTimeout?: Span;
  retryPolicy?: Retries;
}
type Span = Parameters<typeof ms>[0];
type Retries = coresdk.workflow_commands.IScheduleActivity['retryPolicy'];

/** With what the server fills in, and the caps that it puts on it. */
function activity(one: Activity, known?: Known): Record<string, unknown> {
  const close = limit(one.scheduleToCloseTimeout);
  const start = least(limit(one.startToCloseTimeout), close);
  return {
    activityId: one.activityId,
    activityType: one.activityType,
    taskQueue: queueOf(one.taskQueue, known),
    input: one.arguments ?? one.input?.payloads ?? [],
    scheduleToCloseTimeout: close,
    scheduleToStartTimeout: limit(one.scheduleToStartTimeout) ?? close,
    startToCloseTimeout: start,
    heartbeatTimeout: least(limit(one.heartbeatTimeout), start),
    retry: retries(one.retryPolicy),
  };
}

interface Started {
  workflowId?: string | null;
  taskQueue?: unknown;
  workflowExecutionTimeout?: Span;
  workflowRunTimeout?: Span;
  memo?: unknown;
  searchAttributes?: unknown;
  retryPolicy?: Retries;
  parentClosePolicy?: unknown;
  workflowIdReusePolicy?: unknown;
}

function started(one: Started, known?: Known): Record<string, unknown> {
  return {
    workflowId: one.workflowId,
    taskQueue: queueOf(one.taskQueue, known),
    workflowExecutionTimeout: limit(one.workflowExecutionTimeout),
    workflowRunTimeout: limit(one.workflowRunTimeout),
    memo: fieldsOf(one.memo),
    searchAttributes: attributesOf(one.searchAttributes),
    retry: retries(one.retryPolicy),
    parentClosePolicy: one.parentClosePolicy,
    workflowIdReusePolicy: one.workflowIdReusePolicy,
  };
}

function carriedOver(next: Started, known: Known): Pick<Started, 'memo' | 'searchAttributes'> {
  const given = Object.keys(next.memo ?? {}).length > 0;
  return { memo: given ? next.memo : known.memo, searchAttributes: next.searchAttributes ?? known.searchAttributes };
}

/** Without those that have been cleared: some servers keep them, as null, and some do not. */
function attributesOf(map: unknown): unknown {
  const attributes = plain(fieldsOf(map));
  return isRecord(attributes)
    ? Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null))
    : undefined;
}

function fieldsOf(map: unknown): unknown {
  if (!isRecord(map)) return map;
  return map['fields'] ?? map['indexedFields'] ?? map;
}

function queueOf(queue: unknown, known?: Known): unknown {
  const name = isRecord(queue) ? queue['name'] : queue;
  return name === '' ? known?.taskQueue : name;
}

/** What the time-skipping server records for no limit; others record 0 or nothing. */
const TEN_YEARS_MS = 315_360_000_000;

function limit(span: Span): number | undefined {
  const length = ms(span);
  return length === 0 || length === TEN_YEARS_MS ? undefined : length;
}

function least(length: number | undefined, cap: number | undefined): number | undefined {
  return length === undefined ? undefined : Math.min(length, cap ?? length);
}

function retries(policy: Retries): unknown {
  if (!policy) return undefined;
  const initialInterval = limit(policy.initialInterval);
  return {
    initialInterval,
    backoffCoefficient: policy.backoffCoefficient,
    maximumInterval: limit(policy.maximumInterval) ?? (initialInterval && initialInterval * 100),
    maximumAttempts: policy.maximumAttempts || undefined,
    nonRetryableErrorTypes: policy.nonRetryableErrorTypes?.length ? policy.nonRetryableErrorTypes : undefined,
  };
}

export interface Marker {
  seq: number;
  attempt: number;
  activity_id: string;
  activity_type: string;
  complete_time: Span;
  backoff: Span;
  original_schedule_time: Span;
}

/** The id of the patch that the event records, if it does. */
export function patchOf({ markerRecordedEventAttributes: marker }: HistoryEvent): string | undefined {
  const [data] = marker?.details?.['patch-data']?.payloads ?? [];
  if (marker?.markerName !== 'core_patch' || !data?.data) return undefined;
  return (JSON.parse(Buffer.from(data.data).toString()) as { id: string }).id;
}

/** Whether the event is the search attribute by which the server shows the patches of a flow. */
export function isPatchAttribute({ upsertWorkflowSearchAttributesEventAttributes: upsert }: HistoryEvent): boolean {
  return upsert?.searchAttributes?.indexedFields?.['TemporalChangeVersion'] !== undefined;
}

/** @throws Error for a marker that no local activity left */
export function markerOf(event: HistoryEvent): Marker {
  const { markerName, details } = event.markerRecordedEventAttributes ?? {};
  const [data] = details?.['data']?.payloads ?? [];
  if (markerName !== 'core_local_activity' || !data?.data) throw new Error(`unknown marker ${String(markerName)}`);
  return JSON.parse(Buffer.from(data.data).toString()) as Marker;
}
