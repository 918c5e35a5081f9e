import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeGroups } from './cgroups.mjs';
import { unmountDisks } from './disks.mjs';
import { run } from './run.mjs';

/** A folder for each rig that runs. */
export const RUNS = '/tmp/holdfast-rig';

/** This process: its id, and when it began, since ids are used again. */
export function idOfRun(pid = process.pid) {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return undefined;
  const fields = readFileSync(path, 'utf8').replace(/^.*\)/s, '').trim().split(' ');
  return `${pid} ${fields[19]}`;
}

/** Ends and removes what rigs have left whose process is gone, however it ended. Others that run are let be. */
export async function removeLeftOvers(say) {
  for (const id of existsSync(RUNS) ? readdirSync(RUNS) : []) {
    const path = join(RUNS, id, 'owner');
    const owner = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (owner !== '' && idOfRun(owner.split(' ')[0]) === owner) continue;
    say(`removing what an earlier run has left (${id})`);
    await removeRun(id);
  }
}

/**
 * Removes a folder of a rig. Containers have their mounts to themselves; if one is seen from outside all the same, what it
 * shows would be removed too.
 */
export function removeFolder(path) {
  const mounts = readFileSync('/proc/self/mounts', 'utf8');
  const mounted = mounts.split('\n').find((line) => line.split(' ')[1]?.startsWith(`${path}/`));
  if (mounted !== undefined) throw new Error(`${path} is not removed: something is mounted there: ${mounted}`);
  rmSync(path, { recursive: true, force: true });
}

/** Kills the processes in the network namespaces of a rig, by their ids, and removes all that it has made. */
export async function removeRun(id) {
  const { stdout } = await run('ip', ['netns', 'list']);
  const names = stdout.split('\n').flatMap((line) => line.split(' ')[0] ?? []);
  for (const name of names.filter((one) => one.startsWith(`hfr${id}-`))) {
    for (let tries = 0; tries < 50; tries += 1) {
      const pids = (await run('ip', ['netns', 'pids', name])).stdout.split('\n').filter((pid) => pid !== '');
      if (pids.length === 0) break;
      for (const pid of pids) {
        try {
          process.kill(Number(pid), 'SIGKILL');
        } catch {
          // It has ended meanwhile.
        }
      }
      await sleep(100);
    }
    await run('ip', ['netns', 'del', name]);
  }
  await run('ip', ['link', 'del', `hfr${id}`]);
  removeGroups(`hfr${id}-`);
  await unmountDisks(join(RUNS, id));
  removeFolder(join(RUNS, id));
}
