/**
 * StrykerJS over the pure code of money: `npm run mutants -- --stryker`, or `-- --stryker --mutate src/domain/money.ts`
 * for some of it.
 */
export default {
  mutate: ['src/domain/**/*.ts', 'src/contract/**/*.ts'],
  testRunner: 'vitest',
  // Nothing to rewrite in the sandbox: StrykerJS does that through the API of an older TypeScript.
  tsconfigFile: 'test/mutants/tsconfig.json',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/mutants/stryker-vitest.config.mjs', related: false },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  timeoutMS: 20_000,
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowColor: false, reportTests: false, allowEmojis: false },
  jsonReporter: { fileName: '.holdfast/stryker.json' },
  eventReporter: { baseDir: '.holdfast/stryker-events' },
  tempDirName: '.holdfast/stryker',
  // Tests of the contract read the published schemas.
  ignorePatterns: ['dist', 'dist-next', '.holdfast', 'tools/bench'],
  thresholds: { high: 95, low: 90, break: 90 },
};
