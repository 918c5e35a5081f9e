import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startReadyProcess, type ReadyProcess } from '../../../tools/stack/ready-process.js';

const MAIN = join('dist', 'sandbox', 'main.js');

export interface SandboxProcess extends ReadyProcess {
  /** Ends it with that signal and answers its exit code, or null for a signal's death. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts the sandbox as its own process and waits for its `ready` line. */
export async function startSandboxProcess(env: Record<string, string>): Promise<SandboxProcess> {
  const sandbox = await startReadyProcess(MAIN, { env: environment(env) });
  const exited = new Promise<number | null>((resolve) => sandbox.process.once('exit', resolve));
  return {
    ...sandbox,
    end: (signal) => {
      sandbox.process.kill(signal);
      return exited;
    },
  };
}

/** Runs the sandbox where it can't start: its exit code and what it said on stderr. */
export function runUntilExit(env: Record<string, string>): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [MAIN], { env: environment(env), stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr })));
}

function environment(env: Record<string, string>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOLDFAST_SANDBOX_PORT: '0', HOLDFAST_LOG_LEVEL: 'error', ...env };
}
