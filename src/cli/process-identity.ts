import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Distinguishes processes with the same id: ids are reused, start times are not.
 * @returns undefined if there is no such process
 */
export function processIdentity(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // Fields are counted after the command name, which may contain spaces and parentheses.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const [state] = fields;
      return state === 'Z' || state === 'X' ? undefined : fields[19];
    }
    // Two shells of other time zones or languages would read another time, and take a running stack for dead.
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env }).trim();
    return started === '' ? undefined : started;
  } catch {
    return undefined;
  }
}
