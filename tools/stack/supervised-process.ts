import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { deferred, within, type Deferred } from './deferred.js';
import { withParentDeathSignal } from './parent-death.js';
import { processIdentity } from './process-identity.js';
import type { RunningProcess } from './run-file.js';

export interface ProcessSpec {
  name: string;
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  logPath: string;
  /** Prints `ready <name> <url>` on stdout once it serves. Without it, `whenReady` resolves as soon as it runs. */
  saysReady: boolean;
  /** In a process group of its own, so that a terminal's Ctrl-C reaches only whoever supervises it. */
  ownGroup?: boolean;
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
/** One that ran this long (ms) before it crashed is restarted at once again. */
const STABLE_MS = 60_000;
const READY_LIMIT_MS = 60_000;
const LOG_LIMIT_BYTES = 10 * 1024 * 1024;
const LOG_TAIL_LINES = 8;

/** A process of the stack ended or stayed silent before it served for the first time. */
export class BootError extends Error {
  override readonly name = 'BootError';
}

/** Keeps one process running: restarts it with back-off when it crashes, until it is held or stopped. */
export class SupervisedProcess {
  readonly name: string;
  #spec: ProcessSpec;
  #say: (line: string) => void;
  #onChange: () => void;
  #child: ChildProcess | undefined;
  #identity: string | undefined;
  #ended: Promise<void> = Promise.resolve();
  #logFails = false;
  #served = false;
  #held = false;
  #startedAt = 0;
  #retryMs = FIRST_RETRY_MS;
  #retry: NodeJS.Timeout | undefined;
  #ready: Deferred = deferred();

  constructor(spec: ProcessSpec, say: (line: string) => void, onChange: () => void) {
    this.name = spec.name;
    this.#spec = spec;
    this.#say = say;
    this.#onChange = onChange;
    rotate(spec.logPath);
  }

  get running(): RunningProcess | undefined {
    const pid = this.#child?.pid;
    return pid === undefined || this.#identity === undefined
      ? undefined
      : { name: this.name, pid, identity: this.#identity };
  }

  /** Starts it and waits until it serves. @throws BootError with the end of its log when it does not */
  async start(): Promise<void> {
    this.#held = false;
    clearTimeout(this.#retry);
    await this.#ended;
    if (this.#child === undefined) this.#spawn();
    await this.#untilReady();
  }

  /** @throws BootError with the end of its log when it is not running */
  assertAlive(): void {
    if (this.#child === undefined) throw new BootError(`${this.name} is not running.${this.#logTail()}`);
  }

  /** Kills it without warning and keeps it down until `start` is called. Resolves when it is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Asks it to stop, and kills it when it has not stopped within `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    const timer = setTimeout(() => this.#signal('SIGKILL'), limitMs);
    await this.#end('SIGTERM');
    clearTimeout(timer);
  }

  /** Does not wait: for the last resort at exit. */
  killNow(): void {
    this.#held = true;
    this.#signal('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#held = true;
    clearTimeout(this.#retry);
    this.#ready.reject(new BootError(`${this.name} was stopped`));
    this.#signal(signal);
    await this.#ended;
  }

  #signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  #spawn(): void {
    const { command, args } = withParentDeathSignal(this.#spec.command, this.#spec.args);
    this.#ready = deferred();
    this.#startedAt = Date.now();
    const errors = openSync(this.#spec.logPath, 'a', 0o600);
    const { env, ownGroup = false } = this.#spec;
    const child = spawn(command, args, { env, detached: ownGroup, stdio: ['ignore', 'pipe', errors] });
    closeSync(errors);
    this.#child = child;
    this.#identity = child.pid === undefined ? undefined : processIdentity(child.pid);
    const ended = deferred();
    this.#ended = ended.promise;
    if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => this.#heard(line));
    child.once('spawn', () => {
      if (!this.#spec.saysReady) this.#isReady();
      this.#onChange();
    });
    let over = false;
    const onEnd = (how: string): void => {
      if (over) return;
      over = true;
      this.#child = undefined;
      ended.resolve();
      this.#hasEnded(how);
    };
    child.once('error', (error) => onEnd(error.message));
    child.once('exit', (code, signal) => onEnd(signal === null ? `exit code ${code}` : `signal ${signal}`));
  }

  #heard(line: string): void {
    this.#toLog(line);
    if (line.startsWith(`ready ${this.name}`)) this.#isReady();
  }

  /** At once, unlike a stream, which opens, writes and fails when nobody expects it any more: after `stop`, say. */
  #toLog(line: string): void {
    const { logPath } = this.#spec;
    try {
      appendFileSync(logPath, `${line}\n`, { mode: 0o600 });
      this.#logFails = false;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (!this.#logFails) this.#say(`What ${this.name} prints can not be logged until this is mended: ${why}`);
      this.#logFails = true;
    }
  }

  #isReady(): void {
    this.#served = true;
    this.#ready.resolve();
  }

  async #untilReady(): Promise<void> {
    const late = (): Error =>
      new BootError(`${this.name} did not serve within ${READY_LIMIT_MS / 1000} s.${this.#logTail()}`);
    await within(this.#ready.promise, READY_LIMIT_MS, late);
  }

  #hasEnded(how: string): void {
    this.#onChange();
    if (this.#held) return;
    if (!this.#served) {
      // A fault of configuration or of the machine: trying again would only hide its reason.
      this.#held = true;
      this.#ready.reject(new BootError(`${this.name} ended at start (${how}).${this.#logTail()}`));
      return;
    }
    this.#ready.reject(new BootError(`${this.name} ended again (${how})`));
    if (Date.now() - this.#startedAt > STABLE_MS) this.#retryMs = FIRST_RETRY_MS;
    this.#say(
      `${this.name} ended (${how}): it is started again in ${this.#retryMs / 1000} s. Log: ${this.#spec.logPath}`,
    );
    this.#retry = setTimeout(() => {
      this.#spawn();
      this.#ready.promise.then(() => this.#say(`${this.name} serves again.`)).catch(() => undefined);
    }, this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
  }

  #logTail(): string {
    const lines = existsSync(this.#spec.logPath) ? readFileSync(this.#spec.logPath, 'utf8').trimEnd().split('\n') : [];
    const tail = lines.slice(-LOG_TAIL_LINES).filter((line) => line !== '');
    return tail.length === 0
      ? ` Its log is empty: ${this.#spec.logPath}`
      : ` Last lines of ${this.#spec.logPath}:\n${tail.join('\n')}`;
  }
}

function rotate(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) renameSync(path, `${path}.1`);
}
