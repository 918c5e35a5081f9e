import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MOUNT = '/sys/fs/cgroup';
const isUnified = () => existsSync(join(MOUNT, 'cgroup.controllers'));

/** Folders of a container's control groups, with its limits for memory and processes; none where this machine gives none. */
export function limitedGroups(name, { memory, pids }) {
  try {
    if (isUnified()) {
      writeFileSync(join(MOUNT, 'cgroup.subtree_control'), '+memory +pids');
      return [group(MOUNT, name, { 'memory.max': memory, 'pids.max': pids })];
    }
    return [
      group(join(MOUNT, 'memory'), name, { 'memory.limit_in_bytes': memory }),
      group(join(MOUNT, 'pids'), name, { 'pids.max': pids }),
    ];
  } catch {
    return [];
  }
}

function group(parent, name, values) {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  for (const [file, value] of Object.entries(values))
    if (value !== undefined) writeFileSync(join(folder, file), String(value));
  return folder;
}

/** Most bytes that the processes of the group have used at a time. */
export function mostMemory(groups) {
  const files = groups.flatMap((folder) =>
    ['memory.peak', 'memory.max_usage_in_bytes'].map((name) => join(folder, name)),
  );
  const file = files.find((path) => existsSync(path));
  return file === undefined ? undefined : Number(readFileSync(file, 'utf8'));
}

/** Removes the groups of a rig. They are empty once its processes have ended. */
export function removeGroups(prefix) {
  for (const parent of [MOUNT, join(MOUNT, 'memory'), join(MOUNT, 'pids')]) {
    if (!existsSync(parent)) continue;
    for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix))) {
      try {
        rmdirSync(join(parent, name));
      } catch {
        // A process that is dying still counts. The next run removes it.
      }
    }
  }
}
