import { defineConfig } from 'vitest/config';

/** Tests of one planted fault that run on the sources alone: no server and no build. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 1,
    testTimeout: 60_000,
    setupFiles: ['test/support/require-sources.mjs'],
    execArgv: ['--no-warnings'],
  },
});
