import { spawnSync } from 'node:child_process';
import { rootDir } from '../setup/paths.mjs';

/**
 * `HOLDFAST_SEED`, or one made of the commit: each commit is tried with other samples, and a red run of one can be
 * repeated. A random one where there is no git.
 */
export function chooseSeed() {
  if (process.env.HOLDFAST_SEED) return process.env.HOLDFAST_SEED;
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: rootDir, encoding: 'utf8' });
  if (status === 0) return String(Number.parseInt(stdout.slice(0, 7), 16));
  return String(Math.floor(Math.random() * 2 ** 28));
}
