import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { processIdentity } from '../../src/cli/process-identity.js';
import { deferred, within, type Deferred, withParentDeathSignal } from './interruption.js';
import type { RunningProcess } from './run-file.js';

export interface ProcessSpec {
  name: string;
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  logPath: string;
  /** The process prints `ready <name> <url>` on stdout once it serves. If false, it is ready as soon as it runs. */
  saysReady: boolean;
  /** Gives it its own process group, so that a terminal's Ctrl-C reaches only its supervisor. */
  ownGroup?: boolean;
}

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
/** After running this long (ms), a crashed process is restarted with the shortest back-off again. */
const STABLE_MS = 60_000;
const READY_LIMIT_MS = 60_000;
const LOG_LIMIT_BYTES = 10 * 1024 * 1024;
const LOG_TAIL_LINES = 8;

/** A process of the stack ended or was not ready in time before it served for the first time. */
export class BootError extends Error {
  override readonly name = 'BootError';
}

/** Keeps one process running: restarts it with back-off after a crash, until it is killed or stopped. */
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

  /** Starts the process and waits until it serves. @throws BootError with the end of its log if it does not */
  async start(): Promise<void> {
    this.#held = false;
    clearTimeout(this.#retry);
    await this.#ended;
    if (this.#child === undefined) this.#spawn();
    await this.#untilReady();
  }

  /** @throws BootError with the end of its log if it is not running */
  assertAlive(): void {
    if (this.#child === undefined) throw new BootError(`${this.name} is not running.${this.#logTail()}`);
  }

  /** Sends SIGKILL and keeps the process down until `start` is called. Resolves when it has ended. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Sends SIGTERM, then SIGKILL if the process has not stopped within `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    const timer = setTimeout(() => this.#signal('SIGKILL'), limitMs);
    await this.#end('SIGTERM');
    clearTimeout(timer);
  }

  /** Kills without waiting, as a last resort at exit. */
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
    if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => this.#received(line));
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

  #received(line: string): void {
    this.#toLog(line);
    if (line.startsWith(`ready ${this.name}`)) this.#isReady();
  }

  /** Writes synchronously: a stream could fail later, for example after `stop`, when its error is no longer handled. */
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
      // The configuration or the machine is at fault. A restart would only hide the reason.
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
