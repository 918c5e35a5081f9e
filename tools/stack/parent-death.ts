import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * On Linux, lets the kernel end the process when the stack dies without the chance to do it (SIGKILL, out of
 * memory). Elsewhere the next start ends what it finds in `run.json`.
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
