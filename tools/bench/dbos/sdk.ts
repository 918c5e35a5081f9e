import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Versions and hashes of the SDK and all that it needs, none of which is a package of Holdfast. */
const PINNED = fileURLToPath(new URL('../../../../tools/pinned/dbos/', import.meta.url));

/**
 * Installs DBOS's SDK into the cache where that was not done before.
 * @returns the folder in which its packages lie, or why it can't be had here
 */
export function dbosSdk(): { folder: string } | { problem: string } {
  const lock = createHash('sha256')
    .update(readFileSync(join(PINNED, 'package-lock.json')))
    .digest('hex');
  const folder = join(homedir(), '.cache', 'holdfast', `dbos-${lock.slice(0, 12)}`);
  if (existsSync(folder)) return { folder };
  // Renamed when complete, so that an interrupted installation is not taken for one.
  mkdirSync(dirname(folder), { recursive: true });
  const work = mkdtempSync(join(dirname(folder), '.dbos-'));
  try {
    cpSync(PINNED, work, { recursive: true });
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const { status, error } = spawnSync('npm', ['ci', ...quiet], { cwd: work, stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) return { problem: `npm ci of DBOS's SDK ended with ${String(error ?? status)}` };
    renameSync(work, folder);
    return { folder };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
