import { type InstalledClock, installClock } from './virtual-clock.js';

const { setImmediate: realImmediate, setTimeout: realTimeout, clearTimeout: clearRealTimeout } = globalThis;

/** Work that the event loop has taken and not finished, as `process.getActiveResourcesInfo` names it. */
const UNDER_WAY = new Set(['Immediate', 'FSReqCallback', 'FSReqPromise', 'CloseReq']);
const NO_TIMER_PAUSE_MS = 1;

let idle: Promise<void> | undefined;

/** One wait for all who ask, those of a closed world too: two would take each other's immediates for work. */
function processIsIdle(): Promise<void> {
  idle ??= runDry().finally(() => {
    idle = undefined;
  });
  return idle;
}

async function runDry(): Promise<void> {
  do {
    await new Promise<void>((resolve) => realImmediate(resolve));
  } while (process.getActiveResourcesInfo().some((resource) => UNDER_WAY.has(resource)));
}

function throwAlone(error: unknown): void {
  realImmediate(() => {
    throw error;
  });
}

export interface VirtualTimeOptions {
  /** Epoch ms at which the clock starts. */
  startAt: number;
  /** Timers that may fire while one thing is waited for. Default 40,000, many times what a test needs. */
  mostFirings?: number;
}

interface Wait {
  /** For the error's text. */
  what: string;
  firings: number;
  /** Whether it is over; asked whenever the process is idle. */
  over(): boolean;
  /** Epoch ms that the clock may not pass before this wait is over. */
  until?: number;
  end(error?: Error): void;
}

/**
 * The time of a simulated world. It stands still while anything in the process has work to do; once nothing has, and
 * somebody waits, the clock jumps to the next timer and fires it. One at a time per process.
 */
export class VirtualTime {
  readonly #mostFirings: number;
  readonly #installed: InstalledClock;
  readonly #waits = new Set<Wait>();
  readonly #listeners = new Set<(now: number, before: number) => void>();
  #automatic: Wait | undefined;
  #held = 0;
  #pumping = false;
  #wake: (() => void) | undefined;
  #fired = 0;
  #ended = false;

  constructor({ startAt, mostFirings = 40_000 }: VirtualTimeOptions) {
    this.#mostFirings = mostFirings;
    this.#installed = installClock(startAt);
    this.#installed.onTimer = () => this.#wake?.();
  }

  /** Epoch ms. */
  now(): number {
    return this.#installed.clock.now;
  }

  /** Timers that have fired so far. */
  get fired(): number {
    return this.#fired;
  }

  /** When the next timer is due, in epoch ms; undefined when there is none. */
  nextTimerAt(): number | undefined {
    return this.#installed.clock.timerHeap?.peek()?.callAt;
  }

  /** Resolves when all microtasks, ticks, immediates and file operations have run dry. No time passes. */
  drain(): Promise<void> {
    return processIsIdle();
  }

