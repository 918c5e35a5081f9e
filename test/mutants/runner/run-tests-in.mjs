import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { rootDir } from '../../../tools/setup/paths.mjs';
import { lastLines } from '../../../tools/setup/run-command.mjs';
import { runGroup } from './run-group.mjs';
import { isPure } from './pure-tests.mjs';

const VITEST = join(rootDir, 'node_modules', 'vitest', 'vitest.mjs');
/** A fault may make a test run for ever, which no limit of its own can end. */
const LIMIT_MS = 5 * 60_000;
const WHOLE_LIMIT_MS = 30 * 60_000;

/**
 * Runs test files in a copy of the tree, or all of a short run without a list. `failed`: tests whose assertions failed.
 * `broken`: what never came so far: a file that could not be loaded, a hook that failed, a test that ran out of time.
 * With `untilFailure`, the run ends with the first failed test, or goes through all if only time-outs were seen.
 */
export async function runTestsIn(folder, tests, { untilFailure = false } = {}) {
  const result = await runOnce(folder, tests, untilFailure ? ['--bail=1'] : []);
  return untilFailure && result.failed.length === 0 && result.broken.length > 0
    ? await runOnce(folder, tests, [])
    : result;
}

async function runOnce(folder, tests, options) {
  const out = mkdtempSync(join(tmpdir(), 'holdfast-mutants-result-'));
  const outputFile = join(out, 'result.json');
  try {
    const config = tests?.every(isPure) === true ? ['--config', 'test/mutants/pure-vitest.config.mjs'] : [];
    const args = [
      VITEST,
      'run',
      ...config,
      '--reporter=json',
      `--outputFile=${outputFile}`,
      ...options,
      ...(tests ?? []),
    ];
    const timeoutMs = tests === undefined ? WHOLE_LIMIT_MS : LIMIT_MS;
    const output = await runGroup(process.execPath, args, { cwd: folder, timeoutMs });
    const file = tests === undefined ? 'the short run' : tests.join(' ');
    if (!existsSync(outputFile)) return { failed: [], broken: [{ file, reason: lastLines(output, 3) }] };
    return sort(JSON.parse(readFileSync(outputFile, 'utf8')).testResults, folder);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function sort(files, folder) {
  const failed = [];
  const broken = [];
  for (const { name, status, message, assertionResults } of files) {
    const file = relative(folder, name);
    const failures = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failures.length === 0) broken.push({ file, reason: firstLine(message) });
    for (const { ancestorTitles, title, failureMessages } of failures) {
      const reason = firstLine(failureMessages[0] ?? '');
      const test = { file, title: [...ancestorTitles, title].join(' › '), reason };
      if (isNoFailure(reason)) broken.push(test);
      else failed.push(test);
    }
  }
  return { failed, broken };
}

/** A fault that runs into a time-out, or into a name that is not there, was noticed by the machine and not by a test. */
function isNoFailure(reason) {
  return /^(Error: )?(Test|Hook) timed out/.test(reason) || /^(SyntaxError|ReferenceError)\b/.test(reason);
}

function firstLine(text) {
  return (text ?? '').split('\n', 1)[0] ?? '';
}
