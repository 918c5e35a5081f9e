import proto from '@temporalio/proto';
import { type HistoryEvent, whole } from './decode.js';

const { EventType } = proto.temporal.api.enums.v1;

/** The suffix that tells events apart, such as `TIMER_FIRED`. */
export function nameOf({ eventType }: HistoryEvent): string {
  return (EventType[eventType ?? 0] ?? '').replace('EVENT_TYPE_', '');
}

export function idOf({ eventId }: HistoryEvent): number {
  return whole(eventId);
}

const COMMAND_EVENTS = new Set([
  'ACTIVITY_TASK_SCHEDULED',
  'ACTIVITY_TASK_CANCEL_REQUESTED',
  'MARKER_RECORDED',
  'START_CHILD_WORKFLOW_EXECUTION_INITIATED',
  'TIMER_CANCELED',
  'TIMER_STARTED',
  'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
  'WORKFLOW_PROPERTIES_MODIFIED',
  'WORKFLOW_EXECUTION_CANCELED',
  'WORKFLOW_EXECUTION_COMPLETED',
  'WORKFLOW_EXECUTION_CONTINUED_AS_NEW',
  'WORKFLOW_EXECUTION_FAILED',
  'WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
  'WORKFLOW_EXECUTION_UPDATE_COMPLETED',
]);
const FINAL_EVENTS = new Set([
  'WORKFLOW_EXECUTION_CANCELED',
  'WORKFLOW_EXECUTION_COMPLETED',
  'WORKFLOW_EXECUTION_CONTINUED_AS_NEW',
  'WORKFLOW_EXECUTION_FAILED',
  'WORKFLOW_EXECUTION_TERMINATED',
  'WORKFLOW_EXECUTION_TIMED_OUT',
]);
/** They follow a task that was started for nothing. */
const TASK_CAME_TO_NOTHING = new Set([
  'WORKFLOW_TASK_FAILED',
  'WORKFLOW_TASK_TIMED_OUT',
  'WORKFLOW_EXECUTION_TIMED_OUT',
  'WORKFLOW_EXECUTION_TERMINATED',
  'WORKFLOW_EXECUTION_CANCELED',
]);

/** An event that a command of the workflow's code brought about. */
export function isCommandEvent(event: HistoryEvent): boolean {
  return COMMAND_EVENTS.has(nameOf(event));
}

function isFinalEvent(event: HistoryEvent): boolean {
  return FINAL_EVENTS.has(nameOf(event));
}

/**
 * The events of each task that the workflow's code saw: those since the one before it, up to its start. Tasks that
 * failed, timed out or only kept a local activity alive belong to the one after them. The rules are those of Core's
 * `find_end_index_of_next_wft_seq`; what follows the last start is a last part.
 */
export function tasksOf(events: readonly HistoryEvent[]): HistoryEvent[][] {
  const tasks: HistoryEvent[][] = [];
  for (let from = 0; from < events.length;) {
    const end = endOfTask(events, from);
    tasks.push(events.slice(from, end + 1));
    from = end + 1;
  }
  return tasks;
}

function endOfTask(events: readonly HistoryEvent[], from: number): number {
  const started: number[] = [];
  let sawCommand = false;
  let sawCommandOrStart = false;
  for (let at = from; at < events.length; at += 1) {
    const event = events[at] as HistoryEvent;
    if (isCommandEvent(event)) sawCommand = sawCommandOrStart = true;
    if (nameOf(event) === 'WORKFLOW_EXECUTION_STARTED') sawCommandOrStart = true;
    if (isFinalEvent(event)) return at;
    if (nameOf(event) !== 'WORKFLOW_TASK_STARTED') continue;
    const [next, afterNext] = [events[at + 1], events[at + 2]];
    if (next && TASK_CAME_TO_NOTHING.has(nameOf(next))) continue;
    started.push(at);
    if (next && nameOf(next) === 'WORKFLOW_TASK_COMPLETED' && afterNext) {
      // Completed without a command and scheduled again at once: it kept a local activity alive.
      if (!sawCommand && nameOf(afterNext) === 'WORKFLOW_TASK_SCHEDULED') continue;
      const accepted = afterNext.workflowExecutionUpdateAcceptedEventAttributes;
      const sequencedAt = whole(accepted?.acceptedRequestSequencingEventId);
      const before = accepted && started.findLast((start) => idOf(events[start] as HistoryEvent) < sequencedAt);
      return before ?? at;
    }
    if (sawCommandOrStart) return at;
  }
  return events.length - 1;
}
