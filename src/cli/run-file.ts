import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { CommandError } from './errors.js';
import { identify } from './process-identity.js';

const runFileSchema = z.object({
  stack: z.object({ pid: z.int().positive(), identity: z.string().optional() }),
  temporal: z.object({ address: z.string().min(1), namespace: z.string().min(1), uiUrl: z.string() }).optional(),
});

/** Addresses of a running `npm start`. */
export interface RunningStack {
  stateDir: string;
  address: string;
  namespace: string;
  /** Base address of Temporal UI. */
  uiUrl: string;
}

/**
 * Reads `run.json` of the stack in this folder; undefined when none runs.
 * @throws CommandError while the stack still boots, or when the file can't be read
 */
export function runningStack(env: NodeJS.ProcessEnv, cwd: string): RunningStack | undefined {
  const stateDir = resolve(cwd, env['HOLDFAST_STATE_DIR'] || '.holdfast');
  const path = join(stateDir, 'run.json');
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CommandError(`${path} can't be read (${code}); run the command as the user who runs npm start`);
  }
  const file = runFileSchema.safeParse(parsed(text));
  if (!file.success) throw new CommandError(`${path} is not what npm start writes; remove it, or start again`);
  const { stack, temporal } = file.data;
  // A killed stack leaves its file behind. Another process may have its id by now, and another server its address.
  if (!lives(stack.pid) || isAnother(stack)) return undefined;
  if (temporal === undefined) throw new CommandError(`npm start still boots in this folder (${path}); try again soon`);
  return { stateDir, ...temporal };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One that may be the stack counts as it: a command that changes something would reach another Temporal. */
function isAnother({ pid, identity = '' }: { pid: number; identity?: string | undefined }): boolean {
  return identity !== '' && identify({ pid, identity }) === 'other';
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
