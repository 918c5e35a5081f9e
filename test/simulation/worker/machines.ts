import { MARKER, type MarkerCommand } from '../engine/commands.js';
import {
  ActivityCancellationType,
  type Event,
  type Failure,
  type Job,
  type Payload,
  timestamp,
  type WorkflowCommand,
} from '../engine/shapes.js';
import { describe, markerOf, patchCommands, patchOf } from './command-events.js';
import { cancelledAtOnce } from './jobs.js';

export type LocalCall = NonNullable<WorkflowCommand['scheduleLocalActivity']>;
export type LocalEnd = { result: Payload | undefined } | { failure: Failure };

interface Pending {
  command: WorkflowCommand;
  /** Core's word for what the event of the command must be. */
  expects: string;
}

interface Activity {
  type: string;
  id: string;
  cancelType: number;
  pending: Pending | undefined;
  scheduledEventId: number;
  done: boolean;
}

interface Local {
  call: LocalCall;
  state: 'waiting' | 'running' | 'resolved';
  startedAt: number;
}

/** The code does not do what its history says that it did. */
export class Nondeterminism extends Error {
  override readonly name = 'Nondeterminism';
}

/** What Core's state machines know of a flow: its commands until their events are seen, and what each event is news of. */
export class Machines {
  /** Commands whose events have not been seen yet. */
  queue: Pending[] = [];
  jobs: Job[] = [];
  /** Local activities that are to be run by this worker. */
  readonly locals = new Map<number, Local>();
  private readonly activities = new Map<number, Activity>();
  private readonly timers = new Map<number, { pending: Pending | undefined }>();
  private readonly seqOfEvent = new Map<number, number>();
  private readonly preresolved: { seq: number; end: LocalEnd; completedAt: number }[] = [];
  private readonly awaitedMarkers = new Set<number>();
  now = 0;

  activityOf(scheduledEventId: number): { seq: number; activity: Activity } {
    const seq = this.seqOfEvent.get(scheduledEventId);
    const activity = seq === undefined ? undefined : this.activities.get(seq);
    if (seq === undefined || activity === undefined)
      throw new Nondeterminism(`no activity was scheduled by event ${scheduledEventId}`);
    return { seq, activity };
  }

  seqOfInitiated(eventId: number): number | undefined {
    return this.seqOfEvent.get(eventId);
  }

  /** It fires: whoever cancels it after that asks for nothing. */
  timerFired(startedEventId: number): number | undefined {
    const seq = this.seqOfEvent.get(startedEventId);
    if (seq !== undefined) this.timers.delete(seq);
    return seq;
  }

  /** What the flow asked for in one activation. */
  take(commands: readonly WorkflowCommand[]): void {
    for (const command of commands) this.takeOne(command);
    this.applyPreresolved();
  }

  private takeOne(command: WorkflowCommand): void {
    if (command.startTimer != null) {
      const pending = this.push(command, `timer ${command.startTimer.seq} started`);
      this.timers.set(command.startTimer.seq ?? 0, { pending });
    } else if (command.cancelTimer != null) {
      const timer = this.timers.get(command.cancelTimer.seq ?? 0);
      this.timers.delete(command.cancelTimer.seq ?? 0);
      if (timer?.pending !== undefined) this.unsend(timer.pending);
      else if (timer !== undefined) this.push(command, `timer ${command.cancelTimer.seq} canceled`);
    } else if (command.scheduleActivity != null) {
      const { seq, activityType, activityId, cancellationType } = command.scheduleActivity;
      const id = activityId || String(seq);
      const pending = this.push(command, `activity ${id} ${activityType} scheduled`);
      this.activities.set(seq ?? 0, {
        type: activityType ?? '',
        id,
        cancelType: cancellationType ?? 0,
        pending,
        scheduledEventId: 0,
        done: false,
      });
    } else if (command.requestCancelActivity != null) {
      this.cancelActivity(command.requestCancelActivity.seq ?? 0, command);
    } else if (command.scheduleLocalActivity != null) {
      const call = command.scheduleLocalActivity;
      this.locals.set(call.seq ?? 0, { call, state: 'waiting', startedAt: 0 });
    } else if (command.updateResponse != null) {
      const { protocolInstanceId: id, accepted, rejected } = command.updateResponse;
      if (
        rejected != null &&
        !this.queue.some(({ expects }) => expects === `update ${id} accepted`) &&
        !this.accepted.has(id ?? '')
      ) {
        this.push(command, `update ${id} rejected`);
        return;
      }
      if (accepted != null) this.accepted.add(id ?? '');
      this.push(command, `update ${id} ${accepted != null ? 'accepted' : 'completed'}`);
    } else if (command.startChildWorkflowExecution != null) {
      const { workflowId, workflowType } = command.startChildWorkflowExecution;
      this.push(command, `child ${workflowId} ${workflowType} initiated`);
    } else if (command.upsertWorkflowSearchAttributes != null) this.push(command, 'attributes upserted');
    else if (command.modifyWorkflowProperties != null) this.push(command, 'properties modified');
    else if (command.completeWorkflowExecution != null) this.push(command, 'completed');
    else if (command.failWorkflowExecution != null) this.push(command, 'failed');
    else if (command.cancelWorkflowExecution != null) this.push(command, 'canceled');
    else if (command.continueAsNewWorkflowExecution != null) this.push(command, 'continued as new');
    else if (command.setPatchMarker != null) this.patch(command.setPatchMarker.patchId ?? '');
    else throw new Error(`the simulated worker does not know the command ${JSON.stringify(Object.keys(command))}`);
  }

