interface Job {
  due: number;
  run: () => void;
  timer: NodeJS.Timeout;
}

/** Longer waits would overflow a Node timer, which then fires at once. */
const LONGEST_TIMER_MS = 2_000_000_000;

/**
 * Jobs that are due at a time of the sandbox's clock. They are not persisted: their owner schedules them again at boot
 * from its own records.
 */
export class Schedule {
  private readonly jobs = new Map<string, Job>();

  constructor(
    private readonly clock: SandboxClock,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Runs `run` once at `due` (epoch ms). It replaces a job with the same key. */
  at(key: string, due: number, run: () => void): void {
    this.cancel(key);
    this.jobs.set(key, { due, run, timer: this.timer(key, due) });
  }

  cancel(key: string): void {
    const job = this.jobs.get(key);
    if (job === undefined) return;
    clearTimeout(job.timer);
    this.jobs.delete(key);
  }

  cancelAll(): void {
    for (const key of [...this.jobs.keys()]) this.cancel(key);
  }

  get size(): number {
    return this.jobs.size;
  }

  /** Advances the clock to this offset: each job runs at the time at which it is due, the earliest first. */
  advanceTo(offsetMs: number): void {
    for (let next = this.earliest(); next !== undefined; next = this.earliest()) {
      const [key, { due }] = next;
      const dueOffset = due - Date.now();
      if (dueOffset > offsetMs) break;
      this.clock.offsetMs = Math.max(this.clock.offsetMs, dueOffset);
      this.fire(key);
    }
    this.clock.offsetMs = offsetMs;
    for (const [key, job] of this.jobs) {
      clearTimeout(job.timer);
      job.timer = this.timer(key, job.due);
    }
  }

  private earliest(): [string, Job] | undefined {
    let earliest: [string, Job] | undefined;
    for (const one of this.jobs) if (earliest === undefined || one[1].due < earliest[1].due) earliest = one;
    return earliest;
  }

  private timer(key: string, due: number): NodeJS.Timeout {
    const wait = Math.max(0, due - this.clock.now());
    return setTimeout(() => this.wake(key), Math.min(wait, LONGEST_TIMER_MS));
  }

  private wake(key: string): void {
    const job = this.jobs.get(key);
    if (job === undefined) return;
    if (job.due > this.clock.now()) job.timer = this.timer(key, job.due);
    else this.fire(key);
  }

  private fire(key: string): void {
    const job = this.jobs.get(key);
    this.cancel(key);
    try {
      job?.run();
    } catch (error) {
      this.onError(error);
    }
  }
}

/**
 * The sandbox's time: real time plus an offset that only grows. Everything that expires or is due (keys, tokens, CVVs,
 * pending transactions, resends) reads only this clock.
 */
export class SandboxClock {
  constructor(private offset: number = 0) {}

  /** Epoch milliseconds. */
  now(): number {
    return Date.now() + this.offset;
  }

  get offsetMs(): number {
    return this.offset;
  }

  set offsetMs(value: number) {
    this.offset = value;
  }
}
