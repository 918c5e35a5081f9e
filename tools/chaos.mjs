/**
 * Runs flows under faults and kills on a stack of its own, then compares every answer with the ledger:
 * `npm run chaos -- --minutes 5`. Exits with 0 if no money moved twice and no outcome is unknown, otherwise with 1 and
 * every violating reference.
 */
import { ensureReady } from './setup.mjs';
import { exitWithReason } from './setup/set-up-error.mjs';

try {
  const { temporalPath } = await ensureReady({ need: ['packages', 'build', 'temporal'] });
  const { runChaos } = await import('../dist/tools/chaos/main.js');
  process.exit(await runChaos({ args: process.argv.slice(2), env: process.env, temporalPath }));
} catch (error) {
  exitWithReason(error);
}