  private readonly accepted = new Set<string>();
  private readonly patches: string[] = [];

  private patch(id: string): void {
    const [marker, attribute] = patchCommands(id, this.patches);
    if (marker !== undefined) this.push(marker, `patch ${id}`);
    if (attribute !== undefined) this.push(attribute, 'attributes upserted');
    this.patches.push(id);
  }

  /** The event of a command: it must be the next one that the flow has asked for. */
  matchEvent(event: Event): void {
    const seen = describe(event);
    if (event.markerRecordedEventAttributes && patchOf(event) === undefined) {
      const seq = markerOf(event).seq;
      if (this.awaitedMarkers.delete(seq)) return;
    }
    const [next] = this.queue;
    if (next === undefined) throw new Nondeterminism(`the history has "${seen}", the flow asked for nothing more`);
    if (next.expects !== seen)
      throw new Nondeterminism(`the history has "${seen}", the flow asked for "${next.expects}"`);
    this.queue.shift();
    const id = Number(event.eventId);
    const { command } = next;
    if (command.scheduleActivity != null) {
      const activity = this.activities.get(command.scheduleActivity.seq ?? 0);
      if (activity) Object.assign(activity, { pending: undefined, scheduledEventId: id });
      this.seqOfEvent.set(id, command.scheduleActivity.seq ?? 0);
    } else if (command.startTimer != null) {
      this.timers.set(command.startTimer.seq ?? 0, { pending: undefined });
      this.seqOfEvent.set(id, command.startTimer.seq ?? 0);
    } else if (command.startChildWorkflowExecution != null) {
      this.seqOfEvent.set(id, command.startChildWorkflowExecution.seq ?? 0);
    }
  }

  /** Rejections leave no event: once sent they are done. */
  dropRejections(): void {
    this.queue = this.queue.filter(({ expects }) => !expects.endsWith(' rejected'));
  }

  /** A marker further on in the history: its activity is not run again. */
  preresolve(event: Event): void {
    const { seq, completedAt } = markerOf(event);
    if (this.locals.get(seq)?.state === 'resolved') return;
    const { failure, details } = event.markerRecordedEventAttributes ?? {};
    const [result] = details?.['result']?.payloads ?? [];
    this.preresolved.push({ seq, completedAt, end: failure ? { failure } : { result } });
    this.applyPreresolved();
  }

  private applyPreresolved(): void {
    for (;;) {
      const [next] = this.preresolved;
      const local = next === undefined ? undefined : this.locals.get(next.seq);
      if (next === undefined || local === undefined) return;
      this.preresolved.shift();
      local.state = 'resolved';
      this.awaitedMarkers.add(next.seq);
      this.resolveLocal(next.seq, next.end, next.completedAt);
    }
  }

  /** This worker has run it: its marker is a command from now on. */
  localEnded(seq: number, end: LocalEnd, attempt: number, completedAt: number): void {
    const local = this.locals.get(seq);
    if (local === undefined || local.state !== 'running') return;
    local.state = 'resolved';
    this.resolveLocal(seq, end, completedAt);
    const { activityId, activityType } = local.call;
    const time = timestamp(completedAt);
    const data = {
      seq,
      attempt,
      activity_id: activityId || String(seq),
      activity_type: activityType,
      complete_time: { seconds: Number(time.seconds), nanos: time.nanos },
      backoff: null,
      original_schedule_time: { seconds: Math.floor(local.startedAt / 1000), nanos: 0 },
    };
    const details: MarkerCommand[typeof MARKER]['details'] = {
      data: {
        payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(data)) }],
      },
      ...('result' in end && end.result !== undefined && { result: { payloads: [end.result] } }),
    };
    const command: MarkerCommand = {
      [MARKER]: { markerName: 'core_local_activity', details, ...('failure' in end && { failure: end.failure }) },
    };
    this.push(command, `local activity ${seq} ${activityType} ended`);
  }

  private resolveLocal(seq: number, end: LocalEnd, completedAt: number): void {
    const result =
      'failure' in end
        ? { failed: { failure: end.failure } }
        : { completed: end.result === undefined ? {} : { result: end.result } };
    this.jobs.push({ resolveActivity: { seq, isLocal: true, result } });
    this.now = Math.max(this.now, completedAt);
  }

  private cancelActivity(seq: number, command: WorkflowCommand): void {
    const activity = this.activities.get(seq);
    if (activity === undefined || activity.done) return;
    if (activity.pending !== undefined) {
      this.unsend(activity.pending);
      activity.done = true;
      this.jobs.push(cancelledAtOnce(seq, activity));
      return;
    }
    const { cancelType } = activity;
    if (cancelType !== ActivityCancellationType.ABANDON)
      this.push(command, `activity ${activity.scheduledEventId} cancel requested`);
    if (cancelType === ActivityCancellationType.WAIT_CANCELLATION_COMPLETED) return;
    activity.done = true;
    this.jobs.push(cancelledAtOnce(seq, activity, activity.scheduledEventId));
  }

  private push(command: WorkflowCommand, expects: string): Pending {
    const pending = { command, expects };
    this.queue.push(pending);
    return pending;
  }

  private unsend(pending: Pending): void {
    this.queue = this.queue.filter((one) => one !== pending);
  }
}
