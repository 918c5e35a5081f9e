import proto from '@temporalio/proto';
import type { PayloadCodec } from '@temporalio/common';
import { type History, type HistoryEvent, plain, whole } from '../replay/decode.js';
import { updateOf } from '../replay/jobs.js';
import { isCommandEvent, nameOf } from '../replay/tasks.js';
import type { Arrival, ArrivalRule } from './engine/engine.js';
import type { Run } from './engine/run.js';

const TASK_STARTED = proto.temporal.api.enums.v1.EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED;
/** So long is waited for what is to come before, in virtual time; then the simulation is another than the history. */
const RETRY_BUDGET_MS = 300_000;

export interface ArrivalOptions {
  /** Which run of the history's type is meant, from 1. Default 1. */
  ofRun?: number;
  /** What the caller of an update is told only after something else: `{ 'answer capture': 'activity 4' }`. */
  answersAfter?: Readonly<Record<string, string>>;
}

/**
 * Lets what comes to one run (events, results, timers, updates, the beginnings of tasks) arrive in the order in which a
 * recorded history says that it came. It takes nothing else from the history: no command, no content of a result.
 */
export class Arrivals {
  /** Arrivals that were waited for in vain. */
  readonly overdue: string[] = [];
  readonly #order: readonly string[];
  readonly #type: string;
  readonly #codec: PayloadCodec;
  readonly #options: ArrivalOptions;
  readonly #runs = new Set<Run>();
  readonly #asked = new Map<string, number>();
  readonly #come = new Set<string>();
  readonly #waiting = new Set<() => void>();
  #eventsSeen = 0;

  /** @param codec that opens the signals of the simulation */
  constructor({ events = [] }: History, codec: PayloadCodec, options: ArrivalOptions = {}) {
    this.#order = orderOf(events ?? []);
    this.#type = events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? '';
    this.#codec = codec;
    this.#options = options;
  }

  readonly rule: ArrivalRule = (run, what, act) => {
    if (run.start.type !== this.#type) return act();
    if (!this.#runs.has(run)) this.#meet(run);
    if (!this.#isMeant(run)) return act();
    if (what.kind === 'signal') return void this.#signal(run, what, act);
    const name = 'name' in what ? `${what.kind} ${what.name}` : 'id' in what ? `${what.kind} ${what.id}` : what.kind;
    if (what.kind !== 'answer') return this.#inTurn(run, name, act);
    const after = this.#options.answersAfter?.[name];
    if (after === undefined) act();
    else this.#once(run, name, () => this.#come.has(after), act);
  };

  #isMeant(run: Run): boolean {
    return [...this.#runs].indexOf(run) === (this.#options.ofRun ?? 1) - 1;
  }

  /** The tasks that a run begins with have come in the run that it was made from. */
  #meet(run: Run): void {
    this.#runs.add(run);
    if (!this.#isMeant(run)) return;
    for (const { eventType } of run.events) if (eventType === TASK_STARTED) this.#come.add(this.#numbered('task'));
  }

  async #signal(run: Run, { name, input }: Arrival & { kind: 'signal' }, act: () => void): Promise<void> {
    this.#inTurn(run, signalName(name, await this.#codec.decode((input?.payloads ?? []) as never)), act);
  }

  #inTurn(run: Run, name: string, act: () => void): void {
    const numbered = this.#numbered(name);
    const at = this.#order.indexOf(numbered);
    // The sandbox sends more events than it did when this history was recorded.
    if (at === -1 && name.startsWith('signal ')) return;
    // Of anything else the history does not hold it can only have come after its end.
    const before = at === -1 ? undefined : this.#order.slice(0, at);
    const isDue = (): boolean => before?.every((one) => this.#come.has(one)) ?? false;
    this.#once(run, numbered, isDue, () => {
      act();
      if (!name.startsWith('activity ')) this.#come.add(numbered);
      this.#look(run);
      for (const look of [...this.#waiting]) look();
    });
  }

  #numbered(name: string): string {
    // Each attempt of an activity ends, and the history tells of the last.
    if (name.startsWith('activity ')) return name;
    const count = (this.#asked.get(name) ?? 0) + 1;
    this.#asked.set(name, count);
    return `${name} #${count}`;
  }

  /** Activities that have ended, however they did. */
  #look(run: Run): void {
    for (const event of run.events.slice(this.#eventsSeen)) {
      const ended = endedActivity(event, run.events);
      if (ended !== undefined) this.#come.add(ended);
    }
    this.#eventsSeen = run.events.length;
  }

  #once(run: Run, name: string, isDue: () => boolean, act: () => void): void {
    this.#look(run);
    if (isDue()) return act();
    const look = (): void => {
      this.#look(run);
      if (isDue() || !run.isOpen) end();
    };
    const end = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(look);
      run.watchers.delete(look);
      act();
    };
    const timer = setTimeout(() => {
      this.overdue.push(name);
      end();
    }, RETRY_BUDGET_MS);
    this.#waiting.add(look);
    run.watchers.add(look);
  }
}

