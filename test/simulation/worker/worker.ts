import type { LoadedDataConverter } from '@temporalio/common';
import { encodeErrorToFailure } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js';
import type { ActivityTask } from '../engine/activities.js';
import type { Engine } from '../engine/engine.js';
import type { WorkerPort } from '../engine/matching.js';
import type { Run, WorkflowTask } from '../engine/run.js';
import { WorkflowTaskFailedCause } from '../engine/shapes.js';
import { type ActivityFunctions, ActivityRunner } from './activity-runner.js';
import { Driver } from './driver.js';
import { Nondeterminism } from './machines.js';

/** Of a task's ten seconds; then a task whose local activities still run is answered and asked for again. */
const HEARTBEAT_MS = 8_000;

/** Each flow in memory makes every promise of the process dearer: the runtime keeps an asynchronous context for it. */
const MOST_LOOKED_AT = 8;

export interface SimulatedWorkerOptions {
  /** In Temporal. Default `simulated`. */
  identity?: string;
  engine: Engine;
  runtime: ReusableVMWorkflowCreator;
  converter: LoadedDataConverter;
  activities: ActivityFunctions;
  queues: readonly string[];
  /** Flows kept in memory; beyond it the one used longest ago is replayed when something reaches it. Default 600; 0: each task is a replay. */
  cache?: number;
  workflowSlots?: number;
  activitySlots?: number;
  /** Before an activity runs: to hold it up, or to let it fail. */
  beforeActivity?: ((type: string) => Promise<void> | void) | undefined;
  /** Whether the answer to a workflow task never arrives. */
  losesAnswer?: ((workflowType: string) => boolean) | undefined;
  /** The rest of the process ends with it. */
  onDeath?: () => void;
}

/** A worker process: takes tasks, keeps flows in memory, runs activities, and can die at any moment. */
export class SimulatedWorker implements WorkerPort {
  readonly queues: ReadonlySet<string>;
  readonly identity: string;
  isAlive = true;
  /** Work that needs no time to pass: the clock stands still until it is done. */
  busy = 0;
  private isDraining = false;
  private readonly cached = new Map<Run, Driver>();
  /** Replayed for queries alone. */
  private readonly looked = new Map<Run, { driver: Driver; events: number }>();
  private readonly underWay = new Map<Run, Promise<void>>();
  private readonly runner: ActivityRunner;
  private readonly slots: { workflow: number; activity: number };
  private queryCount = 0;

  constructor(private readonly options: SimulatedWorkerOptions) {
    this.queues = new Set(options.queues);
    this.identity = options.identity ?? 'simulated';
    this.slots = { workflow: options.workflowSlots ?? 40, activity: options.activitySlots ?? 100 };
    this.runner = new ActivityRunner(
      options.engine,
      options.converter,
      options.activities,
      () => this.isAlive,
      options.beforeActivity,
    );
    options.engine.matching.join(this);
  }

  /** What would be cut off if it died now. */
  underWayNow(): string[] {
    return [...[...this.underWay.keys()].map(({ start }) => `task of ${start.type}`), ...this.runner.underWayNow()];
  }

  hasRoom(kind: 'workflow' | 'activity'): boolean {
    return (
      !this.isDraining &&
      (kind === 'workflow' ? this.underWay.size < this.slots.workflow : this.runner.running < this.slots.activity)
    );
  }

  /** No good-byes: what it was doing is never told of again. */
  kill(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.options.onDeath?.();
    this.options.engine.matching.leave(this);
    this.runner.abandon();
    for (const driver of this.cached.values()) void driver.dispose();
    this.cached.clear();
    for (const { driver } of this.looked.values()) void driver.dispose();
    this.looked.clear();
  }

  /** Takes nothing new and ends what it has, for at most `graceMs`; then its activities are cancelled. */
  async stop(graceMs = 5_000): Promise<void> {
    if (!this.isAlive) return;
    this.isDraining = true;
    this.options.engine.matching.leave(this);
    await this.runner.drain(graceMs);
    await Promise.allSettled(this.underWay.values());
    this.kill();
  }

  takeWorkflowTask(run: Run, task: WorkflowTask): void {
    this.exclusively(run, () => this.work(run, task));
  }

  takeActivity(task: ActivityTask): void {
    void this.runner.run(task).finally(() => this.options.engine.matching.serve());
  }

  takeQueries(run: Run): void {
    this.exclusively(run, async () => {
      const queries = run.queries.splice(0);
      if (queries.length === 0) return;
      try {
        const driver = await this.upToDate(run);
        for (const query of queries) await this.whileBusy(() => driver.query(query, `q${(this.queryCount += 1)}`));
      } catch (error) {
        for (const query of queries) query.answer({ failed: error instanceof Error ? error.message : String(error) });
        this.looked.delete(run);
        await this.evict(run);
      }
    });
  }

