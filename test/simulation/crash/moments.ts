import type { Simulation } from '../simulation.js';
import { calm, type Passage } from '../world/strategies.js';

export const VICTIMS = ['worker', 'engine', 'both'] as const;
export type Victim = (typeof VICTIMS)[number];

/** Where a journey may be broken: its moments are counted from 0, in the same order at each run of one seed. */
export interface Crash {
  readonly moment: number;
  readonly victim: Victim;
}

/** How long a dead worker or engine is away. */
const AWAY_MS = 1_000;

/** What the workers of a simulation send and what its engine writes from now on, and a kill at one of these moments. */
export class Moments {
  /** What has happened so far, such as `before POST /payments`. */
  readonly passed: string[] = [];
  hit: string | undefined;

  constructor(
    private readonly simulation: Simulation,
    private readonly crash: Crash | undefined,
  ) {
    this.watchRequests();
    this.watchReports();
    this.watchHistory();
  }

  /** Before an HTTP write is sent, and while it is on its way. */
  private watchRequests(): void {
    const { network } = this.simulation.world;
    network.strategy = (request): Passage => {
      const isOurs = request.from.startsWith('worker') && request.method !== 'GET';
      if (!isOurs) return calm(request);
      // Ids are drawn again in every run.
      const what = `${request.method} ${request.path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '*')}`;
      if (this.pass(`before ${what}`) && this.crash?.victim !== 'engine')
        return { ...calm(request), fate: 'loseRequest' };
      // It arrives after this, and its sender is told nothing of it.
      this.pass(`during ${what}`);
      return calm(request);
    };
  }

  /** As a worker is about to tell what it has done: nobody else knows of it yet. */
  private watchReports(): void {
    const { tasks, activities } = this.simulation.engine;
    const completed = tasks.completed.bind(tasks);
    tasks.completed = (run, task, answer) => {
      const isLost = this.pass(`before the end of a task of ${run.start.type}`);
      return isLost ? false : completed(run, task, answer);
    };
    const ended = activities.ended.bind(activities);
    activities.ended = (task, token, end) => {
      const isLost = this.pass(`before the end of ${task.type}`);
      return isLost ? false : ended(task, token, end);
    };
  }

  /** After each write to a history, before anybody is told of it: events that are written at once are one write. */
  private watchHistory(): void {
    const { engine } = this.simulation;
    const admit = engine.admit.bind(engine);
    engine.admit = (start) => {
      const run = admit(start);
      let isNoted = false;
      run.watchers.add(() => {
        if (isNoted) return;
        isNoted = true;
        queueMicrotask(() => {
          isNoted = false;
          this.pass(`after event ${run.events.length} of ${start.type}`);
        });
      });
      return run;
    };
  }

  /** True when this is the moment, and the victims have died. */
  private pass(moment: string): boolean {
    this.passed.push(moment);
    if (this.passed.length - 1 !== this.crash?.moment) return false;
    this.hit = moment;
    this.kill(this.crash.victim);
    return true;
  }

  private kill(victim: Victim): void {
    const { simulation } = this;
    if (victim !== 'engine') {
      for (const worker of simulation.workers) worker.kill();
      setTimeout(() => simulation.startWorker(), AWAY_MS);
    }
    if (victim === 'worker') return;
    simulation.engine.kill();
    setTimeout(() => simulation.engine.up(), AWAY_MS);
  }
}
