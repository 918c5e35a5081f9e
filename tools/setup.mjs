import { join } from 'node:path';
import { ensureBuild } from './setup/build.mjs';
import { ensurePackages } from './setup/packages.mjs';
import { rootDir } from './setup/paths.mjs';
import { withLock } from './setup/set-up-lock.mjs';
import { SetUpError } from './setup/set-up-error.mjs';
import { ensureTemporalCli, ensureTestServer } from './setup/temporal-binaries.mjs';

const OLDEST_NODE = [20, 19];

/**
 * Makes a fresh clone ready to run on a machine that has only Node and Python 3 with pip. Does almost nothing if
 * everything is in place. `need` is any of `packages`, `build`, `temporal`, `testServer`.
 * Returns the paths of the requested binaries. Throws `SetUpError` with a message for the user.
 */
export async function ensureReady({ need, tolerateTypeErrors = false }) {
  checkNode();
  const wanted = new Set(need);
  const inFolder = withLock(join(rootDir, '.holdfast', 'set-up.lock'), async () => {
    if (wanted.has('packages')) await ensurePackages();
    if (wanted.has('build')) await ensureBuild({ tolerateTypeErrors });
  });
  const binaries = Promise.all([
    wanted.has('temporal') ? ensureTemporalCli() : undefined,
    wanted.has('testServer') ? ensureTestServer() : undefined,
  ]);
  const [, [temporalPath, testServerPath]] = await Promise.all([inFolder, binaries]);
  return { temporalPath, testServerPath };
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new SetUpError(`Node ${process.versions.node} is too old: Holdfast needs Node >= ${OLDEST_NODE.join('.')}.`);
}
