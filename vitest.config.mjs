import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { sep } from 'node:path';
import { defineConfig } from 'vitest/config';
import {
  ALONE_AT_FULL_COUNTS,
  fileOf,
  leftOutOf,
  NOT_SIMULATED,
  ON_REAL_PROCESSES,
  SIMULATED_FOLDERS,
} from './tools/tests/groups.mjs';
import { chooseSeed } from './tools/tests/seed.mjs';
import LongestFirst from './test/support/longest-first.mjs';

const isFull = process.env.HOLDFAST_FULL === '1';
// A short run has one process for each of the first two projects, side by side: tools/run-tests.mjs.
const processes = ['short', 'verify'].includes(process.env.HOLDFAST_RUN) ? 1 : 2;
process.env.HOLDFAST_SEED = chooseSeed();
// Of all processes of the run, so that they can read each other's payloads.
process.env.HOLDFAST_TEST_KEY ??= randomBytes(32).toString('base64');

const leftOut = new Set([
  // Writes golden histories instead of testing: see tools/golden.mjs.
  ...(process.env.HOLDFAST_RECORD === '1' ? [] : ['test/replay/record.test.ts']),
  ...Object.keys(leftOutOf(process.env.HOLDFAST_RUN)).map(fileOf),
]);
const all = readdirSync(new URL('test', import.meta.url), { recursive: true })
  .map((path) => `test/${path.split(sep).join('/')}`)
  .filter((path) => path.endsWith('.test.ts') && !leftOut.has(path));
const alone = new Set(isFull ? ALONE_AT_FULL_COUNTS.map(fileOf) : []);
// Whoever names files says on which engine.
const real = new Set(process.env.HOLDFAST_RUN === 'full' ? ON_REAL_PROCESSES.map(fileOf) : []);
const isSimulated = (file) =>
  SIMULATED_FOLDERS.includes(file.split('/')[1]) && !NOT_SIMULATED.map(fileOf).includes(file) && !alone.has(file);

/** One after the other, since each `groupOrder` begins when the one before has ended. No process is in two of them. */
const project = (name, groupOrder, maxWorkers, include, env = {}) => ({
  extends: true,
  test: { name, include, maxWorkers, env, sequence: { groupOrder } },
});

/**
 * Tests are TypeScript sources run in Node itself, without a VM; real processes that they start run from `dist/`. Files
 * of one process share its modules (`isolate: false`): one that leaves something behind there disturbs the next.
 */
export default defineConfig({
  test: {
    pool: 'forks',
    isolate: false,
    // Properties at full counts beside others on a busy machine.
    testTimeout: isFull ? 300_000 : 60_000,
    // A stack that boots beside others on a busy machine takes its time.
    hookTimeout: 120_000,
    setupFiles: ['require-sources.mjs', 'seed.ts', 'no-leaks.ts', 'clock-between-tests.ts'].map(
      (name) => `test/support/${name}`,
    ),
    // Flows make much garbage that is young: it is collected seldom, and by the thread that made it: helpers cost more CPU.
    execArgv: ['--no-warnings', '--min-semi-space-size=128', '--max-semi-space-size=128', '--single-threaded-gc'],
    // As Node itself imports packages: through the proxies that vitest would wrap them in, each access is slow.
    deps: { interopDefault: false },
    globalSetup: ['test/support/global-setup.mjs'],
    sequence: { sequencer: LongestFirst },
    projects: [
      // First: the server and the processes that others share would only idle meanwhile.
      project('simulated', 0, processes, all.filter(isSimulated), { HOLDFAST_NO_CONNECTIONS: '1' }),
      project(
        'unsimulated',
        1,
        processes,
        all.filter((file) => !isSimulated(file) && !alone.has(file)),
      ),
      project(
        'real',
        2,
        2,
        all.filter((file) => real.has(file)),
        { HOLDFAST_ENGINE: 'real' },
      ),
      project(
        'alone',
        3,
        1,
        all.filter((file) => alone.has(file)),
      ),
    ].filter(({ test }) => test.include.length > 0),
  },
});