  /** Replayed as far as the history goes, without a task; the same again as long as nothing is added to it. */
  private async upToDate(run: Run): Promise<Driver> {
    const cached = this.cached.get(run);
    if (cached !== undefined && run.isOpen) return cached;
    const known = this.looked.get(run);
    if (known?.events === run.events.length) return known.driver;
    await known?.driver.dispose();
    const driver = this.newDriver(run);
    this.looked.set(run, { driver, events: run.events.length });
    for (const [oldest, { driver: old }] of this.looked) {
      if (this.looked.size <= MOST_LOOKED_AT) break;
      this.looked.delete(oldest);
      await old.dispose();
    }
    await this.whileBusy(() => driver.advance(run.events, [], false));
    return driver;
  }

  private async work(run: Run, task: WorkflowTask): Promise<void> {
    const { engine } = this.options;
    // The server sends the whole history to whoever it does not expect to know the flow: another worker has gone on.
    if (run.stickyTo !== this) await this.evict(run);
    const driver = this.cached.get(run) ?? this.newDriver(run);
    this.remember(run, driver);
    const before = driver.started;
    const written = run.events.length;
    const wasSpeculative = task.speculative;
    try {
      await this.whileBusy(() => driver.advance(engine.tasks.eventsFor(run, task), task.updates));
      await this.runLocals(run, task, driver);
      // What a local activity answers from now on is for the next task: the flow was not told it in this one.
      const answer = { ...driver.takeCommands(), heartbeat: driver.runningLocals > 0 };
      while (!engine.isUp) await pause(100);
      if (!this.isAlive) return;
      if (this.options.losesAnswer?.(run.start.type) === true) return await this.evict(run);
      const isTaken = engine.tasks.completed(run, task, answer);
      if (!isTaken) await this.evict(run);
      else if (wasSpeculative && !task.written) driver.forgetTask(before, written);
      if (!run.isOpen) await this.evict(run);
    } catch (error) {
      if (!this.isAlive) return;
      await this.evict(run);
      const cause =
        error instanceof Nondeterminism
          ? WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR
          : WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE;
      const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      if (engine.tasks.isCurrent(run, task))
        engine.findings.push(`${run.start.workflowId}: a workflow task failed: ${message}`);
      engine.tasks.failed(run, task, cause, await encodeErrorToFailure(this.options.converter, error));
    }
  }

  /** Runs local activities and gives the flow their results, until none is left or the task's time is up. */
  private async runLocals(run: Run, task: WorkflowTask, driver: Driver): Promise<void> {
    const until = task.startedAt + HEARTBEAT_MS;
    for (;;) {
      for (const { seq, call } of driver.takeLocals()) {
        void this.runner.runLocal(run, call, seq).then(({ end, attempt }) => {
          driver.localEnded(seq, end, attempt);
          this.localNews.get(driver)?.();
        });
      }
      if (driver.runningLocals === 0) return;
      const isLate = await this.untilLocalNews(driver, until - Date.now());
      if (!this.isAlive || isLate) return;
      await this.whileBusy(() => driver.pump(false));
    }
  }

  private readonly localNews = new Map<Driver, () => void>();

  private async untilLocalNews(driver: Driver, ms: number): Promise<boolean> {
    return await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => end(true), Math.max(0, ms));
      const end = (isLate: boolean): void => {
        clearTimeout(timer);
        this.localNews.delete(driver);
        resolve(isLate);
      };
      this.localNews.set(driver, () => end(false));
    });
  }

  private newDriver(run: Run): Driver {
    const { runtime, converter, engine } = this.options;
    return new Driver({ runtime, converter, namespace: engine.namespace }, run);
  }

  private remember(run: Run, driver: Driver): void {
    this.cached.delete(run);
    this.cached.set(run, driver);
    const most = this.options.cache ?? 600;
    for (const oldest of this.cached.keys()) {
      if (this.cached.size <= Math.max(most, 1)) break;
      if (!this.underWay.has(oldest)) void this.evict(oldest);
      else break;
    }
  }

  private async evict(run: Run): Promise<void> {
    const driver = this.cached.get(run);
    this.cached.delete(run);
    if (run.stickyTo === this) run.stickyTo = undefined;
    await driver?.dispose();
  }

  /** One thing at a time with one flow. */
  private exclusively(run: Run, work: () => Promise<void>): void {
    const before = this.underWay.get(run) ?? Promise.resolve();
    const tidy = async (): Promise<void> => {
      if (this.underWay.get(run) === done) this.underWay.delete(run);
      if (this.options.cache === 0 && !this.underWay.has(run)) await this.evict(run);
      this.options.engine.matching.serve();
    };
    const done: Promise<void> = before.then(async () => {
      try {
        await work();
      } finally {
        await tidy();
      }
    });
    this.underWay.set(run, done);
  }

  private async whileBusy<Result>(work: () => Promise<Result>): Promise<Result> {
    this.busy += 1;
    try {
      return await work();
    } finally {
      this.busy -= 1;
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
