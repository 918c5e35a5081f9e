import { Activities } from './activities.js';
import { Children } from './children.js';
import { CommandHandler } from './commands.js';
import { LIMITS } from './limits.js';
import { Matching } from './matching.js';
import { type PendingTimer, Run, type Start } from './run.js';
import {
  given,
  long,
  type Payload,
  type Payloads,
  timestamp,
  WorkflowExecutionStatus,
  WorkflowIdReusePolicy,
} from './shapes.js';
import { Updates } from './updates.js';
import { WorkflowTasks } from './workflow-tasks.js';

/** What comes to a run from outside, or begins a task of it. */
export type Arrival =
  | { kind: 'task' | 'cancel' }
  | { kind: 'signal'; name: string; input: Payloads | null | undefined }
  /** `answer`: what the caller of an update is told. */
  | { kind: 'update' | 'answer'; name: string }
  | { kind: 'timer' | 'activity'; id: string };

/** Lets it arrive, by `act`, now or at a moment of its own. */
export type ArrivalRule = (run: Run, what: Arrival, act: () => void) => void;

type Status = keyof typeof WorkflowExecutionStatus;

/** Where the engine waits a moment; a seeded scheduler says how long. */
export type Hop = 'dispatch' | 'child' | 'call' | 'reply' | 'visibility';

export interface EngineOptions {
  namespace?: string;
  /** ms. Default 1 for each. */
  latency?: (hop: Hop) => number;
  /** Registered search attributes; another is refused, as a server does. */
  searchAttributes?: ReadonlySet<string>;
  /** After how long a call that waits for news answers that there is none, ms. Default 20 s, as a server does. */
  longPollMs?: number;
  /** After how many events of a run the engine suggests to continue as new. Default: as a server does. */
  suggestRunAfter?: (run: Run) => number;
  /** The build whose workers get a run's new work. Default: workers are not versioned. */
  targetBuild?: (run: Run) => string;
}

/**
 * A Temporal server in memory, on the process's clock: histories, timers, activities, updates, children,
 * continue-as-new, reset, and the limits of the real one. What it keeps of a run stands in the run's history, so that it
 * can be killed and brought up again.
 */
export class Engine {
  readonly namespace: string;
  readonly tasks = new WorkflowTasks(this);
  readonly activities = new Activities(this);
  readonly commands = new CommandHandler(this);
  readonly children = new Children(this);
  readonly matching = new Matching(this);
  readonly updates = new Updates(this);
  readonly latency: (hop: Hop) => number;
  readonly longPollMs: number;
  readonly suggestRunAfter: (run: Run) => number;
  readonly targetBuild: ((run: Run) => string) | undefined;
  /** By workflow id, oldest first. */
  private readonly runs = new Map<string, Run[]>();
  private readonly searchAttributes: ReadonlySet<string> | undefined;
  isUp = true;
  /** Chooses the moment of each arrival. Default: each as it comes. */
  arrive: ArrivalRule = (_run, _what, act) => act();
  readonly findings: string[] = [];

  constructor({
    namespace = 'default',
    latency = () => 1,
    searchAttributes,
    longPollMs = 20_000,
    suggestRunAfter = () => LIMITS.suggestContinueAsNewEvents,
    targetBuild,
  }: EngineOptions = {}) {
    this.namespace = namespace;
    this.suggestRunAfter = suggestRunAfter;
    this.targetBuild = targetBuild;
    this.latency = latency;
    this.longPollMs = longPollMs;
    this.searchAttributes = searchAttributes;
  }

  namespaceId = 'simulated';
  time = timestamp;
  length = timestamp;

  /** All runs, in the order of their starts. */
  *all(): IterableIterator<Run> {
    for (const runs of this.runs.values()) yield* runs;
  }

  /** As a server does when the retention of a flow that has ended is over. */
  forget(workflowId: string): void {
    if (this.find(workflowId)?.isOpen !== true) this.runs.delete(workflowId);
  }

  runsOf(workflowId: string): number {
    return this.runs.get(workflowId)?.length ?? 0;
  }

  /** The run of that id, or the latest of the workflow. */
  find(workflowId: string, runId?: string | null): Run | undefined {
    const runs = this.runs.get(workflowId);
    return runId ? runs?.find(({ start }) => start.runId === runId) : runs?.at(-1);
  }

  isTaken(workflowId: string, reusePolicy: number): boolean {
    const latest = this.find(workflowId);
    if (latest === undefined) return false;
    if (latest.isOpen) return true;
    if (reusePolicy === WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE) return true;
    return (
      reusePolicy === WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY &&
      latest.status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED
    );
  }

  /** Puts a run into the engine without a task; `begin` does both. */
  admit(start: Start): Run {
    const run = new Run(start);
    run.startedAt = Date.now();
    const runs = this.runs.get(start.workflowId) ?? [];
    runs.push(run);
    this.runs.set(start.workflowId, runs);
    return run;
  }

