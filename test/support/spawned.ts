import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** A busy machine takes its time; a process that is broken ends at once. */
const READY_WITHIN_MS = 90_000;

/** One of our real processes under test, run from `dist/` as production runs it. */
export interface Spawned {
  readonly url: string;
  readonly process: ChildProcess;
  /** Standard error so far: JSON log lines. */
  logs(): string;
  /** SIGKILL: no time for anything. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/**
 * Starts a compiled entry file and waits for its `ready` line.
 * @throws Error with what the process wrote, when it ends or stays silent instead
 */
export async function spawnProcess(file: string, env: Record<string, string>): Promise<Spawned> {
  const child = spawn(process.execPath, [file], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let logs = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (logs = (logs + text).slice(-200_000)));
  const gone = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const url = await new Promise<string>((resolve, reject) => {
    let out = '';
    const timer = setTimeout(() => fail('was not ready in time'), READY_WITHIN_MS);
    const fail = (why: string): void => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`${file} ${why}:\n${logs.slice(-3_000)}`));
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      const ready = /^ready \S+ (\S+)$/m.exec(out)?.[1];
      if (ready === undefined) return;
      clearTimeout(timer);
      resolve(ready);
    });
    void gone.then((code) => fail(`ended with ${code}`));
  });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return await gone;
  };
  return {
    url,
    process: child,
    logs: () => logs,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}
