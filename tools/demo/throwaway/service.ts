import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { withParentDeathSignal } from '../../stack/parent-death.js';

const READY_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 9_000;
const TAIL_CHARACTERS = 2_000;
/** Tests run this file as it is written; a process is always run as it is built. */
const DIST = import.meta.url.endsWith('.ts') ? '../../../dist/' : '../../../';

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** One process of ours that lives no longer than the demo. */
export interface Service {
  /** Rejects with the end of what it wrote, when it does not serve in time. */
  url: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts it. It ends with `signal` at the latest.
 * @param entry below `dist/`
 */
export function startService(entry: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Service {
  signal.throwIfAborted();
  const path = fileURLToPath(new URL(`${DIST}${entry}`, import.meta.url));
  const { command, args } = withParentDeathSignal(process.execPath, [path]);
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  return {
    url: readyUrl(entry, child),
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      child.kill('SIGTERM');
      await ended;
      clearTimeout(timer);
    },
  };
}

async function readyUrl(entry: string, child: Child): Promise<string> {
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-TAIL_CHARACTERS)));
  return await new Promise<string>((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`the throwaway ${entry} ${why}; the last it wrote: ${errors.trim() || 'nothing'}`));
    };
    const timer = setTimeout(() => fail(`did not serve within ${READY_LIMIT_MS / 1000} s`), READY_LIMIT_MS);
    child.once('error', ({ message }) => fail(`could not be started (${message})`));
    child.once('exit', (code, by) => fail(`ended with ${code ?? by}`));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = /^ready \S+ (\S+)$/.exec(line)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
  });
}
