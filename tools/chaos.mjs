/**
 * Flows under faults and kills, on a stack of its own, and then the comparison of every answer with the ledger:
 * `npm run chaos -- --minutes 5`. Ends with 0 when no money moved twice and nothing is left unknown, else with 1 and every
 * wrong reference.
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
