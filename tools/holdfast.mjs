#!/usr/bin/env node
import { ensureReady } from './setup.mjs';
import { exitWithReason } from './setup/set-up-error.mjs';

await ensureReady({ need: ['packages', 'build'] }).catch(exitWithReason);
await import('../dist/src/cli/main.js');