/** All arrivals of a history, oldest first. */
function orderOf(events: readonly HistoryEvent[]): string[] {
  const order: string[] = [];
  let lastTask = 0;
  for (const [at, event] of events.entries()) {
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
    // The task that accepts an update has brought it.
    if (accepted?.acceptedRequest) order.splice(lastTask++, 0, `update ${updateOf(accepted.acceptedRequest).name}`);
    const signal = event.workflowExecutionSignaledEventAttributes;
    const name = signal && signalName(signal.signalName ?? '', signal.input?.payloads ?? []);
    if (name && !isRoutedNoMore(name)) order.push(name);
    const { timerId } = event.timerFiredEventAttributes ?? {};
    if (timerId) order.push(`timer ${timerId}`);
    if (event.workflowExecutionCancelRequestedEventAttributes) order.push('cancel');
    const ended = endedActivity(event, events);
    if (ended !== undefined) order.push(ended);
    if (nameOf(event) === 'WORKFLOW_TASK_STARTED' && !isForQuery(events, at)) lastTask = order.push('task') - 1;
  }
  const counts = new Map<string, number>();
  return order.map((name) => {
    if (name.startsWith('activity ')) return name;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return `${name} #${count}`;
  });
}

/** Older histories hold events that a payment was created, which the handler takes and routes to no flow any more. */
function isRoutedNoMore(name: string): boolean {
  return name.startsWith('signal transactionEvent payment.payment.create');
}

/** The time-skipping server makes a task for a query: nothing has come, and nothing is asked for. */
function isForQuery(events: readonly HistoryEvent[], startedAt: number): boolean {
  const [before, , , completed, next] = events.slice(startedAt - 2, startedAt + 3);
  if (before === undefined || !isCommandEvent(before) || completed === undefined) return false;
  return completed.workflowTaskCompletedEventAttributes != null && (next === undefined || !isCommandEvent(next));
}

function endedActivity(event: HistoryEvent, events: readonly HistoryEvent[]): string | undefined {
  const end =
    event.activityTaskCompletedEventAttributes ??
    event.activityTaskFailedEventAttributes ??
    event.activityTaskTimedOutEventAttributes ??
    event.activityTaskCanceledEventAttributes;
  if (!end) return undefined;
  const scheduled = events[whole(end.scheduledEventId) - 1]?.activityTaskScheduledEventAttributes;
  return `activity ${scheduled?.activityId ?? ''}`;
}

/** An event of the service by what it tells of: several are under way at once, and overtake each other. */
function signalName(name: string, payloads: readonly object[]): string {
  const [content] = (plain(payloads) ?? []) as { eventType?: string; status?: string }[];
  return ['signal', name, content?.eventType, content?.status].filter((part) => part !== undefined).join(' ');
}