  begin(start: Start, { firstTaskAfterMs = 0 } = {}): Run {
    const run = this.admit(start);
    run.append(
      'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED',
      {
        workflowExecutionStartedEventAttributes: given({
          workflowId: start.workflowId,
          workflowType: { name: start.type },
          taskQueue: { name: start.taskQueue, kind: 1 },
          input: start.input,
          originalExecutionRunId: start.originalRunId,
          firstExecutionRunId: start.firstRunId,
          continuedExecutionRunId: start.continuedFrom,
          attempt: 1,
          cronSchedule: start.cron,
          retryPolicy: start.retryPolicy,
          workflowExecutionTimeout:
            start.executionTimeoutMs === undefined ? undefined : timestamp(start.executionTimeoutMs),
          workflowRunTimeout: start.runTimeoutMs === undefined ? undefined : timestamp(start.runTimeoutMs),
          workflowTaskTimeout: timestamp(LIMITS.workflowTaskMs),
          memo: Object.keys(start.memo).length === 0 ? undefined : { fields: start.memo },
          searchAttributes:
            Object.keys(start.searchAttributes).length === 0 ? undefined : { indexedFields: start.searchAttributes },
          parentWorkflowNamespace: start.parent && this.namespace,
          parentWorkflowExecution: start.parent && {
            workflowId: start.parent.run.start.workflowId,
            runId: start.parent.run.start.runId,
          },
          parentInitiatedEventId: start.parent && long(start.parent.initiatedEventId),
        }),
      },
      start.metadata,
    );
    if (firstTaskAfterMs === 0) this.tasks.need(run);
    else setTimeout(() => this.tasks.need(run), firstTaskAfterMs);
    return run;
  }

  startTimer(run: Run, timer: PendingTimer): void {
    run.timers.set(timer.timerId, timer);
    // A Node timer can't wait longer than 24 days.
    const wait = timer.dueAt - Date.now();
    const longest = 2_000_000_000;
    timer.handle = setTimeout(
      () => (wait > longest ? this.startTimer(run, timer) : this.fire(run, timer)),
      Math.max(0, Math.min(wait, longest)),
    );
  }

  private fire(run: Run, timer: PendingTimer): void {
    this.arrive(run, { kind: 'timer', id: timer.timerId }, () => {
      if (!run.isOpen || run.timers.get(timer.timerId) !== timer) return;
      if (!this.isUp) {
        setTimeout(() => this.fire(run, timer), 100);
        return;
      }
      run.timers.delete(timer.timerId);
      const write = (): void => {
        run.append('EVENT_TYPE_TIMER_FIRED', {
          timerFiredEventAttributes: { timerId: timer.timerId, startedEventId: long(timer.startedEventId) },
        });
      };
      this.tasks.record(run, write, timer);
    });
  }

  /** Two signals with one request id are one. */
  signal(run: Run, signal: { name: string; input: unknown; identity?: string; requestId?: string }): void {
    if (signal.requestId) {
      if (run.requestIds.has(signal.requestId)) return;
      run.requestIds.add(signal.requestId);
    }
    run.signalCount += 1;
    this.tasks.record(run, () =>
      run.append('EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED', {
        workflowExecutionSignaledEventAttributes: given({
          signalName: signal.name,
          input: signal.input,
          identity: signal.identity,
          requestId: signal.requestId,
        }) as never,
      }),
    );
  }

  requestCancel(run: Run): void {
    if (run.cancelRequested) return;
    run.cancelRequested = true;
    this.tasks.record(run, () =>
      run.append('EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED', {
        workflowExecutionCancelRequestedEventAttributes: {},
      }),
    );
  }

  terminate(run: Run, reason: string, identity = 'simulated'): void {
    run.buffered = [];
    run.append('EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED', {
      workflowExecutionTerminatedEventAttributes: { reason, identity },
    });
    this.close(run, 'WORKFLOW_EXECUTION_STATUS_TERMINATED');
  }

  /** @param successor starts the run that follows, before anybody is told of the end */
  close(run: Run, status: Status, successor?: () => void): void {
    run.status = WorkflowExecutionStatus[status];
    run.closedAt = Date.now();
    clearTimeout(run.task?.timer);
    run.task = undefined;
    for (const timer of run.timers.values()) clearTimeout(timer.handle);
    run.timers.clear();
    for (const activity of [...run.activities.values()]) this.activities.forget(activity);
    successor?.();
    this.updates.runClosed(run);
    for (const notify of [...run.watchers]) notify();
    this.children.closed(run);
  }

  upsertAttributes(run: Run, fields: Record<string, Payload>): void {
    for (const [name, payload] of Object.entries(fields)) {
      const size = payload.data?.length ?? 0;
      if (this.searchAttributes?.has(name) === false || size > LIMITS.searchAttributeBytes) {
        this.findings.push(
          `${run.start.workflowId}: search attribute ${name} (${size} bytes) is refused by the server`,
        );
        return this.terminate(run, `BadSearchAttributes: ${name}`);
      }
      const isEmpty = size === 0 || Buffer.from(payload.data ?? []).toString() === 'null';
      if (isEmpty) delete run.searchAttributes[name];
      else run.searchAttributes[name] = payload;
    }
  }

  enforceHistoryLimit(run: Run): void {
    if (!run.isOpen || run.events.length < LIMITS.historyEvents) return;
    this.findings.push(`${run.start.workflowId}: its history has ${run.events.length} events, and the server ends it`);
    this.terminate(run, 'Workflow history count exceeds limit.');
  }

  /** What only memory knew is lost: updates that no flow has accepted, tasks under way, queries. */
  kill(): void {
    this.isUp = false;
    for (const run of this.all()) {
      if (!run.isOpen) continue;
      this.updates.forgetAdmitted(run);
      for (const query of run.queries.splice(0)) query.answer({ failed: 'engine gone' });
      if (run.task?.speculative === true || run.task?.written === false) {
        clearTimeout(run.task.timer);
        run.task = undefined;
      }
    }
  }

  up(): void {
    this.isUp = true;
    for (const run of this.all()) {
      if (run.isOpen && run.task === undefined && run.attempt > 1) this.tasks.need(run);
    }
    this.matching.serve();
  }

  /** Some worker answers what is asked: of an open flow with the next task, of a closed one by a replay. */
  askQueries(run: Run): void {
    setTimeout(() => this.matching.offerQueries(run), this.latency('dispatch'));
  }
}
