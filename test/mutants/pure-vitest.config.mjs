import { randomBytes } from 'node:crypto';
import { defineConfig } from 'vitest/config';
import { chooseSeed } from '../../tools/tests/seed.mjs';

process.env.HOLDFAST_SEED = chooseSeed();
process.env.HOLDFAST_TEST_KEY ??= randomBytes(32).toString('base64');

/** Tests of one planted fault that run on the sources alone: no server and no build. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 1,
    testTimeout: 60_000,
    setupFiles: ['require-sources.mjs', 'seed.ts'].map((name) => `test/support/${name}`),
    execArgv: ['--no-warnings'],
  },
});
