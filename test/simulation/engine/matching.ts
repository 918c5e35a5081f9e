import type { ActivityTask } from './activities.js';
import type { Engine } from './engine.js';
import type { Run, WorkflowTask } from './run.js';

/** A worker process as the engine sees it. A dead one takes what it is given and never answers. */
export interface WorkerPort {
  readonly identity: string;
  readonly queues: ReadonlySet<string>;
  readonly isAlive: boolean;
  /** Free places, so that slow activities hold up others as they do in reality. */
  hasRoom(kind: 'workflow' | 'activity'): boolean;
  takeWorkflowTask(run: Run, task: WorkflowTask): void;
  takeActivity(task: ActivityTask): void;
  /** Answers what waits in `run.queries`, of an ended flow too. */
  takeQueries(run: Run): void;
}

type Offer = { queue: string; run: Run; task: WorkflowTask } | { queue: string; activity: ActivityTask };

/** Hands tasks to workers in the order in which they were offered, each after a moment of its own. */
export class Matching {
  private readonly workers = new Set<WorkerPort>();
  private backlog: Offer[] = [];
  private lastWorker: WorkerPort | undefined;
  private isOver = false;

  constructor(private readonly engine: Engine) {}

  join(worker: WorkerPort): void {
    this.workers.add(worker);
    this.serve();
  }

  leave(worker: WorkerPort): void {
    this.workers.delete(worker);
  }

  /** A question that nobody waits for would look for a worker for ever, in the time of whatever this process tests next. */
  end(): void {
    this.isOver = true;
  }

  pollersOf(queue: string): string[] {
    return [...this.workers].filter(({ queues }) => queues.has(queue)).map(({ identity }) => identity);
  }

  offerWorkflowTask(run: Run, task: WorkflowTask): void {
    this.offer({ queue: run.start.taskQueue, run, task });
  }

  offerActivity(activity: ActivityTask): void {
    this.offer({ queue: activity.taskQueue, activity });
  }

  withdraw(activity: ActivityTask): void {
    this.backlog = this.backlog.filter((offer) => !('activity' in offer) || offer.activity !== activity);
  }

  offerQueries(run: Run): void {
    if (this.isOver) return;
    const sticky = run.stickyTo as WorkerPort | undefined;
    const worker = sticky?.isAlive ? sticky : this.free(run.start.taskQueue, 'workflow');
    if (worker === undefined) setTimeout(() => this.offerQueries(run), 100);
    else worker.takeQueries(run);
  }

  /** Everything in the backlog that a worker has room for. */
  serve(): void {
    const { backlog } = this;
    this.backlog = [];
    for (const offer of backlog) if (!this.give(offer)) this.backlog.push(offer);
  }

  private offer(offer: Offer): void {
    const taken = 'activity' in offer ? offer.activity.token : undefined;
    setTimeout(() => {
      if ('activity' in offer && offer.activity.token !== taken) return;
      const give = (): void => {
        if (!this.give(offer)) this.backlog.push(offer);
      };
      if ('task' in offer) this.engine.arrive(offer.run, { kind: 'task' }, give);
      else give();
    }, this.engine.latency('dispatch'));
  }

  /** True when there is nothing left to do with it. */
  private give(offer: Offer): boolean {
    if (!this.engine.isUp) return false;
    if ('activity' in offer) {
      const { activity } = offer;
      if (!activity.run.isOpen || activity.state !== 'scheduled') return true;
      const worker = this.free(offer.queue, 'activity');
      if (worker === undefined) return false;
      this.engine.activities.started(activity);
      worker.takeActivity(activity);
      return true;
    }
    const { run, task } = offer;
    if (!run.isOpen || run.task !== task || task.state !== 'scheduled') return true;
    const sticky = run.stickyTo as WorkerPort | undefined;
    if (sticky !== undefined && !sticky.isAlive) {
      // Tasks of a sticky queue whose worker is gone wait for their time-out.
      return this.engine.tasks.waitForSticky(run, task);
    }
    const worker = sticky ?? this.free(offer.queue, 'workflow');
    if (worker === undefined || !worker.hasRoom('workflow')) return false;
    this.engine.tasks.started(run, task, worker);
    worker.takeWorkflowTask(run, task);
    return true;
  }

  /** In turn, so that several workers share the work. */
  private free(queue: string, kind: 'workflow' | 'activity'): WorkerPort | undefined {
    const able = [...this.workers].filter(
      (worker) => worker.isAlive && worker.queues.has(queue) && worker.hasRoom(kind),
    );
    const after = able.findIndex((worker) => worker === this.lastWorker) + 1;
    this.lastWorker = able[after % Math.max(1, able.length)];
    return this.lastWorker;
  }
}
