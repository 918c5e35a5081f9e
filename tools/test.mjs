import { runTests } from './run-tests.mjs';
import { ensureReady } from './setup.mjs';
import { exitWithReason } from './setup/set-up-error.mjs';

try {
  const args = process.argv.slice(2);
  await ensureReady({ need: ['packages', 'build', 'temporal', 'testServer'] });
  const full = args.includes('--full') || process.env.HOLDFAST_FULL === '1';
  process.exitCode = await runTests({ args: args.filter((arg) => arg !== '--full'), kind: full ? 'full' : 'short' });
} catch (error) {
  exitWithReason(error);
}
