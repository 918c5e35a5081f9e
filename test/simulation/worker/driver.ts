import type { LoadedDataConverter } from '@temporalio/common';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js';
import type { Query, Run, Update } from '../engine/run.js';
import {
  type Event,
  EventType,
  type Job,
  long,
  timestamp,
  toMs,
  type WorkflowCommand,
  WorkflowTaskFailedCause,
} from '../engine/shapes.js';
import { patchOf } from './command-events.js';
import { childJob, inOrder, resolutionOf, scheduledBy, updateJob } from './jobs.js';
import { type LocalCall, type LocalEnd, Machines } from './machines.js';
import { FlowPayloads } from './payloads.js';
import { createFlow, type Flow, initializeJob, seedOf } from './runtime.js';
import { endOfNextTask, isBrokenOff, isCommandEvent } from './sequence.js';

/** An error of the flow's code that fails its task, as the SDK reports it. */
class TaskFailure extends Error {
  override readonly name = 'TaskFailure';
}

export interface DriverDeps {
  readonly runtime: ReusableVMWorkflowCreator;
  readonly converter: LoadedDataConverter;
  readonly namespace: string;
}

const wholeReplays = new WeakMap<Run, number>();

/** Whether the whole history, as it is now, has been replayed without a fault: for a query, say. */
export const isReplayed = (run: Run): boolean => wholeReplays.get(run) === run.events.length;

/** One flow in a worker's cache: turns its history into activations as Core does, and its commands into answers. */
export class Driver {
  private flow: Flow | undefined;
  private readonly machines = new Machines();
  private processed = 0;
  /** Event at which the last task started. */
  started = 0;
  /** What the last task was told of the run. */
  private told: Event['workflowTaskStartedEventAttributes'];
  /** Of the SDK's behaviours those that the flow lives by: noted in its history, so that a replay keeps to them. */
  private readonly flags = new Set<number>();
  private newFlags: number[] = [];
  private readonly payloads: FlowPayloads;
  /** Activations so far. */
  activations = 0;

  constructor(
    private readonly deps: DriverDeps,
    readonly run: Run,
  ) {
    this.payloads = new FlowPayloads(deps.converter, deps.namespace, run.start.workflowId);
  }

  /**
   * Brings the flow up to the last event: replays what is history, then acts on what is new.
   * @param isTask the last share is a workflow task to be answered; else all of it is history
   * @throws Nondeterminism, TaskFailure
   */
  async advance(events: readonly Event[], updates: readonly Update[], isTask = true): Promise<void> {
    const isWhole = this.processed === 0 && !isTask;
    await this.advanceTo(events, updates, isTask);
    if (isWhole) wholeReplays.set(this.run, events.length);
  }

  private async advanceTo(events: readonly Event[], updates: readonly Update[], isTask: boolean): Promise<void> {
    for (;;) {
      const end = endOfNextTask(events, this.started);
      const last = events[end];
      if (last === undefined || Number(last.eventId) <= this.processed) return;
      const isLast = end === events.length - 1;
      this.apply(events, end);
      const isReplaying = !isLast || !isTask;
      if (!isLast) this.lookAhead(events, end);
      if (isLast && isTask)
        for (const update of updates) this.machines.jobs.push(updateJob(update.id, update.request, true));
      await this.pump(isReplaying);
      if (isReplaying) this.machines.dropRejections();
      if (isLast) return;
    }
  }

  /** Hands jobs to the flow until none is left. */
  async pump(isReplaying: boolean): Promise<void> {
    while (this.machines.jobs.length > 0) await this.activate(isReplaying);
  }

  /** Local activities that nobody runs yet; they count as running from now on. */
  takeLocals(): { seq: number; call: LocalCall }[] {
    const taken: { seq: number; call: LocalCall }[] = [];
    for (const [seq, local] of this.machines.locals) {
      if (local.state !== 'waiting') continue;
      local.state = 'running';
      local.startedAt = Date.now();
      taken.push({ seq, call: local.call });
    }
    return taken;
  }

