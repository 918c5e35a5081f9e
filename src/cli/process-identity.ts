import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Distinguishes processes with the same id: ids are reused, start times are not.
 * @returns undefined if there is no such process
 */
export function processIdentity(pid: number): string | undefined {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // Fields are counted after the command name, which may contain spaces and parentheses.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const [state] = fields;
      return state === 'Z' || state === 'X' ? undefined : fields[19];
    } catch {
      return undefined;
    }
  }
  // Two shells of other time zones or languages would read another time, and take a running stack for dead.
  const started = startTold(pid, { ...process.env, LC_ALL: 'C', TZ: 'UTC' });
  return started && `${IN_UTC}${started}`;
}

/** Marks that form. Earlier versions wrote no mark, and the time as the shell that had begun the process shows it. */
const IN_UTC = 'utc:';

/** @returns undefined if there is no such process */
function startTold(pid: number, env: NodeJS.ProcessEnv): string | undefined {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether the process with this id is the one of which this identity was written down. `unsure`: it was by an earlier version, and
 * nothing but the time zone or the language of its shell may differ. It is neither to be ended nor to be taken for dead.
 */
export function identify({ pid, identity }: { pid: number; identity: string }): 'same' | 'other' | 'unsure' {
  const now = processIdentity(pid);
  if (now === identity) return 'same';
  if (now?.startsWith(IN_UTC) !== true || identity === '' || identity.startsWith(IN_UTC)) return 'other';
  const told = startTold(pid, process.env);
  if (told === undefined) return 'other';
  return told === identity ? 'same' : 'unsure';
}
