/** Tests are ES modules and run as TypeScript sources; real processes that they start run from `dist/`. */
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Writes golden histories instead of testing: see scripts/golden.mjs.
  testPathIgnorePatterns: [
    ...(process.env.HOLDFAST_RECORD === '1' ? [] : ['<rootDir>/test/replay/record']),
    // The storm kills workers, drops replies and answers garbage too, and every-crash-point takes points of the
    // commands along; at reduced counts that has to do.
    ...(process.env.HOLDFAST_FULL === '1'
      ? []
      : ['killed-worker', 'lost-replies', 'hostile-answers', 'every-crash-point-of-commands'].map(
          (name) => `<rootDir>/test/guarantees/${name}`,
        )),
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/dist-next/', '<rootDir>/.holdfast/'],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  testTimeout: 60_000,
  // More than there are cores: most of the time goes into waiting for time-outs of what was killed.
  maxWorkers: 3,
};
