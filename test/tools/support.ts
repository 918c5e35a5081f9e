import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach } from 'vitest';

export const root = resolve(import.meta.dirname, '../..');

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-scripts-'));
  folders.push(folder);
  return folder;
}

const folders: string[] = [];
const running = new Set<ChildProcess>();
afterEach(async () => {
  await Promise.all(
    [...running].map(
      (child) =>
        new Promise((done) => {
          if (child.exitCode !== null || child.signalCode !== null) return done(undefined);
          child.once('exit', done);
          child.kill('SIGKILL');
        }),
    ),
  );
  running.clear();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export interface Running {
  child: ChildProcess;
  /** All it printed so far, stdout and stderr together. */
  output(): string;
  /** Resolves when a whole line equals this one; rejects with the output when it ends before. */
  line(text: string): Promise<void>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts a Node script of the project as a process group of its own. */
export function startScript(args: readonly string[], env: NodeJS.ProcessEnv): Running {
  const child = spawn(process.execPath, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((done) => {
    child.once('close', (code, signal) => done({ code, signal }));
  });
  const line = (text: string): Promise<void> =>
    new Promise((found, failed) => {
      const look = (): void => {
        if (output.split('\n').includes(text)) found();
      };
      child.stdout.on('data', look);
      look();
      void ended.then(({ code }) => failed(new Error(`ended with ${code} before "${text}":\n${output}`)));
    });
  return { child, output: () => output, line, ended };
}