  get runningLocals(): number {
    return [...this.machines.locals.values()].filter(({ state }) => state === 'running').length;
  }

  localEnded(seq: number, end: LocalEnd, attempt: number): void {
    this.machines.localEnded(seq, end, attempt, Date.now());
  }

  /** What is to be sent now. It stays known until its events are seen. */
  takeCommands(): { commands: WorkflowCommand[]; flags: number[] } {
    const commands = this.machines.queue.map(({ command }) => command);
    this.machines.dropRejections();
    const flags = this.newFlags;
    this.newFlags = [];
    return { commands, flags };
  }

  /**
   * A task for an update that was rejected has never been: its two events are given to others.
   * @param started the task before it
   * @param written how many events the history has
   */
  forgetTask(started: number, written: number): void {
    this.started = started;
    this.processed = written;
  }

  async query(query: Query, id: string): Promise<void> {
    const job: Job = { queryWorkflow: { queryId: id, queryType: query.type, arguments: query.args, headers: {} } };
    const completion = await this.send([job], true, true);
    const answered = completion.successful?.commands?.find(({ respondToQuery }) => respondToQuery?.queryId === id);
    const { succeeded, failed } = answered?.respondToQuery ?? {};
    if (succeeded) query.answer({ payloads: succeeded.response ? [succeeded.response] : [] });
    else query.answer({ failed: failed?.message ?? completion.failed?.failure?.message ?? 'the query failed' });
  }

  async dispose(): Promise<void> {
    const { flow } = this;
    this.flow = undefined;
    await flow?.dispose();
  }

  private async activate(isReplaying: boolean): Promise<void> {
    const jobs = inOrder(this.machines.jobs);
    this.machines.jobs = [];
    const completion = await this.send(jobs, isReplaying, !isReplaying);
    if (completion.failed != null) {
      const error = await decodeOptionalFailureToOptionalError(this.deps.converter, completion.failed.failure);
      // The stack of an error that nobody has caught begins with a piece of the bundle, and not with what it says.
      throw new TaskFailure([error?.message ?? 'unknown', error?.stack].join('\n'));
    }
    this.machines.take(completion.successful?.commands ?? []);
  }

  /** @param leaves whether what the flow says leaves the worker, so that it is encoded */
  private async send(jobs: Job[], isReplaying: boolean, leaves: boolean) {
    this.activations += 1;
    const { run, deps } = this;
    const activation = {
      runId: run.start.runId,
      timestamp: timestamp(this.machines.now),
      isReplaying,
      historyLength: this.processed,
      historySizeBytes: this.told?.historySizeBytes ?? long(0),
      continueAsNewSuggested: this.told?.suggestContinueAsNew ?? false,
      targetWorkerDeploymentVersionChanged: this.told?.targetWorkerDeploymentVersionChanged ?? false,
      ...(run.version && { deploymentVersionForCurrentTask: run.version }),
      availableInternalFlags: [...this.flags],
      jobs,
    };
    const decoded = await this.payloads.decodeActivation(activation);
    this.flow ??= await createFlow(deps.runtime, run, deps.namespace, this.machines.now);
    const completion = await this.flow.activate(decoded as never);
    await this.flow.getAndResetSinkCalls();
    for (const flag of completion.successful?.usedInternalFlags ?? []) {
      if (!this.flags.has(flag) && !isReplaying) this.newFlags.push(flag);
      this.flags.add(flag);
    }
    // What a replay asks for is in the history, but for local activities that have not ended there.
    const isSent = leaves || completion.successful?.commands?.some((one) => one.scheduleLocalActivity != null);
    return await this.payloads.encodeCompletion(completion, isSent === true);
  }

  private apply(events: readonly Event[], end: number): void {
    for (let index = this.processed; index <= end; index += 1) {
      const event = events[index];
      if (event === undefined) break;
      if (Number(event.eventId) !== this.processed + 1)
        throw new Error(`event ${String(event.eventId)} follows ${this.processed}`);
      this.noteFlags(event);
      this.applyEvent(event, events, index, end);
      this.processed += 1;
    }
    this.started = Number(events[end]?.eventId);
    this.noteFlags(events[end + 1]);
  }