  /** From now on time passes whenever the process is idle, whoever waits. Each call allows `mostFirings` timers again. */
  run(what = 'whatever the test awaits'): void {
    if (this.#automatic !== undefined) this.#waits.delete(this.#automatic);
    const wait: Wait = {
      what,
      firings: 0,
      over: () => false,
      end: (error) => {
        // Nobody awaits it: the test runner reports what is thrown here, and the clock stands.
        if (error !== undefined) throwAlone(error);
      },
    };
    this.#automatic = wait;
    this.#add(wait);
  }

  /** Ends what `run` began. */
  pause(): void {
    if (this.#automatic !== undefined) this.#waits.delete(this.#automatic);
    this.#automatic = undefined;
  }

  /**
   * Lets time pass until a promise is settled, whose value it answers, or until something holds when the process is idle.
   * @throws Error when `mostFirings` timers have fired before that
   */
  async runUntil<T>(awaited: PromiseLike<T> | (() => boolean), what?: string): Promise<T | undefined> {
    if (typeof awaited === 'function') {
      await this.#wait(what ?? awaited.toString(), awaited);
      return undefined;
    }
    let settled = false;
    const settle = (): void => {
      settled = true;
      this.#wake?.();
    };
    awaited.then(settle, settle);
    await this.#wait(what ?? 'a promise', () => settled);
    return await awaited;
  }

  /** Lets time pass until `at`, epoch ms: whatever is due by then has happened. */
  async advanceTo(at: number): Promise<void> {
    await this.#wait(
      `${new Date(at).toISOString()}`,
      () => this.now() >= at && (this.nextTimerAt() ?? Infinity) > at,
      at,
    );
  }

  /** Runs work that takes real time (a dynamic import, a thread): no time passes until it is done. */
  async real<T>(work: () => Promise<T>): Promise<T> {
    this.#held += 1;
    try {
      return await work();
    } finally {
      this.#held -= 1;
      this.#wake?.();
    }
  }

  /** Tells of every move of the clock. @returns what ends that */
  onAdvance(listener: (now: number, before: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Gives the process its real time back. What is still waited for fails. */
  uninstall(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.pause();
    for (const wait of this.#waits) wait.end(new Error(`The virtual time ended while ${wait.what} was waited for`));
    this.#waits.clear();
    this.#wake?.();
    this.#installed.uninstall();
  }

  #wait(what: string, over: () => boolean, until?: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (error?: Error): void => (error === undefined ? resolve() : reject(error));
      this.#add({ what, firings: 0, over, end, ...(until !== undefined && { until }) });
    });
  }

  #add(wait: Wait): void {
    if (this.#ended) throw new Error('the virtual time has ended');
    this.#waits.add(wait);
    this.#wake?.();
    if (!this.#pumping) void this.#pump();
  }

  async #pump(): Promise<void> {
    this.#pumping = true;
    while (this.#waits.size > 0) {
      await this.drain();
      if (this.#held > 0) {
        await this.#sleepForReal();
        continue;
      }
      const over = [...this.#waits].filter((wait) => wait.over());
      for (const wait of over) this.#end(wait);
      // Whoever has waited has something to do now, in no time.
      if (over.length > 0) continue;
      if (!this.#advance()) await this.#sleepForReal();
    }
    this.#pumping = false;
  }

  /** Fires the next timer, or moves the clock to where it has to stop before that. False when there is neither. */
  #advance(): boolean {
    const stop = Math.min(...[...this.#waits].map(({ until = Infinity }) => until));
    const next = this.nextTimerAt();
    const before = this.now();
    if (stop < (next ?? Infinity)) this.#installed.clock.tick(stop - before);
    else if (next === undefined) return false;
    else this.#fire();
    if (this.now() !== before) for (const listener of this.#listeners) listener(this.now(), before);
    return true;
  }

  #fire(): void {
    this.#fired += 1;
    const next = this.#installed.clock.timerHeap?.peek() as { func?: { of?: unknown } } | undefined;
    try {
      this.#installed.clock.next();
    } catch (error) {
      // As what a timer of Node's throws: nobody's promise, and no end of time.
      throwAlone(error);
    }
    for (const wait of this.#waits) {
      wait.firings += 1;
      if (wait.firings < this.#mostFirings) continue;
      const at = new Date(this.now()).toISOString();
      const what = `${this.#mostFirings} timers have fired, up to ${at}, and still waited for: ${wait.what}`;
      const code = String(next?.func?.of).replaceAll(/\s+/g, ' ').slice(0, 200);
      this.#end(wait, new Error(`${what}; the last timer: ${code}`));
    }
  }

  #end(wait: Wait, error?: Error): void {
    this.#waits.delete(wait);
    if (wait === this.#automatic) this.#automatic = undefined;
    wait.end(error);
  }

  /** Something outside of this process's own work is under way, or nothing at all. */
  async #sleepForReal(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = realTimeout(resolve, NO_TIMER_PAUSE_MS);
      this.#wake = () => {
        clearRealTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}
