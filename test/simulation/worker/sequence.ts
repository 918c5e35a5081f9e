import { type Event, EventType } from '../engine/shapes.js';

const COMMAND_EVENTS = new Set<number>([
  EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED,
  EventType.EVENT_TYPE_MARKER_RECORDED,
  EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED,
  EventType.EVENT_TYPE_TIMER_CANCELED,
  EventType.EVENT_TYPE_TIMER_STARTED,
  EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
  EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED,
]);

const FINAL_EVENTS = new Set<number>([
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
]);

const BROKEN_OFF = new Set<number | null | undefined>([
  EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
]);

export const isCommandEvent = ({ eventType }: Event): boolean => COMMAND_EVENTS.has(eventType ?? 0);
const isFinalEvent = ({ eventType }: Event): boolean => FINAL_EVENTS.has(eventType ?? 0);
const is = (event: Event | undefined, type: number): boolean => event?.eventType === type;

/** True for the start of a workflow task that came to nothing: no activation belongs to it. */
export function isBrokenOff(events: readonly Event[], startedIndex: number): boolean {
  return BROKEN_OFF.has(events[startedIndex + 1]?.eventType);
}

/**
 * Index of the last event of the next activation's share, after the event `from` (an id): a port of Core's
 * `find_end_index_of_next_wft_seq` (crates/sdk-core, history_update.rs) for a history that is complete. A heartbeat of a
 * task is no share of its own, and neither is a task that failed or timed out.
 */
export function endOfNextTask(events: readonly Event[], from: number): number {
  let sawCommand = false;
  let sawCommandOrStart = false;
  const startedTasks: { id: number; index: number }[] = [];
  // Ids count from 1 without a gap.
  for (let index = from; index < events.length; index += 1) {
    const event = events[index];
    if (event === undefined) break;
    const id = index + 1;
    if (isCommandEvent(event)) {
      sawCommand = true;
      sawCommandOrStart = true;
    }
    if (is(event, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED)) sawCommandOrStart = true;
    if (isFinalEvent(event)) return index;
    if (!is(event, EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED)) continue;
    startedTasks.push({ id, index });
    const next = events[index + 1];
    if (next === undefined) {
      if (sawCommandOrStart) return index;
      continue;
    }
    if (isBrokenOff(events, index)) {
      startedTasks.pop();
      continue;
    }
    if (is(next, EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)) {
      const after = events[index + 2];
      if (after !== undefined) {
        if (!sawCommand && is(after, EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED)) continue;
        const accepted = after.workflowExecutionUpdateAcceptedEventAttributes;
        if (accepted) {
          const sequencedAt = Number(accepted.acceptedRequestSequencingEventId);
          const task = startedTasks.findLast((one) => one.id < sequencedAt);
          if (task !== undefined) return task.index;
        }
        return index;
      }
    }
    if (sawCommandOrStart) return index;
  }
  return events.length - 1;
}
