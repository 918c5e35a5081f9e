import { execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { root } from '../tools/support.js';
import { withParentDeathSignal } from '../../tools/stack/interruption.js';

/** The command that runs an example, or why it can't be run on this machine. */
export type Program = { command: readonly string[] } | { problem: string };

/** A running example. */
export interface Shop {
  /** What it has printed so far, by lines. */
  lines: readonly string[];
  post(path: string, body: object | string, headers?: Record<string, string>): Promise<Answer>;
  stop(): Promise<void>;
}

interface Answer {
  status: number;
  content: Record<string, unknown>;
}

/** Installs what the example of this language needs, where that can be had. */
export function prepare(language: string): Program {
  try {
    const tool = [`${root}/tools/example-command.mjs`, language];
    const stdout = execFileSync(process.execPath, tool, { encoding: 'utf8', stdio: 'pipe' });
    return { command: JSON.parse(stdout) as string[] };
  } catch (error) {
    return { problem: String((error as { stderr?: string }).stderr ?? error).trim() };
  }
}

/** Runs it until it is ready. @throws Error with all that it printed, if it ends before */
export async function openShop(command: readonly string[], env: Record<string, string>): Promise<Shop> {
  const [executable = '', ...rest] = command;
  const { command: program, args } = withParentDeathSignal(executable, rest);
  const { PATH, HOME } = process.env;
  const child = spawn(program, args, { env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      const ready = /^ready (http:\S+)$/.exec(line)?.[1];
      if (ready !== undefined) resolve(ready);
    });
    child.once('error', reject);
    void gone.then(() => reject(new Error(`${executable} ended:\n${lines.join('\n')}\n${errors}`)));
  });
  return {
    lines,
    async post(path, body, headers = {}) {
      const response = await fetch(`${url}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: response.status, content: (await response.json()) as Record<string, unknown> };
    },
    async stop() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
