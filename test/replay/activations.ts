import type { Payload } from '@temporalio/common';
import type { coresdk } from '@temporalio/proto';
import {
  type Command,
  commandOfCode,
  commandOfEvent,
  type Known,
  isPatchAttribute,
  markerOf,
  patchOf,
  type Update,
  type WorkflowCommand,
} from './commands.js';
import { type History, type HistoryEvent, ms, type Plain, whole } from './decode.js';
import { type Job, jobsOf, rankOf, updateJob, updateOf } from './jobs.js';
import { cancelledJob, localJob, type Machine, resolutionOf } from './resolutions.js';
import { idOf, isCommandEvent, nameOf, tasksOf } from './tasks.js';

export type ActivationFields = { [Key in keyof coresdk.workflow_activation.IWorkflowActivation]: unknown };

/** What became of one command of the code: the event that it is in the history. */
export interface Recorded {
  event: HistoryEvent;
  expected: Command;
  actual: Command;
  /** Of a local activity: the marker says less than the command. */
  localSeq?: number;
}

/** The code and the history ask for different things: what follows can't be compared. */
class OutOfStep extends Error {
  constructor(event: HistoryEvent, expected: Command | undefined, actual: Command | undefined) {
    super(`event ${idOf(event)} (${nameOf(event)}) records ${said(expected)}, and the code asks for ${said(actual)}`);
  }
}

function said(one: Command | undefined): string {
  return one === undefined ? 'nothing' : `${one.kind} ${JSON.stringify(one.content)}`;
}

/**
 * Replays one history as Core does: gives out the activations that its events amount to, and matches the commands of
 * the code, in their order, to the events that they became. Payloads must be decoded. Knows no signals to
 * other flows, no cancelled children: flows of Holdfast use none; it throws where it meets one.
 */
export class Replay implements Known {
  readonly runId: string;
  readonly taskQueue: string;
  /** As the commands so far leave them. */
  readonly searchAttributes: Record<string, Payload>;
  readonly memo: Record<string, Payload>;
  readonly #tasks: HistoryEvent[][];
  readonly #onRecorded: (recorded: Recorded) => void;
  readonly #machines = new Map<string, Machine>();
  readonly #byEvent = new Map<number, Machine>();
  readonly #updates = new Map<string, Update>();
  readonly #flags = new Set<number>();
  readonly #admitted = new Map<string, Update>();
  #queue: Machine[] = [];
  #resolvedAhead: { seq: number; event: HistoryEvent }[] = [];
  #jobs: Job[] = [];
  #at = 0;
  #now = 0;
  #lastEvent = 0;
  #historySize = '0';
  #continueAsNewSuggested = false;

  /** @param onRecorded is told of each command that has found its event, of the same kind */
  constructor({ events }: History, onRecorded: (recorded: Recorded) => void = () => {}) {
    const first = events?.[0]?.workflowExecutionStartedEventAttributes;
    if (!events || !first) throw new Error('the history does not begin with the start of a workflow');
    this.#tasks = tasksOf(events);
    this.#onRecorded = onRecorded;
    // A run that a reset made has an id of its own, and the code may ask for it.
    const resets = events.map((event) => event.workflowTaskFailedEventAttributes?.newRunId);
    this.runId = resets.findLast((id) => id) ?? first.originalExecutionRunId ?? '';
    this.taskQueue = first.taskQueue?.name ?? '';
    this.searchAttributes = { ...first.searchAttributes?.indexedFields };
    this.memo = { ...first.memo?.fields };
  }

  /** Commands that have found no event: of a history that has ended, there must be none. */
  get pending(): Command[] {
    return this.#queue.filter(({ dropped }) => !dropped).map((machine) => machine.command);
  }

  /** Local activities whose result the history does not hold. */
  get openLocals(): Command[] {
    return [...this.#machines].flatMap(([key, { command, done }]) =>
      key.startsWith('local/') && !done ? [command] : [],
    );
  }

