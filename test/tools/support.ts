import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { PORTS } from '../../tools/stack/settings.js';
import { temporalCliPath } from '../support/temporal.js';

export const root = resolve(import.meta.dirname, '../..');

export interface Running {
  child: ChildProcess;
  /** All it printed so far, stdout and stderr together. */
  output(): string;
  /** Resolves when a whole line equals this one; rejects with the output when it ends before. */
  line(text: string): Promise<void>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Every port is any free one: a stack of the developer may be running beside the tests. */
export function stackEnvironment(stateDir: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(HOLDFAST|TEMPORAL)_/.test(name));
  const ports = Object.values(PORTS).map(({ setting }) => [setting, '0']);
  return {
    ...Object.fromEntries(inherited),
    ...Object.fromEntries(ports),
    TEMPORAL_CLI_PATH: temporalCliPath(),
    HOLDFAST_STATE_DIR: stateDir,
    ...more,
  };
}

/**
 * Starts a Node script of the project as a process group of its own.
 * @param whenOver is given what ends it. Default: it ends with the test
 */
export function startScript(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  whenOver: (end: () => Promise<void>) => void = onTestFinished,
): Running {
  const child = spawn(process.execPath, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  whenOver(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
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
