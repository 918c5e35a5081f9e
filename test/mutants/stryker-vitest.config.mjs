import { defineConfig } from 'vitest/config';

/** Only the pure tests of the folders that StrykerJS changes: no server, no build, one process. */
export default defineConfig({
  test: {
    include: ['test/domain/**/*.test.ts', 'test/contract/**/*.test.ts'],
    // It reads the sources, which StrykerJS has filled with its own code.
    exclude: ['test/contract/purity.test.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: 1,
    testTimeout: 60_000,
    execArgv: ['--no-warnings'],
  },
});
