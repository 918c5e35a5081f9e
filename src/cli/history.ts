import type { Client, WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import { AcceptedUpdates } from '../client/accepted-updates.js';
import { SIGNAL_NAMES, UPDATE_NAMES } from '../contract/names.js';
import { Decoder, fieldOf } from './decode.js';

const READ_MS = 30_000;

export interface Highlight {
  /** ISO 8601 UTC. */
  at: string;
  kind: 'start' | 'call' | 'flow' | 'event' | 'command' | 'fault' | 'end';
  /** Name of the activity, message or fault. */
  name: string;
  text: string;
  /** Number of consecutive entries with the same name and text, merged into one. */
  times: number;
  lastAt: string;
}

export interface History {
  highlights: Highlight[];
  /** Number of requests for the outcome, which are not listed because they change nothing. */
  asked: number;
  /** The flow's result; undefined while the flow is open or when it can't be decoded. */
  result: unknown;
}

type Event = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];
type Entry = Pick<Highlight, 'kind' | 'name' | 'text'>;

/** The entries of a run's history that matter to an operator. Needs no worker. */
export async function readHistory(
  client: Client,
  { workflowId, runId }: Pick<WorkflowExecutionDescription, 'workflowId' | 'runId'>,
): Promise<History> {
  const handle = client.workflow.getHandle(workflowId, runId);
  const { events } = await client.withDeadline(Date.now() + READ_MS, () => handle.fetchHistory());
  const reader = new HistoryReader(new Decoder(client));
  for (const event of events ?? []) await reader.read(event);
  return reader.history;
}

/** Fields shown of a call's result and of an event. */
const OF_ANSWER = ['status', 'decision', 'category', 'subCategory', 'paymentId', 'transactionId', 'customerId'];
/** Fields shown of an event, including the event id that the service shows. */
const OF_EVENT = [...OF_ANSWER, 'eventId'];
const OF_COMMAND = [
  'who',
  'why',
  'status',
  'decision',
  'transactionId',
  'amount',
  'reference',
  'category',
  'commandId',
];

class HistoryReader {
  readonly history: History = { highlights: [], asked: 0, result: undefined };
  readonly #decoder: Decoder;
  readonly #updates = new AcceptedUpdates();
  readonly #scheduled = new Map<string, string>();
  readonly #attempts = new Map<string, number>();
  readonly #commands = new Map<string, string>();

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  async read(event: Event): Promise<void> {
    const entry =
      (await this.#call(event)) ??
      (await this.#child(event)) ??
      (await this.#message(event)) ??
      (await this.#turn(event));
    if (entry === undefined) return;
    const at = timeOf(event);
    const last = this.history.highlights.at(-1);
    if (last !== undefined && last.kind === entry.kind && last.name === entry.name && last.text === entry.text) {
      last.times += 1;
      last.lastAt = at;
    } else {
      this.history.highlights.push({ at, ...entry, times: 1, lastAt: at });
    }
  }

  /** Calls of the payment service: activities, including local ones. */
  async #call(event: Event): Promise<Entry | undefined> {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) this.#scheduled.set(String(event.eventId), scheduled.activityType?.name ?? '?');
    const started = event.activityTaskStartedEventAttributes;
    if (started) this.#attempts.set(String(started.scheduledEventId), started.attempt ?? 1);
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed) {
      const result = await this.#decoder.value(completed.result?.payloads?.[0]);
      return this.#entryOfCall(completed.scheduledEventId, `answered${describeFields(result, OF_ANSWER)}`);
    }
    const failed = event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes;
    if (failed) {
      const why = await this.#decoder.failure(failed.failure);
      return this.#entryOfCall(failed.scheduledEventId, `failed: ${why ?? 'no reason given'}`);
    }
    const marker = event.markerRecordedEventAttributes;
    if (marker?.markerName !== 'core_local_activity') return undefined;
    const name = fieldOf(await this.#decoder.value(marker.details?.['data']?.payloads?.[0]), 'activity_type');
    const why = await this.#decoder.failure(marker.failure);
    const result = await this.#decoder.value(marker.details?.['result']?.payloads?.[0]);
    const text = why === undefined ? `answered${describeFields(result, OF_ANSWER)}` : `failed: ${why}`;
    return { kind: 'call', name: name ?? 'local activity', text };
  }

  #entryOfCall(scheduledEventId: unknown, text: string): Entry {
    const id = String(scheduledEventId);
    const attempts = this.#attempts.get(id) ?? 1;
    const tries = attempts > 1 ? ` (after ${attempts} attempts)` : '';
    return { kind: 'call', name: this.#scheduled.get(id) ?? '?', text: `${text}${tries}` };
  }

  /** Child flows, such as the payments of a subscription. */
  async #child(event: Event): Promise<Entry | undefined> {
    const started = event.childWorkflowExecutionStartedEventAttributes;
    if (started) return childEntry(started, 'started');
    const completed = event.childWorkflowExecutionCompletedEventAttributes;
    if (completed) {
      return childEntry(
        completed,
        `ended${describeFields(await this.#decoder.value(completed.result?.payloads?.[0]), OF_ANSWER)}`,
      );
    }
    const failed = event.childWorkflowExecutionFailedEventAttributes;
    if (failed)
      return childEntry(failed, `failed: ${(await this.#decoder.failure(failed.failure)) ?? 'no reason given'}`);
    const stopped =
      event.childWorkflowExecutionTerminatedEventAttributes ??
      event.childWorkflowExecutionTimedOutEventAttributes ??
      event.childWorkflowExecutionCanceledEventAttributes;
    if (stopped) return childEntry(stopped, 'was stopped');
    const refused = event.startChildWorkflowExecutionFailedEventAttributes;
    return refused ? { kind: 'flow', name: refused.workflowId ?? '?', text: 'was there already' } : undefined;
  }

  /** Signals and updates. */
  async #message(event: Event): Promise<Entry | undefined> {
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal) {
      const name = signal.signalName ?? '?';
      const payload = await this.#decoder.value(signal.input?.payloads?.[0]);
      const isEvent = name === SIGNAL_NAMES.transactionEvent;
      return {
        kind: 'event',
        name: isEvent ? (fieldOf(payload, 'eventType') ?? name) : name,
        text: `came${describeFields(payload, OF_EVENT)}`,
      };
    }
    const accepted = this.#updates.acceptedBy(event);
    if (accepted) {
      const { name } = accepted;
      this.#commands.set(String(event.eventId), name);
      if (name === UPDATE_NAMES.outcome) {
        this.history.asked += 1;
        return undefined;
      }
      const argument = await this.#decoder.value(accepted.argument);
      return { kind: 'command', name, text: `given${describeFields(argument, OF_COMMAND)}` };
    }
    const completed = event.workflowExecutionUpdateCompletedEventAttributes;
    const name = completed && this.#commands.get(String(completed.acceptedEventId));
    if (completed == null || name === undefined || name === UPDATE_NAMES.outcome) return undefined;
    const why = await this.#decoder.failure(completed.outcome?.failure);
    return { kind: 'command', name: name ?? '?', text: why === undefined ? 'done' : `refused: ${why}` };
  }

