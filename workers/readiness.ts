import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from '@temporalio/worker';
import type { Environment } from '../src/client/environment-mark.js';
import type { Logger } from '../src/security/logging.js';
import type { EncryptionCodec } from '../src/security/payload-codec.js';
import { checkEngine, type EngineConnections, logReasons, type Waiting } from './connect.js';
import { StartFault } from './process.js';
import type { OpenReferenceBook } from './reference-book.js';
import {
  logStates,
  readVersionState,
  sayState,
  type Version,
  type VersionState,
  whyPassedOver,
} from './version-state.js';

const EVERY_MS = {
  namespace: 10_000,
  /** Search attributes cost a visibility query, of which servers allow few. */
  attributes: 600_000,
  version: 60_000,
};

type Served = Pick<Worker, 'getState' | 'connection'> & { options: Pick<Worker['options'], 'taskQueue'> };

/** The body of `/ready`. */
export interface ReadyAnswer {
  /** `ready`, or why not. */
  status: string;
  /** State of each worker by its task queue. */
  workers: Record<string, string>;
  /** Of a versioned worker. It is ready in any state: a new build must be ready before it is made current. */
  version?: { buildId: string; state: VersionState; means?: string };
}

interface Watched {
  engine: EngineConnections;
  /** Why the search attributes of the namespace could not be checked so far. */
  unchecked?: string | undefined;
  environment: Environment;
  /** undefined: the workers are not versioned. */
  version: Version | undefined;
  /** undefined: none is configured. */
  referenceBook: Pick<OpenReferenceBook, 'fault' | 'look'> | undefined;
}

/** Whether a worker process can do its work now, and if not, why. */
export class Readiness {
  readonly #logger: Logger;
  readonly #everyMs: typeof EVERY_MS;
  readonly #log: Waiting;
  readonly #stopping = new AbortController();
  #waitsFor: readonly string[] = [];
  #workers: readonly Served[] = [];
  #codec: EncryptionCodec | undefined;
  #book: Watched['referenceBook'];
  #version: ReadyAnswer['version'];
  /** Why workers of no build get nothing. */
  #passedOver: readonly string[] = [];
  #watching: Promise<unknown> = Promise.resolve();

  /** @param everyMs for tests: how often to look */
  constructor(logger: Logger, everyMs: Partial<typeof EVERY_MS> = {}) {
    this.#logger = logger;
    this.#everyMs = { ...EVERY_MS, ...everyMs };
    this.#log = logReasons(logger);
  }

  /** Takes what the process waits for, and logs it. */
  readonly waiting: Waiting = (reasons) => {
    this.#waitsFor = reasons;
    this.#log(reasons);
  };

  /** From here on the workers, their keys, their namespace and their reference book are watched. */
  serves(workers: readonly Served[], codec: EncryptionCodec, watched: Watched): void {
    this.#workers = workers;
    this.#codec = codec;
    const { version, referenceBook } = watched;
    this.#book = referenceBook;
    if (version !== undefined) this.#version = { buildId: version.buildId, state: 'unknown' };
    this.#watching = Promise.all([
      this.#watchNamespace(watched),
      version === undefined ? this.#watchPassedOver(watched.engine) : this.#watchVersion(watched.engine, version),
      referenceBook === undefined
        ? undefined
        : this.#repeat(this.#everyMs.namespace, async () => await referenceBook.look()),
    ]);
  }

  /** Not ready any more. Resolves when nothing is asked of Temporal any more: only then may its connections be closed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
  }

  /** Whether a worker has failed: what it served nobody serves until the process is restarted. */
  hasFailed(): boolean {
    return this.#workers.some((worker) => worker.getState() === 'FAILED');
  }

  /** Why a worker has ended with this error. The SDK's own says little where Temporal has refused its login for a minute. */
  explain(error: unknown): unknown {
    return this.#waitsFor.length === 0 ? error : new StartFault(this.#waitsFor.join(' '));
  }

  answer(): ReadyAnswer {
    const reasons = this.#reasons();
    const states = this.#workers.map((worker) => [worker.options.taskQueue, worker.getState()] as const);
    return {
      status: reasons.length === 0 ? 'ready' : reasons.join(' '),
      workers: Object.fromEntries(states),
      ...(this.#version !== undefined && { version: this.#version }),
    };
  }

  #reasons(): string[] {
    if (this.#stopping.signal.aborted) return ['the process stops.'];
    const reasons = [...this.#waitsFor, ...this.#passedOver];
    if (this.#workers.length === 0 && reasons.length === 0) reasons.push('the process starts.');
    for (const worker of this.#workers) {
      if (worker.getState() !== 'RUNNING')
        reasons.push(`the worker of task queue "${worker.options.taskQueue}" polls for nothing: ${worker.getState()}.`);
    }
    return [...reasons, this.#codec?.keyFault(), this.#book?.fault()].filter((reason) => reason !== undefined);
  }

  async #watchNamespace({ engine, environment, unchecked }: Watched): Promise<void> {
    let attributesAt = unchecked === undefined ? performance.now() + this.#everyMs.attributes : 0;
    let isSaid = unchecked !== undefined;
    await this.#repeat(this.#everyMs.namespace, async () => {
      const attributes = performance.now() >= attributesAt;
      const check = await this.#unlessStopping(engine, () =>
        checkEngine(engine, this.#workers, environment, attributes),
      );
      if (this.#stopping.signal.aborted) return;
      this.waiting(check.faults);
      if (check.unchecked !== undefined && !isSaid) this.#logger.warn(check.unchecked);
      isSaid ||= check.unchecked !== undefined;
      // Until each is known to be there they are asked for at every look: one that has gone would pass for mended.
      if (!attributes || check.faults.length > 0 || check.unchecked !== undefined) return;
      isSaid = false;
      attributesAt = performance.now() + this.#everyMs.attributes;
    });
  }

  async #watchVersion(engine: EngineConnections, version: Version): Promise<void> {
    const log = logStates(this.#logger);
    await this.#repeat(this.#everyMs.version, async () => {
      const state = await this.#unlessStopping(engine, () => readVersionState(engine.client, version));
      const means = sayState(state, version);
      this.#version = { buildId: version.buildId, state, ...(means !== undefined && { means }) };
      log(state, means);
    });
  }

  /** Beside a build that is current a worker of none polls as ever, and gets nothing: nothing else would show it. */
  async #watchPassedOver(engine: EngineConnections): Promise<void> {
    const log = logReasons(this.#logger);
    const queues = this.#workers.map((worker) => worker.options.taskQueue);
    await this.#repeat(this.#everyMs.version, async () => {
      try {
        this.#passedOver = await this.#unlessStopping(engine, () => whyPassedOver(engine.client, queues));
        log(this.#passedOver);
      } catch {
        // What was read last counts. Where Temporal is away, the look at its namespace says so.
      }
    });
  }

  /** A call under way must not outlive the connection. */
  async #unlessStopping<Answer>(engine: EngineConnections, ask: () => Promise<Answer>): Promise<Answer> {
    // Of its own for each question, as the SDK leaves its listeners at the signal.
    const own = new AbortController();
    const abort = (): void => own.abort();
    const { signal } = this.#stopping;
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await engine
        .native()
        .withAbortSignal(own.signal, () => engine.connection.withAbortSignal(own.signal, ask));
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async #repeat(everyMs: number, task: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await task();
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
