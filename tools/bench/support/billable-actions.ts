/** Fields of a history event that determine what Temporal Cloud bills for it. */
interface EventLike {
  workflowExecutionStartedEventAttributes?: unknown;
  timerStartedEventAttributes?: unknown;
  startChildWorkflowExecutionInitiatedEventAttributes?: unknown;
  activityTaskStartedEventAttributes?: { attempt?: number | null } | null;
  workflowExecutionSignaledEventAttributes?: unknown;
  workflowExecutionUpdateAcceptedEventAttributes?: unknown;
  upsertWorkflowSearchAttributesEventAttributes?: unknown;
  markerRecordedEventAttributes?: unknown;
  workflowTaskCompletedEventAttributes?: unknown;
}

/**
 * Counts the billable actions in a history: start, start of a child (beside the child's own), timer, each activity
 * attempt, signal, update, upsert, and one for all markers of a workflow task. Queries and heartbeats are not in it.
 */
export function billableActions(events: readonly EventLike[]): number {
  let actions = 0;
  let markersInTask = false;
  for (const event of events) {
    if (event.workflowTaskCompletedEventAttributes) markersInTask = false;
    if (event.markerRecordedEventAttributes) {
      if (!markersInTask) actions += 1;
      markersInTask = true;
    }
    if (event.activityTaskStartedEventAttributes) actions += event.activityTaskStartedEventAttributes.attempt ?? 1;
    const one =
      event.workflowExecutionStartedEventAttributes ??
      event.timerStartedEventAttributes ??
      event.startChildWorkflowExecutionInitiatedEventAttributes ??
      event.workflowExecutionSignaledEventAttributes ??
      event.workflowExecutionUpdateAcceptedEventAttributes ??
      event.upsertWorkflowSearchAttributesEventAttributes;
    if (one) actions += 1;
  }
  return actions;
}
