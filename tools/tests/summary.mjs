import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileOf, LEFT_TO_VERIFY, leftOutOf, ONLY_AT_FULL_COUNTS } from './groups.mjs';
import { rootDir } from '../setup/paths.mjs';
import { cpuSeconds, inWords } from './cpu-time.mjs';

const SLOWEST_FULL = 20;
const SLOWEST_SHORT = 5;
const LINES_OF_OUTPUT = 30;

/**
 * Prints the result of a run: files left out and why, costs, failures with reasons, and counts. Returns the exit code.
 * `steps` are the steps before the tests: `{ name, ms }`.
 */
export function printSummary({ events, code, left, wallMs, kind, chosen, seed, steps, output }) {
  const full = kind === 'full';
  const { passed, failed, skipped } = events.counts;
  console.log(`${count(events.files.length, 'file')}, ${count(passed + failed + skipped, 'test')}, seed ${seed}`);
  // If files were chosen by name, all others are left out anyway.
  if (!chosen) printLeftOut(events.files, kind);
  printCosts(events.files, { wallMs, steps, slowest: full ? SLOWEST_FULL : SLOWEST_SHORT });
  for (const line of left) console.log(`STILL RUNNING at the end of the tests, and killed: ${line}`);
  const unreported = [...new Set([...events.running, ...events.chosen.filter((file) => !hasEnded(events, file))])];
  const broken = events.errors === undefined || unreported.length > 0 || (code !== 0 && failed === 0);
  if (broken) printBreak({ code, unreported, output });
  for (const reason of events.errors ?? []) console.log(`\nFAILED outside of any test\n${reason}`);
  for (const { file, failures } of events.files)
    for (const failure of failures) printFailure(file, failure, { seed, full });
  if (passed + failed === 0) console.log('\nNo test ran.');
  const failedAtAll = failed + (broken && failed === 0 ? 1 : 0);
  console.log(`\n${passed} passed, ${failedAtAll} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return code || (failedAtAll > 0 || passed === 0 ? 1 : 0);
}

/** Shows what a run did not cover. */
function printLeftOut(files, kind) {
  const skipped = files.flatMap(({ file, skipped: tests }) => tests.map((test) => ({ ...test, file })));
  if (skipped.length > 0) console.log('');
  for (const { file, name, why } of skipped) console.log(`SKIPPED ${file}: ${name}${why ? ` (${why})` : ''}`);
  const leftOut = leftOutOf(kind);
  printGroup(leftOut, LEFT_TO_VERIFY, 'npm run verify and .ci/run');
  printGroup(leftOut, ONLY_AT_FULL_COUNTS, 'the full run (npm run test:full)');
}

function printGroup(leftOut, group, where) {
  const names = Object.keys(group).filter((name) => name in leftOut);
  if (names.length > 0) console.log(`\n${names.length} files are left to ${where}:`);
  for (const name of names) console.log(`  ${fileOf(name)}: ${group[name]}`);
}

function printCosts(files, { wallMs, steps, slowest }) {
  console.log('\nWhere the time went:');
  for (const { name, ms } of steps) console.log(`  ${seconds(ms)}  ${name}`);
  const slow = files.toSorted((a, b) => b.ms - a.ms);
  for (const { file, ms } of slow.slice(0, slowest)) console.log(`  ${seconds(ms)}  ${file}`);
  const rest = slow.slice(slowest);
  const restMs = rest.reduce((sum, { ms }) => sum + ms, 0);
  if (rest.length > 0) console.log(`  ${seconds(restMs)}  in ${count(rest.length, 'other file')}`);
  const allMs = wallMs + steps.reduce((sum, { ms }) => sum + ms, 0);
  console.log(`Cost: ${inWords(cpuSeconds())}, ${(allMs / 1000).toFixed(1)} s on the clock`);
}

function printBreak({ code, unreported, output }) {
  console.log(`\nvitest ended with exit code ${code}, and not in good order. The end of ${relative(rootDir, output)}:`);
  console.log(readFileSync(output, 'utf8').trimEnd().split('\n').slice(-LINES_OF_OUTPUT).join('\n'));
  for (const file of unreported) console.log(`NO RESULT of ${file}`);
}

function printFailure(file, { name, reason }, { seed, full }) {
  const path = file.split(' ', 1)[0];
  const engine = path === file ? '' : 'HOLDFAST_ENGINE=real ';
  const promises = promisesShownBy(path);
  console.log(`\nFAILED ${file}${name === '' ? '' : `: ${name}`}\n${reason}`);
  for (const promise of promises) console.log(`It shows "${promise}" (docs/guarantees.md).`);
  // The seed chooses other cases at other counts.
  console.log(`Again: HOLDFAST_SEED=${seed} ${engine}npm ${full ? 'run test:full' : 'test'} -- ${path}`);
}

/** Guarantees (by paragraph or by flow) and money rules for which docs/guarantees.md names the file. */
function promisesShownBy(file) {
  const page = readFileSync(join(rootDir, 'docs', 'guarantees.md'), 'utf8');
  const headings = page.split(/^(?=##)/m).filter((part) => part.startsWith('### ') && part.includes(`\`${file}\``));
  const rows = page.split('\n').filter((line) => line.startsWith('|') && line.includes(`\`${file}\``));
  const names = [
    ...headings.map((part) => part.slice('### '.length, part.indexOf('\n'))),
    ...rows.map((row) => {
      const [, first, second] = row.split('|').map((cell) => cell.trim());
      return /^\d+$/.test(first) ? `money rule ${first}: ${second.match(/^\*\*(.+?)\.?\*\*/)?.[1] ?? second}` : first;
    }),
  ];
  return [...new Set(names)];
}

const hasEnded = (events, name) => events.files.some(({ file }) => file === name);
const seconds = (ms) => `${(ms / 1000).toFixed(1).padStart(6)} s`;
const count = (n, noun) => `${n} ${noun}${n === 1 ? '' : 's'}`;
