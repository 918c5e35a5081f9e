import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootDir } from './setup/paths.mjs';

const JEST = ['--experimental-vm-modules', '--no-warnings', join(rootDir, 'node_modules', 'jest', 'bin', 'jest.js')];

/**
 * Runs jest and prints, as its last line, `N passed, N failed` (`, N skipped`), the reasons of failures before it.
 * With `full` tests use the counts of a full run (`HOLDFAST_FULL=1`); those that need the whole machine to hit the moment
 * they aim at come after all others then, one by one. Returns the exit code.
 */
export async function runTests({ args = [], full = false, beforeSummary = () => {} }) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-summary-'));
  const path = join(folder, 'summary.json');
  try {
    const reporters = ['default', join(rootDir, 'scripts', 'jest-summary.mjs')].map((name) => `--reporters=${name}`);
    const env = { ...process.env, HOLDFAST_JEST_SUMMARY: path, ...(full ? { HOLDFAST_FULL: '1' } : {}) };
    const passes = args.length > 0 ? [''] : full ? ['together', 'alone'] : ['short'];
    const ended = [];
    for (const pass of passes) {
      const code = await runJest([...args, ...reporters, ...(pass === 'alone' ? ['--runInBand'] : [])], {
        ...env,
        HOLDFAST_PASS: pass,
      });
      ended.push({ code, summary: readSummary(path) });
      rmSync(path, { force: true });
    }
    beforeSummary();
    // Of tests that were chosen by name all others are left out.
    if (args.length === 0) printLeftOut(ended.flatMap(({ summary }) => summary?.leftOut ?? []));
    return printSummary(sumOf(ended), ended.find(({ code }) => code !== 0)?.code ?? 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runJest(args, env) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...JEST, ...args], { cwd: rootDir, env, stdio: 'inherit' });
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

function readSummary(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Undefined when one of them has none. */
function sumOf(ended) {
  const summaries = ended.map(({ summary }) => summary);
  if (summaries.includes(undefined)) return undefined;
  const sum = (name) => summaries.reduce((total, summary) => total + summary[name], 0);
  const failures = summaries.flatMap((summary) => summary.failures);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped'), failures };
}

/** Nobody should take a run for more than it was. A name says why, or a line above does. */
function printLeftOut(names) {
  if (names.length > 0) console.log('');
  for (const name of names) console.log(`SKIPPED ${name}`);
}

function printSummary(summary, code) {
  if (summary === undefined) {
    console.log(`\njest ended with exit code ${code} before any test had a result: see above.`);
    console.log('0 passed, 1 failed');
    return code || 1;
  }
  const { passed, failed, skipped, failures } = summary;
  for (const { name, reason } of failures) console.log(`\nFAILED ${name}\n${reason}`);
  if (passed + failed === 0) console.log('\nNo test ran.');
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return code || (failed > 0 || passed === 0 ? 1 : 0);
}
