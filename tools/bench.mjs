/**
 * Runs the benchmarks, each against its baseline: `npm run bench` for all, `npm run bench -- charge --rounds 7` for one
 * with its own options. Nothing else may run on the machine meanwhile.
 */
import { spawnSync } from 'node:child_process';
import { ensureReady } from './setup.mjs';
import { rootDir } from './setup/paths.mjs';
import { exitWithReason, SetUpError } from './setup/set-up-error.mjs';

const BENCHES = {
  sandbox: 'dist/tools/bench/sandbox.js',
  'card-search': 'dist/tools/bench/card-search.js',
  mixed: 'dist/tools/bench/mixed.js',
  charge: 'dist/tools/bench/charge/main.js',
  settings: 'dist/tools/bench/charge/settings.js',
  costs: 'dist/tools/bench/costs.js',
  'slow-unit': 'dist/tools/bench/slow-unit.js',
  outage: 'dist/tools/bench/outage.js',
  'rolling-restart': 'dist/tools/bench/rolling-restart.js',
  'open-flows': 'dist/tools/bench/charge/waiting-flows.js',
  webhook: 'dist/tools/bench/webhook/main.js',
  billing: 'dist/tools/bench/billing/main.js',
  bytes: 'dist/tools/bench/bytes/main.js',
  dbos: 'dist/tools/bench/dbos/main.js',
  scaling: 'dist/tools/bench/scaling/main.js',
};

try {
  const [name, ...args] = process.argv.slice(2);
  if (name !== undefined && !(name in BENCHES)) {
    throw new SetUpError(`There is no benchmark "${name}": use one of ${Object.keys(BENCHES).join(', ')}.`);
  }
  const { temporalPath } = await ensureReady({ need: ['packages', 'build', 'temporal'] });
  for (const bench of name === undefined ? Object.keys(BENCHES) : [name]) {
    console.log(`\n${bench}`);
    const { status } = spawnSync(process.execPath, [BENCHES[bench], ...args], {
      cwd: rootDir,
      stdio: 'inherit',
      env: { ...process.env, TEMPORAL_CLI_PATH: temporalPath },
    });
    if (status !== 0) throw new SetUpError(`Benchmark "${bench}" ended with ${status}.`);
  }
} catch (error) {
  exitWithReason(error);
}
