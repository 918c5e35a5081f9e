import { ensureReady } from './setup.mjs';
import { exitWithReason } from './setup/set-up-error.mjs';

await ensureReady({ need: ['packages', 'build'] }).catch(exitWithReason);
