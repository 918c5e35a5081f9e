import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts CPU time of processes in hundredths of a second. */
const MS_PER_TICK = 10;

/** CPU time in ms that a process has used so far, all its threads included. NaN where the system does not tell. */
export function cpuMs(pid: number): number {
  return statOf(String(pid))?.own ?? Number.NaN;
}

/** The same with its children, those that have ended included. */
export function cpuMsOfFamily(pid: number): number {
  const parent = statOf(String(pid));
  if (parent === undefined) return Number.NaN;
  const others = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = others.flatMap((name) => statOf(name) ?? []).filter((child) => child.parent === pid);
  return children.reduce((sum, { own, ended }) => sum + own + ended, parent.own + parent.ended);
}

interface Stat {
  parent: number;
  /** ms, of the process itself and of the children that it has had. */
  own: number;
  ended: number;
}

function statOf(pid: string): Stat | undefined {
  // The name of the process, in parentheses, may hold spaces.
  const fields = read(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, '')
    .split(' ')
    .map(Number);
  if (fields === undefined) return undefined;
  const [, parent = 0] = fields;
  const [user = 0, system = 0, userOfEnded = 0, systemOfEnded = 0] = fields.slice(11);
  return { parent, own: (user + system) * MS_PER_TICK, ended: (userOfEnded + systemOfEnded) * MS_PER_TICK };
}

/** MB that a process holds in memory. NaN where the system does not tell. */
export function memoryMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
  return Math.round(Number(kilobytes) / 1024);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
