import { spawn } from 'node:child_process';

/** Process groups under way: nothing of ours outlives this process. */
const groups = new Set();
process.once('exit', () => groups.forEach(end));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/**
 * Runs a command in a process group of its own and resolves with what it printed. When the time is over, and at the end of
 * this process, the whole group ends: a worker in an endless loop is told nothing else.
 */
export function runGroup(command, args, { cwd, timeoutMs }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let output = '';
    const take = (chunk) => (output += chunk);
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    const timer = setTimeout(() => {
      take(`\nstopped after ${timeoutMs} ms`);
      end(child.pid);
    }, timeoutMs);
    if (child.pid !== undefined) groups.add(child.pid);
    child.once('error', (error) => take(error.message));
    child.once('close', () => {
      clearTimeout(timer);
      if (child.pid !== undefined) {
        end(child.pid);
        groups.delete(child.pid);
      }
      resolve(output);
    });
  });
}

function end(group) {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
