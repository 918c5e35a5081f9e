import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

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
