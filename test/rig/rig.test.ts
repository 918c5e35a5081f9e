import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { atFullCounts } from '../support/at-full-counts.js';

/** With the builds of Temporal's server, which are made once. */
const LIMIT_MS = 45 * 60_000;

atFullCounts(
  'docker-compose.yml comes up, pays, comes back after kills and partitions, and keeps its promises through outages, with real processes',
  async () => {
    const rig = spawn(process.execPath, [join(import.meta.dirname, 'main.mjs')], {
      cwd: resolve(import.meta.dirname, '../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: LIMIT_MS - 30_000,
    });
    let output = '';
    rig.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(rig, 'close')) as [number | null];
    // With its skips and figures, however it ends.
    process.stderr.write(output);
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
  },
  LIMIT_MS,
);
