import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootDir } from '../setup/paths.mjs';

/** Ticks per second in `/proc` on every machine that Node runs on: USER_HZ is part of Linux's interface. */
const TICKS_PER_SECOND = 100;

const REAPER = join(rootDir, 'tools', 'tests', 'reap.py');
const WHY_NOT_HERE = 'CPU time is not known: it needs Linux (/proc, PR_SET_CHILD_SUBREAPER) and python3';

/**
 * Wraps the command so that every process it starts, orphans included, is waited for and counted. Processes still
 * running at its end are named in `leftPath`. Returns the command unchanged if the machine can't do that.
 */
export function reaped(command, args, leftPath) {
  if (!canReap()) return { command, args };
  return { command: 'python3', args: [REAPER, leftPath, command, ...args] };
}

let possible;
function canReap() {
  possible ??= process.platform === 'linux' && spawnSync('python3', ['-c', 'import ctypes, os'], {}).status === 0;
  return possible;
}

/**
 * CPU seconds (user and system) so far of this process, of the npm that started it, and of every process that it has
 * started and waited for. undefined if a part would be missing.
 */
export function cpuSeconds() {
  if (!canReap()) return undefined;
  const own = statOf('self');
  let seconds = own.self + own.children;
  // npm, and the shell in between, do nothing else.
  if (process.env.npm_lifecycle_event === undefined) return seconds;
  for (let { parent } = own, more = true; more && parent > 1;) {
    const stat = statOf(parent);
    more = /^(sh|bash|dash)$/.test(stat.name);
    if (more || stat.name.startsWith('npm')) seconds += stat.self;
    parent = stat.parent;
  }
  return seconds;
}

export function inWords(seconds) {
  return seconds === undefined ? WHY_NOT_HERE : `${(seconds / 60).toFixed(2)} CPU-minutes`;
}

function statOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in parentheses, may contain any character.
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  const ticks = (...places) => places.reduce((sum, place) => sum + Number(fields[place]), 0) / TICKS_PER_SECOND;
  return {
    name: text.slice(text.indexOf('(') + 1, end),
    parent: Number(fields[1]),
    self: ticks(11, 12),
    children: ticks(13, 14),
  };
}