  /** Events that started, hindered or ended the run. */
  async #turn(event: Event): Promise<Entry | undefined> {
    const started = event.workflowExecutionStartedEventAttributes;
    if (started) {
      const { continuedExecutionRunId: earlier, identity } = started;
      const text = earlier ? `continues run ${earlier}` : `started by ${identity || '?'}`;
      return { kind: 'start', name: started.workflowType?.name ?? '?', text };
    }
    const stalled = event.workflowTaskFailedEventAttributes;
    if (stalled) {
      const { failure } = stalled;
      if (failure?.resetWorkflowFailureInfo) return { kind: 'start', name: 'reset', text: failure.message ?? '' };
      // A message arrived during the task, so the server runs the task again. This is not a fault.
      if (failure?.message === 'UnhandledCommand') return undefined;
      const why = await this.#decoder.failure(failure);
      return { kind: 'fault', name: 'workflow task', text: `failed: ${why ?? 'no reason given'}` };
    }
    if (event.workflowTaskTimedOutEventAttributes) {
      return { kind: 'fault', name: 'workflow task', text: 'timed out: its worker was silent' };
    }
    const cancelled = event.workflowExecutionCancelRequestedEventAttributes;
    if (cancelled) {
      return {
        kind: 'command',
        name: 'cancel',
        text: `asked for by ${cancelled.identity || '?'}${because(cancelled.cause)}`,
      };
    }
    return await this.#end(event);
  }

  async #end(event: Event): Promise<Entry | undefined> {
    const completed = event.workflowExecutionCompletedEventAttributes;
    if (completed) {
      this.history.result = await this.#decoder.value(completed.result?.payloads?.[0]);
      return {
        kind: 'end',
        name: 'completed',
        text: describeFields(this.history.result, ['status']).replace(/^: /, ''),
      };
    }
    const failed = event.workflowExecutionFailedEventAttributes;
    if (failed) return { kind: 'end', name: 'failed', text: (await this.#decoder.failure(failed.failure)) ?? '' };
    const terminated = event.workflowExecutionTerminatedEventAttributes;
    if (terminated) {
      return { kind: 'end', name: 'terminated', text: `by ${terminated.identity || '?'}${because(terminated.reason)}` };
    }
    if (event.workflowExecutionCanceledEventAttributes) return { kind: 'end', name: 'cancelled', text: '' };
    if (event.workflowExecutionTimedOutEventAttributes) return { kind: 'end', name: 'timed out', text: '' };
    const next = event.workflowExecutionContinuedAsNewEventAttributes;
    return next ? { kind: 'end', name: 'continued as new', text: `run ${next.newExecutionRunId ?? '?'}` } : undefined;
  }
}

function childEntry(
  { workflowExecution }: { workflowExecution?: { workflowId?: string | null } | null },
  text: string,
): Entry {
  return { kind: 'flow', name: workflowExecution?.workflowId ?? '?', text };
}

/** The present fields as text, such as ": status Succeed, transactionId 7d…". */
function describeFields(value: unknown, names: readonly string[]): string {
  const parts = names.flatMap((name) => {
    const field = fieldOf(value, name);
    return field === undefined ? [] : [`${name} ${field}`];
  });
  return parts.length === 0 ? '' : `: ${parts.join(', ')}`;
}

function because(reason: string | null | undefined): string {
  return reason ? `: ${reason}` : '';
}

function timeOf({ eventTime }: Event): string {
  return new Date(Number(eventTime?.seconds ?? 0) * 1_000 + Math.floor((eventTime?.nanos ?? 0) / 1e6)).toISOString();
}
