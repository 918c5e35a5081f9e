import { defineConfig } from 'vitest/config';

// The same samples for every mutant: one that is killed today is killed tomorrow.
process.env.HOLDFAST_SEED ??= '1';

/** Only the pure tests of the folders that StrykerJS changes: no server, no build, one process. */
export default defineConfig({
  test: {
    include: ['test/domain/**/*.test.ts', 'test/contract/**/*.test.ts'],
    // It reads the sources, which StrykerJS has filled with its own code.
    exclude: ['test/contract/purity.test.ts'],
    setupFiles: ['test/support/seed.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 1,
    testTimeout: 60_000,
    execArgv: ['--no-warnings'],
  },
});
