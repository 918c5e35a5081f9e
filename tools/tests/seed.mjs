import { spawnSync } from 'node:child_process';
import { rootDir } from '../setup/paths.mjs';

/**
 * `HOLDFAST_SEED`, or a seed derived from the commit, so that each commit is tested with other samples and a failed run
 * can be repeated. Random if git is not available.
 */
export function chooseSeed() {
  if (process.env.HOLDFAST_SEED) return process.env.HOLDFAST_SEED;
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: rootDir, encoding: 'utf8' });
  if (status === 0) return String(Number.parseInt(stdout.slice(0, 7), 16));
  return String(Math.floor(Math.random() * 2 ** 28));
}