  /**
   * @returns fields for `WorkflowActivation.fromObject`; undefined at the end of the history
   * @throws OutOfStep when an event is not what the code has asked for
   */
  next(): ActivationFields | undefined {
    while (this.#jobs.length === 0) {
      if (this.#at === this.#tasks.length) return undefined;
      this.#applyTask();
    }
    const jobs = this.#jobs.toSorted((one, other) => rankOf(one) - rankOf(other));
    this.#jobs = [];
    return {
      runId: this.runId,
      timestamp: { seconds: String(Math.floor(this.#now / 1000)), nanos: (this.#now % 1000) * 1e6 },
      isReplaying: this.#at < this.#tasks.length,
      historyLength: this.#lastEvent,
      historySizeBytes: this.#historySize,
      continueAsNewSuggested: this.#continueAsNewSuggested,
      availableInternalFlags: [...this.#flags],
      jobs,
    };
  }

  /** Takes what the code answered to the last activation. */
  take(commands: readonly WorkflowCommand[]): void {
    for (const one of commands) this.#takeOne(one);
    this.#resolveLocals();
  }

  activityId(scheduledEventId: unknown): Plain | undefined {
    return this.#byEvent.get(whole(scheduledEventId))?.command.content['activityId'];
  }

  update(instanceId: string): Update {
    const update = this.#updates.get(instanceId);
    if (update === undefined) throw new Error(`there is no update ${instanceId}`);
    return update;
  }

  #applyTask(): void {
    const task = this.#tasks[this.#at] ?? [];
    const ahead = this.#tasks[this.#at + 1] ?? [];
    this.#at += 1;
    for (const event of [...task, ...ahead.filter((one) => nameOf(one) === 'WORKFLOW_TASK_COMPLETED').slice(0, 1)]) {
      const used = event.workflowTaskCompletedEventAttributes?.sdkMetadata?.langUsedFlags ?? [];
      for (const flag of used) this.#flags.add(flag);
    }
    for (const event of task) {
      if (isCommandEvent(event)) this.#record(event);
      else this.#receive(event);
      this.#lastEvent = idOf(event);
    }
    for (const event of ahead) this.#lookAhead(event);
  }

  /** What the code must have in the same task as when it first ran, although it was written at the task's end. */
  #lookAhead(event: HistoryEvent): void {
    const patchId = patchOf(event);
    if (patchId !== undefined) this.#jobs.push({ notifyHasPatch: { patchId } });
    else if (event.markerRecordedEventAttributes) {
      const { seq } = markerOf(event);
      if (this.#machines.get(`local/${seq}`)?.done) return;
      this.#resolvedAhead.push({ seq, event });
      this.#resolveLocals();
    }
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
    if (!accepted) return;
    const instanceId = accepted.protocolInstanceId ?? '';
    const update = this.#admitted.get(instanceId) ?? updateOf(accepted.acceptedRequest);
    this.#updates.set(instanceId, update);
    this.#jobs.push(updateJob(instanceId, update));
  }

  /** An event that no command of this code brought about. */
  #receive(event: HistoryEvent): void {
    const task = event.workflowTaskStartedEventAttributes;
    if (task || event.workflowExecutionStartedEventAttributes) this.#now = Math.max(this.#now, ms(event.eventTime));
    if (task) {
      this.#historySize = String(whole(task.historySizeBytes));
      this.#continueAsNewSuggested = task.suggestContinueAsNew ?? false;
    }
    this.#jobs.push(...jobsOf(event));
    const admitted = event.workflowExecutionUpdateAdmittedEventAttributes;
    if (admitted) {
      const update = updateOf(admitted.request);
      this.#admitted.set(update.id, update);
    }
    const resolution = resolutionOf(event);
    if (resolution === undefined) return;
    const machine = this.#byEvent.get(resolution.of);
    if (machine === undefined) throw new Error(`event ${idOf(event)} ends what event ${resolution.of} did not begin`);
    if (machine.done) return;
    machine.done = resolution.isEnd;
    this.#jobs.push(resolution.job(machine));
  }

  #record(event: HistoryEvent): void {
    if (isPatchAttribute(event)) return;
    const expected = commandOfEvent(event, this);
    if (expected?.kind === 'localActivity') {
      const { seq } = markerOf(event);
      const actual = this.#machines.get(`local/${seq}`)?.command;
      if (actual === undefined) throw new OutOfStep(event, expected, undefined);
      this.#onRecorded({ event, expected, actual, localSeq: seq });
      return;
    }
    let machine = this.#queue.shift();
    while (machine?.dropped) machine = this.#queue.shift();
    if (machine === undefined || expected?.kind !== machine.command.kind) {
      throw new OutOfStep(event, expected, machine?.command);
    }
    machine.recorded = true;
    this.#byEvent.set(idOf(event), machine);
    this.#onRecorded({ event, expected, actual: machine.command });
  }

  #takeOne(one: WorkflowCommand): void {
    if (one.cancelTimer) return this.#cancelTimer(`timer/${one.cancelTimer.seq}`);
    if (one.requestCancelActivity) return this.#cancelActivity(`activity/${one.requestCancelActivity.seq}`);
    // Its marker tells how it ended.
    if (one.requestCancelLocalActivity) return;
    const { updateResponse } = one;
    if (updateResponse?.rejected && !this.#machines.has(`update/${updateResponse.protocolInstanceId}`)) return;
    const command = commandOfCode(one, this);
    if (command === undefined) throw new Error(`the replay knows no command ${Object.keys(one).join(', ')}`);
    Object.assign(this.searchAttributes, one.upsertWorkflowSearchAttributes?.searchAttributes?.indexedFields);
    const machine: Machine = { command, seq: 0 };
    const seqOf = { ...one.startTimer, ...one.scheduleActivity, ...one.scheduleLocalActivity };
    machine.seq = seqOf.seq ?? one.startChildWorkflowExecution?.seq ?? 0;
    machine.cancellation = one.scheduleActivity?.cancellationType;
    if (one.scheduleLocalActivity) {
      this.#machines.set(`local/${machine.seq}`, machine);
      return;
    }
    if (one.startTimer || one.scheduleActivity) this.#machines.set(`${command.kind}/${machine.seq}`, machine);
    if (updateResponse?.accepted) this.#machines.set(`update/${updateResponse.protocolInstanceId}`, machine);
    this.#queue.push(machine);
  }

  #cancelTimer(key: string): void {
    const timer = this.#machine(key);
    if (!timer.recorded) timer.dropped = true;
    else if (!timer.done) {
      const { timerId = '' } = timer.command.content;
      this.#queue.push({ command: { kind: 'cancelTimer', content: { timerId } }, seq: timer.seq });
    }
    timer.done = true;
  }

  #cancelActivity(key: string): void {
    const activity = this.#machine(key);
    if (activity.done) return;
    const [tries, waits] = [0, 1];
    const type = activity.cancellation ?? tries;
    if (!activity.recorded) activity.dropped = true;
    else if (type === tries || type === waits) {
      const { activityId = '' } = activity.command.content;
      this.#queue.push({ command: { kind: 'cancelActivity', content: { activityId } }, seq: activity.seq });
      if (type === waits) return;
    }
    activity.done = true;
    this.#jobs.push(cancelledJob(activity));
  }

  #machine(key: string): Machine {
    const machine = this.#machines.get(key);
    if (machine === undefined) throw new Error(`the code cancels ${key}, which it never began`);
    return machine;
  }

  /** In the order of their markers, as long as the code has asked for them. */
  #resolveLocals(): void {
    for (;;) {
      const [first] = this.#resolvedAhead;
      const machine = first && this.#machines.get(`local/${first.seq}`);
      if (!first || !machine) return;
      this.#resolvedAhead.shift();
      machine.done = true;
      this.#jobs.push(localJob(first.event));
      // The clock of a flow never goes back.
      this.#now = Math.max(this.#now, ms(markerOf(first.event).complete_time));
    }
  }
}
