/** They show again, by other roads and at length, what the others show in a short run. Named, they run at any time. */
const ONLY_AT_FULL_COUNTS = [
  'activities/every-failure',
  'demo/demo',
  'guarantees/event-during-a-repost',
  'guarantees/events-of-every-kind-of-flow',
  'guarantees/every-crash-point-of-commands',
  'guarantees/hostile-answers',
  'guarantees/hostile-profiles',
  'guarantees/killed-worker',
  'guarantees/lost-replies',
  'guarantees/lost-webhook-costs-time',
  'guarantees/money-moves-at-most-once-after-a-reset',
  'guarantees/no-invented-outcome',
  'guarantees/replays-after-heartbeats',
  'guarantees/settling-everywhere',
  'guarantees/storm',
  'time/capture',
  'time/late-payment',
  'time/operator',
  'time/parked-event',
  'time/payment-actions',
  'time/reauthorize',
  'time/review',
  'time/subscription-in-flight',
  'time/subscription-notices',
  'time/subscription-outage',
  'webhook/traces',
  'workflows/ended-payments',
  'workflows/held-money',
  'workflows/risk-of-a-hold',
  'workflows/subscription-deploys',
  'workflows/three-d-secure',
];

/** They aim at moments, or at hundreds of flows at once, and take the whole machine: see scripts/run-tests.mjs. */
const ALONE_AT_FULL_COUNTS = [
  'guarantees/every-crash-point',
  'guarantees/hostile-profiles',
  'guarantees/mixed-storm',
  'guarantees/money-moves-at-most-once-after-a-reset',
  'guarantees/storm',
];
const isAlone = process.env.HOLDFAST_PASS === 'alone';

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
  testMatch: isAlone
    ? ALONE_AT_FULL_COUNTS.map((name) => `<rootDir>/test/${name}*.test.ts`)
    : ['<rootDir>/test/**/*.test.ts'],
  // Writes golden histories instead of testing: see scripts/golden.mjs.
  testPathIgnorePatterns: [
    ...(process.env.HOLDFAST_RECORD === '1' ? [] : ['<rootDir>/test/replay/record']),
    // At reduced counts the mixed storm has to do, and every-crash-point, which takes points of the commands along.
    ...(process.env.HOLDFAST_PASS === 'together' ? ALONE_AT_FULL_COUNTS.map((name) => `<rootDir>/test/${name}`) : []),
    ...(process.env.HOLDFAST_PASS === 'short' ? ONLY_AT_FULL_COUNTS.map((name) => `<rootDir>/test/${name}`) : []),
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/dist-next/', '<rootDir>/.holdfast/'],
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  testTimeout: 60_000,
  // More than there are cores: most of the time goes into waiting for time-outs of what was killed.
  maxWorkers: 3,
};
