import { readFileSync } from 'node:fs';

/** Linux counts CPU time of processes in hundredths of a second. */
const MS_PER_TICK = 10;

/** CPU time in ms that a process has used so far, all its threads included. NaN where the system does not tell. */
export function cpuMs(pid: number): number {
  // The name of the process, in parentheses, may hold spaces.
  const fields =
    read(`/proc/${pid}/stat`)
      ?.replace(/^.*\) /s, '')
      .split(' ') ?? [];
  const [user, system] = [fields[11], fields[12]];
  return (Number(user) + Number(system)) * MS_PER_TICK;
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
