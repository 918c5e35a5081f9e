import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** ms in which signals are one key press: a terminal sends Ctrl-C to the whole group, and npm forwards it again. */
const SAME_PRESS_MS = 1_000;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interruption {
  signal: AbortSignal;
  /** Resolves when the user, or the parent process, wants the stack stopped. */
  requested: Promise<void>;
}

/**
 * Listens for Ctrl-C, SIGTERM, SIGHUP, a closed output and uncaught errors. The first one requests a stop; one that
 * comes more than a second later calls `insist`. `onFault` is called with each uncaught error, after which the
 * processes must still be stopped in order.
 */
export function listenForInterruption(insist: () => void, onFault: (error: unknown) => void): Interruption {
  const controller = new AbortController();
  let first = 0;
  const interrupt = (): void => {
    if (!controller.signal.aborted) {
      first = Date.now();
      controller.abort();
    } else if (Date.now() - first > SAME_PRESS_MS) {
      insist();
    }
  };
  for (const name of SIGNALS) process.on(name, interrupt);
  for (const name of ['uncaughtException', 'unhandledRejection']) {
    process.on(name, (error: unknown) => {
      onFault(error);
      interrupt();
    });
  }
  process.stdout.on('error', interrupt);
  process.stderr.on('error', interrupt);
  const requested = new Promise<void>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  return { signal: controller.signal, requested };
}

/** A promise with its own `resolve` and `reject`. Its rejection needs no handler. */
export interface Deferred {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: Error) => void;
}

export function deferred(): Deferred {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

/** Settles as `promise` does, or rejects with `late()` after `ms`. */
export async function within<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * On Linux, makes the kernel kill the process if the stack dies without stopping it (SIGKILL, out of memory). Elsewhere
 * the next start ends the processes that `run.json` lists.
 */
export function withParentDeathSignal(command: string, args: readonly string[]): { command: string; args: string[] } {
  const setpriv = process.platform === 'linux' ? findOnPath('setpriv') : undefined;
  if (setpriv === undefined) return { command, args: [...args] };
  return { command: setpriv, args: ['--pdeathsig', 'KILL', '--', command, ...args] };
}

function findOnPath(name: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}