  private noteFlags(event: Event | undefined): void {
    const { langUsedFlags } = event?.workflowTaskCompletedEventAttributes?.sdkMetadata ?? {};
    for (const flag of langUsedFlags ?? []) this.flags.add(flag);
  }

  private applyEvent(event: Event, events: readonly Event[], index: number, end: number): void {
    const { machines } = this;
    if (isCommandEvent(event)) return machines.matchEvent(event);
    const time = toMs(event.eventTime) ?? 0;
    switch (event.eventType) {
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
        machines.now = time;
        machines.jobs.push(initializeJob(this.run, this.deps.namespace));
        return;
      case EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED: {
        this.told = event.workflowTaskStartedEventAttributes;
        if (index === end || !isBrokenOff(events, index)) machines.now = Math.max(machines.now, time);
        return;
      }
      case EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED: {
        const attributes = event.workflowTaskFailedEventAttributes;
        if (attributes?.cause !== WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW) return;
        const [seed = 0] = seedOf(attributes.newRunId ?? '');
        machines.jobs.push({ updateRandomSeed: { randomnessSeed: long(seed) } });
        return;
      }
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED: {
        const signal = event.workflowExecutionSignaledEventAttributes;
        machines.jobs.push({
          signalWorkflow: {
            signalName: signal?.signalName ?? '',
            input: signal?.input?.payloads ?? [],
            identity: signal?.identity ?? '',
            headers: {},
          },
        });
        return;
      }
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED:
        machines.jobs.push({ cancelWorkflow: { reason: '' } });
        return;
      case EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED: {
        const request = event.workflowExecutionUpdateAdmittedEventAttributes?.request;
        // In a replay the event of its acceptance brings it, and nothing brings what was rejected.
        const isReplayed = events
          .slice(index)
          .some((one) => one.eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED);
        if (request?.meta?.updateId && !isReplayed) machines.jobs.push(updateJob(request.meta.updateId, request, true));
        return;
      }
      case EventType.EVENT_TYPE_TIMER_FIRED: {
        const seq = machines.timerFired(Number(event.timerFiredEventAttributes?.startedEventId));
        if (seq !== undefined) machines.jobs.push({ fireTimer: { seq } });
        return;
      }
      case EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
      case EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED:
      case EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
      case EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED: {
        const { seq, activity } = machines.activityOf(scheduledBy(event));
        if (activity.done) return;
        activity.done = true;
        machines.jobs.push(resolutionOf(event, seq, activity));
        return;
      }
      default: {
        const job = childJob(event, (id) => machines.seqOfInitiated(id));
        if (job !== undefined) machines.jobs.push(job);
      }
    }
  }

  /** What this share led to stands behind it: local activities that have ended, updates that were accepted. */
  private lookAhead(events: readonly Event[], end: number): void {
    const until = endOfNextTask(events, this.started);
    for (const event of events.slice(end + 1, until + 1)) {
      const { sdkMetadata } = event.workflowTaskCompletedEventAttributes ?? {};
      for (const flag of sdkMetadata?.langUsedFlags ?? []) this.flags.add(flag);
      const patchId = patchOf(event);
      if (patchId !== undefined) this.machines.jobs.push({ notifyHasPatch: { patchId } });
      else if (event.markerRecordedEventAttributes) this.machines.preresolve(event);
      const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
      if (!accepted?.protocolInstanceId) continue;
      const request = accepted.acceptedRequest ?? admittedRequest(events, accepted.protocolInstanceId);
      if (request) this.machines.jobs.push(updateJob(accepted.protocolInstanceId, request, false));
    }
  }
}

/** Of an update that a reset gave again: its acceptance does not repeat it. */
function admittedRequest(events: readonly Event[], id: string): Update['request'] | null | undefined {
  for (const { workflowExecutionUpdateAdmittedEventAttributes: admitted } of events)
    if (admitted?.request?.meta?.updateId === id) return admitted.request;
  return undefined;
}
