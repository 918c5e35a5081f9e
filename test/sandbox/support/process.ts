import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';

const MAIN = join(process.cwd(), 'dist', 'src', 'sandbox', 'main.js');

export interface SandboxProcess {
  child: ChildProcess;
  url: string;
  /** Ends it with that signal and answers its exit code, or null for a signal's death. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts the sandbox as its own process and waits for its `ready` line. */
export async function startProcess(env: Record<string, string>): Promise<SandboxProcess> {
  const child = spawn(process.execPath, [MAIN], { env: environment(env), stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^ready sandbox (\S+)$/.exec(line)?.[1];
    if (url === undefined) throw new Error(`unexpected first line: ${line}`);
    return {
      child,
      url,
      end: (signal) => {
        child.kill(signal);
        return exited;
      },
    };
  }
  throw new Error(`the sandbox ended with ${await exited}`);
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
