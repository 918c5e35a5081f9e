import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run, runOrThrow } from './run.mjs';

const BALLAST = 'ballast';
const GIB = 2 ** 30;
/** A block. */
const LEAST_BYTES = 4_096;
const diskOf = (folder, name) => join(folder, 'disks', name);
const volumeOf = (disk) => join(disk, 'volume');

/**
 * A file system of this size in a file, mounted below the rig's folder. Its size is a limit: the file grows as it is used.
 * @returns the folder in it that is the volume; what fills the disk lies beside it
 */
export async function makeDisk(folder, name, bytes) {
  const disk = diskOf(folder, name);
  const image = `${disk}.ext4`;
  mkdirSync(disk, { recursive: true });
  await runOrThrow('truncate', ['-s', String(bytes), image]);
  // Nothing is kept back for root, who fills it.
  await runOrThrow('mkfs.ext4', ['-q', '-m', '0', image]);
  await runOrThrow('mount', ['-o', 'loop', image, disk]);
  mkdirSync(volumeOf(disk));
  return volumeOf(disk);
}

/** Takes all that is free on the disk of a volume, also while others write there. */
export async function fillDisk(folder, name) {
  const ballast = join(diskOf(folder, name), BALLAST);
  mkdirSync(ballast);
  for (let [bytes, files] = [GIB, 0]; bytes >= LEAST_BYTES;) {
    const file = join(ballast, String(files));
    const { code } = await run('fallocate', ['-l', String(bytes), file]);
    if (code === 0) files += 1;
    else {
      rmSync(file, { force: true });
      bytes /= 2;
    }
  }
}

export function freeDisk(folder, name) {
  rmSync(join(diskOf(folder, name), BALLAST), { recursive: true, force: true });
}

/** Unmounts the disks of a rig, which no process uses any more. */
export async function unmountDisks(folder) {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const ours = mounts.flatMap((line) => line.split(' ')[1] ?? []).filter((path) => path.startsWith(`${folder}/disks/`));
  for (const path of ours) await runOrThrow('umount', [path]);
}
