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
 * Runs vitest and prints a summary whose last line is `N passed, N failed` (`, N skipped`). The output of the tests and
 * their processes goes to `.holdfast/test-output.log`. With `full`, tests use the counts of a full run and no file is
 * left out. Files that `args` name are never left out. Returns the exit code.
 */
export async function runTests({ args = [], full = false, steps = [] }) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-run-'));
  const chosen = args.length > 0;
  const eventsPath = join(folder, 'events.jsonl');
  const seed = chooseSeed();
  const env = {
    ...process.env,
    HOLDFAST_SEED: seed,
    HOLDFAST_TEST_EVENTS: eventsPath,
    HOLDFAST_RUN: chosen ? 'chosen' : full ? 'full' : 'short',
    ...(full && { HOLDFAST_FULL: '1' }),
  };
  const events = new RunEvents(eventsPath);
  const started = Date.now();
  const hideProgress = showProgress(events);
  try {
    const { code, left } = await runVitest([`--reporter=${REPORTER}`, ...args], { env, folder });
    hideProgress();
    events.read();
    keepTimings(events.files, { full });
    const wallMs = Date.now() - started;
    return printSummary({ events, code, left, wallMs, full, chosen, seed, steps, output: OUTPUT });
  } finally {
    hideProgress();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runVitest(args, { env, folder }) {
  mkdirSync(join(rootDir, '.holdfast'), { recursive: true });
  const leftPath = join(folder, 'left');
  const wrapped = reaped(process.execPath, ['--no-warnings', VITEST, 'run', ...args], leftPath);
  const output = openSync(OUTPUT, 'w');
  const child = spawn(wrapped.command, wrapped.args, { cwd: rootDir, env, stdio: ['ignore', output, output] });
  closeSync(output);
  const pass = (signal) => child.kill(signal);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.once(signal, pass);
  // The terminal sends SIGINT to the child too. Wait for the child to end.
  const wait = () => {};
  process.on('SIGINT', wait);
  const code = await new Promise((resolve) => {
    child.once('error', () => resolve(1));
    child.once('exit', (exit) => resolve(exit ?? 1));
  });
  process.off('SIGINT', wait);
  return { code, left: linesOf(leftPath) };
}

function linesOf(path) {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
