import { defineConfig } from 'vitest/config';

/** Tests are TypeScript sources run in Node itself, without a VM; real processes that they start run from `dist/`. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: process.env.HOLDFAST_RECORD === '1' ? [] : ['test/replay/record.test.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    setupFiles: ['test/support/require-sources.mjs', 'test/support/clock-between-tests.ts'],
    execArgv: ['--no-warnings'],
    globalSetup: ['test/support/global-setup.mjs'],
  },
});
