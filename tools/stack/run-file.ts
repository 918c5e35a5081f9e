import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, processIdentity } from '../../src/cli/process-identity.js';

/** A process of a stack, with an identity that distinguishes it from a later process of the same id. */
export interface RunningProcess {
  name: string;
  pid: number;
  identity: string;
}

/** `run.json` in the state folder: the addresses of a running stack. Contains no secret. */
export interface RunFile {
  state: 'starting' | 'ready';
  startedAt: string;
  stack: RunningProcess;
  processes: RunningProcess[];
  temporal?: { address: string; namespace: string; uiUrl: string };
  sandbox?: { url: string };
  webhook?: { url: string; metricsUrl: string };
  codec?: { url: string };
  console?: { url: string };
  worker?: { metricsUrl: string };
}

/** Another stack uses this state folder, or may. */
export class StackRunningError extends Error {
  override readonly name = 'StackRunningError';
}

const STOP_LIMIT_MS = 5_000;

/**
 * Claims the state folder for this process. The file is its own lock, because two servers on one database would destroy
 * it. First ends the processes that a killed stack left running.
 * @throws StackRunningError if another stack is running, or if that can't be told
 */
export async function claimRunFile(stateDir: string, say: (line: string) => void): Promise<RunFile> {
  const path = join(stateDir, 'run.json');
  const stack = { name: 'stack', pid: process.pid, identity: processIdentity(process.pid) ?? '' };
  const mine: RunFile = { state: 'starting', startedAt: new Date().toISOString(), stack, processes: [] };
  while (!tryLink(path, serialise(mine))) {
    const text = textOf(path);
    const other = parsed(text);
    if (other !== undefined && lives(other.stack)) {
      throw new StackRunningError(
        `Holdfast already runs in this folder (process ${other.stack.pid}, since ${other.startedAt}` +
          `${other.temporal ? `, Temporal UI ${other.temporal.uiUrl}` : ''}). Stop it with Ctrl-C there, or give this ` +
          'one a state folder of its own: HOLDFAST_STATE_DIR=.holdfast-2 npm start',
      );
    }
    const unsure = other && [other.stack, ...other.processes].find((one) => identify(one) === 'unsure');
    if (unsure !== undefined) throw new StackRunningError(sayUnsure(unsure, path));
    for (const orphan of other?.processes.filter(lives) ?? []) await endOrphan(orphan, say);
    discardStale(path, text);
  }
  return mine;
}

function sayUnsure({ name, pid }: RunningProcess, path: string): string {
  return (
    `Process ${pid} may be "${name}" of a Holdfast of an earlier version that runs in this folder, begun in a shell of another ` +
    `time zone or language. Stop it if so, with Ctrl-C there. If process ${pid} is something else (ps -p ${pid}), remove ${path}.`
  );
}

/** A hard link appears together with its content, so no other start reads half of it. */
function tryLink(path: string, content: string): boolean {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, content, { mode: 0o600 });
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** @param text the content that was read of it */
function discardStale(path: string, text: string | undefined): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
    // Another start may have replaced it since it was read. Restore the file of that one then.
    if (textOf(aside) !== text) linkSync(aside, path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOENT', 'EEXIST'].includes(code)) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** The run file of this folder, or undefined if there is none or it can't be read. */
export function readRunFile(stateDir: string): RunFile | undefined {
  return parsed(textOf(join(stateDir, 'run.json')));
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function parsed(text: string | undefined): RunFile | undefined {
  try {
    return JSON.parse(text ?? '') as RunFile;
  } catch {
    return undefined;
  }
}

export function writeRunFile(stateDir: string, content: RunFile): void {
  const path = join(stateDir, 'run.json');
  writeFileSync(`${path}.new`, serialise(content), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function removeRunFile(stateDir: string): void {
  rmSync(join(stateDir, 'run.json'), { force: true });
}

function serialise(content: RunFile): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

function lives(process: RunningProcess): boolean {
  return identify(process) === 'same';
}

async function endOrphan(orphan: RunningProcess, say: (line: string) => void): Promise<void> {
  say(`Ending ${orphan.name} (process ${orphan.pid}), left over from an earlier start.`);
  signal(orphan.pid, 'SIGTERM');
  const since = Date.now();
  while (lives(orphan)) {
    if (Date.now() - since > STOP_LIMIT_MS) signal(orphan.pid, 'SIGKILL');
    await sleep(50);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended in between.
  }
}
