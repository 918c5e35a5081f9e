import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootDir } from './setup/paths.mjs';
import { reaped } from './tests/cpu-time.mjs';
import { RunEvents } from './tests/events.mjs';
import { showProgress } from './tests/progress.mjs';
import { chooseSeed } from './tests/seed.mjs';
import { printSummary } from './tests/summary.mjs';
import { keepTimings } from './tests/timings.mjs';

const VITEST = join(rootDir, 'node_modules', 'vitest', 'vitest.mjs');
const REPORTER = join(rootDir, 'tools', 'tests', 'reporter.mjs');
const OUTPUT = join(rootDir, '.holdfast', 'test-output.log');

/**
 * A short run has one process for all files in the simulation and, beside it, one for all others: each compiles and warms
 * up its code once. At full counts the simulation's campaign is in two processes, because of its length.
 */
const SIDE_BY_SIDE = [['--project=simulated'], ['--project=unsimulated']];

/**
 * Runs vitest and prints a summary whose last line is `N passed, N failed` (`, N skipped`). The output of the tests and
 * their processes goes to `.holdfast/test-output.log`. Tests of the kind `full` use the counts of a full run, and leave no file
 * out. Files that `args` name are never left out. Returns the exit code.
 */
export async function runTests({ args = [], kind = 'short', steps = [] }) {
  const full = kind === 'full';
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-run-'));
  const chosen = args.length > 0;
  const eventsPath = join(folder, 'events.jsonl');
  const seed = chooseSeed();
  const run = chosen ? 'chosen' : kind;
  const env = {
    ...process.env,
    HOLDFAST_SEED: seed,
    HOLDFAST_TEST_EVENTS: eventsPath,
    HOLDFAST_RUN: run,
    ...(full && { HOLDFAST_FULL: '1' }),
  };
  const parts = ['short', 'verify'].includes(run) ? SIDE_BY_SIDE : [args];
  const events = new RunEvents(eventsPath, parts.length);
  const started = Date.now();
  const hideProgress = showProgress(events);
  try {
    const { code, left } = await runVitest(parts, { env, folder });
    hideProgress();
    events.read();
    keepTimings(events.files, { full });
    const wallMs = Date.now() - started;
    return printSummary({ events, code, left, wallMs, kind, chosen, seed, steps, output: OUTPUT });
  } finally {
    hideProgress();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runVitest(parts, { env, folder }) {
  mkdirSync(join(rootDir, '.holdfast'), { recursive: true });
  const leftPaths = parts.map((_, index) => join(folder, `left-${index}`));
  const output = openSync(OUTPUT, 'w');
  const children = parts.map((args, index) => {
    const all = ['--no-warnings', VITEST, 'run', `--reporter=${REPORTER}`, ...args];
    const wrapped = reaped(process.execPath, all, leftPaths[index]);
    return spawn(wrapped.command, wrapped.args, { cwd: rootDir, env, stdio: ['ignore', output, output] });
  });
  closeSync(output);
  const pass = (signal) => children.forEach((child) => child.kill(signal));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.once(signal, pass);
  // The terminal sends SIGINT to the children too. Wait for them to end.
  const wait = () => {};
  process.on('SIGINT', wait);
  const codes = await Promise.all(children.map(exitCodeOf));
  process.off('SIGINT', wait);
  return { code: Math.max(...codes), left: leftPaths.flatMap(linesOf) };
}

function exitCodeOf(child) {
  return new Promise((resolve) => {
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

function linesOf(path) {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
