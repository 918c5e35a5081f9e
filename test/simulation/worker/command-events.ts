import { MARKER, type MarkerCommand } from '../engine/commands.js';
import { type Event, long, toMs, type WorkflowCommand } from '../engine/shapes.js';

/** What Core's machines call the event of a command. */
export function describe(event: Event): string {
  const timer = event.timerStartedEventAttributes;
  if (timer) return `timer ${timer.timerId} started`;
  const canceled = event.timerCanceledEventAttributes;
  if (canceled) return `timer ${canceled.timerId} canceled`;
  const activity = event.activityTaskScheduledEventAttributes;
  if (activity) return `activity ${activity.activityId} ${activity.activityType?.name} scheduled`;
  const cancel = event.activityTaskCancelRequestedEventAttributes;
  if (cancel) return `activity ${String(cancel.scheduledEventId)} cancel requested`;
  const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
  if (accepted) return `update ${accepted.protocolInstanceId} accepted`;
  const completed = event.workflowExecutionUpdateCompletedEventAttributes;
  if (completed) return `update ${completed.meta?.updateId} completed`;
  const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
  if (child) return `child ${child.workflowId} ${child.workflowType?.name} initiated`;
  if (event.upsertWorkflowSearchAttributesEventAttributes) return 'attributes upserted';
  if (event.workflowPropertiesModifiedEventAttributes) return 'properties modified';
  if (event.workflowExecutionCompletedEventAttributes) return 'completed';
  if (event.workflowExecutionFailedEventAttributes) return 'failed';
  if (event.workflowExecutionCanceledEventAttributes) return 'canceled';
  if (event.workflowExecutionContinuedAsNewEventAttributes) return 'continued as new';
  if (event.markerRecordedEventAttributes) {
    const patch = patchOf(event);
    if (patch !== undefined) return `patch ${patch}`;
    const { seq, type } = markerOf(event);
    return `local activity ${seq} ${type} ended`;
  }
  return `event type ${event.eventType}`;
}

export function markerOf(event: Event): { seq: number; type: string; completedAt: number } {
  const [payload] = event.markerRecordedEventAttributes?.details?.['data']?.payloads ?? [];
  const data = JSON.parse(Buffer.from(payload?.data ?? []).toString()) as {
    seq: number;
    activity_type: string;
    complete_time: { seconds: number; nanos: number } | null;
  };
  const { seq, activity_type: type, complete_time: time } = data;
  return {
    seq,
    type,
    completedAt: time === null ? 0 : (toMs({ seconds: long(time.seconds), nanos: time.nanos }) ?? 0),
  };
}

const PATCH_MARKER = 'core_patch';
const PATCH_DETAILS = 'patch-data';

/** The id of the patch that the event records, if it records one. */
export function patchOf(event: Event): string | undefined {
  const { markerName, details } = event.markerRecordedEventAttributes ?? {};
  if (markerName !== PATCH_MARKER) return undefined;
  const [payload] = details?.[PATCH_DETAILS]?.payloads ?? [];
  return (JSON.parse(Buffer.from(payload?.data ?? []).toString()) as { id: string }).id;
}

/**
 * What Core makes of a flow's first question for a patch: a marker, and a search attribute with all ids so far
 * (`patch_state_machine.rs`).
 */
export function patchCommands(id: string, known: readonly string[]): WorkflowCommand[] {
  const encoding = Buffer.from('json/plain');
  const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
  const details = {
    [PATCH_DETAILS]: { payloads: [{ metadata: { encoding }, data: json({ id, deprecated: false }) }] },
  };
  const marker: MarkerCommand = { [MARKER]: { markerName: PATCH_MARKER, details } };
  const ids = { metadata: { encoding, type: Buffer.from('KeywordList') }, data: json([...known, id].toSorted()) };
  const indexedFields = { TemporalChangeVersion: ids };
  return [marker, { upsertWorkflowSearchAttributes: { searchAttributes: { indexedFields } } }];
}
