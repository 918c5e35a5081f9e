import { ensureReady } from './setup.mjs';
import { exitWithReason } from './setup/set-up-error.mjs';

try {
  const { temporalPath } = await ensureReady({ need: ['packages', 'build', 'temporal'] });
  const { startStack } = await import('../dist/tools/stack/main.js');
  process.exit(await startStack({ args: process.argv.slice(2), env: process.env, temporalPath }));
} catch (error) {
  exitWithReason(error);
}
