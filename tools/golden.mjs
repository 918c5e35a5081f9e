/**
 * Records the golden histories that don't exist yet, by the scenarios in test/replay/scenarios.ts: `npm run golden`, or
 * `npm run golden -- -t <part of a name>`. Existing histories are never overwritten.
 */
import { ensureReady } from './setup.mjs';
import { rootDir } from './setup/paths.mjs';
import { exitWithReason } from './setup/set-up-error.mjs';
import { spawnSync } from 'node:child_process';

try {
  await ensureReady({ need: ['packages', 'build', 'temporal', 'testServer'] });
  const vitest = ['--no-warnings', 'node_modules/vitest/vitest.mjs', 'run', 'test/replay/record.test.ts'];
  const { status } = spawnSync(process.execPath, [...vitest, ...process.argv.slice(2)], {
    cwd: rootDir,
    stdio: 'inherit',
    // These histories verify the simulation, so the simulation must not record them.
    env: { ...process.env, HOLDFAST_RECORD: '1', HOLDFAST_ENGINE: 'real' },
  });
  process.exitCode = status ?? 1;
} catch (error) {
  exitWithReason(error);
}
