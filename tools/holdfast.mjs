#!/usr/bin/env node
import { existsSync } from 'node:fs';

// In a clone the command makes what it needs; as an installed package it builds and fetches nothing.
if (existsSync(new URL('setup.mjs', import.meta.url))) {
  const [{ ensureReady }, { exitWithReason }] = await Promise.all([
    import('./setup.mjs'),
    import('./setup/set-up-error.mjs'),
  ]);
  await ensureReady({ need: ['packages', 'build'] }).catch(exitWithReason);
}
await import('../dist/src/cli/main.js');
