import { appendFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { rootDir } from '../setup/paths.mjs';
import { nameOfRun } from './groups.mjs';

/**
 * Vitest reporter that prints nothing. It writes each event as a line of JSON to the file of `HOLDFAST_TEST_EVENTS`, so
 * that `tools/run-tests.mjs` has all results even if vitest crashes.
 */
export default class EventsReporter {
  onTestRunStart(specifications) {
    write({ type: 'run', files: specifications.map(({ moduleId, project }) => runNameOf(moduleId, project)) });
  }

  onTestModuleStart(module) {
    write({ type: 'begin', file: runNameOf(module.moduleId, module.project) });
  }

  onTestModuleEnd(module) {
    const tests = [...module.children.allTests()];
    const { collectDuration, setupDuration, prepareDuration, environmentSetupDuration, duration } = module.diagnostic();
    write({
      type: 'file',
      file: runNameOf(module.moduleId, module.project),
      ms: Math.round(collectDuration + setupDuration + prepareDuration + environmentSetupDuration + duration),
      passed: tests.filter((test) => test.result().state === 'passed').length,
      skipped: tests.filter(isSkipped).map((test) => ({ name: test.fullName, why: noteOf(test) })),
      failures: [...faultsOf(module), ...tests.filter(isFailed).map(failureOf)],
    });
  }

  onTestRunEnd(_modules, errors) {
    write({ type: 'end', errors: errors.map(firstLines) });
  }
}

const isFailed = (test) => test.result().state === 'failed';
// If a file or hook failed, its tests stay pending: their result is unknown.
const isSkipped = (test) => ['skipped', 'pending'].includes(test.result().state);

function noteOf(test) {
  return test.result().note ?? test.annotations?.()[0]?.message;
}

function failureOf(test) {
  return { name: test.fullName, reason: firstLines(test.result().errors?.[0]) };
}

/** Errors of a file that could not be loaded, or of its hooks. Each counts as one failed test. */
function faultsOf(module) {
  const suites = [module, ...module.children.allSuites()];
  return suites.flatMap((suite) =>
    suite.errors().map((error) => ({ name: suite === module ? '' : suite.fullName, reason: firstLines(error) })),
  );
}

function firstLines(error) {
  const text = [error?.message ?? String(error), error?.diff].filter(Boolean).join('\n');
  // Removes colours: cut in the middle, they would affect the rest of the terminal's output.
  const plain = text.replace(/\u001b\[[0-9;]*m/g, '').split('\n');
  const lines = plain.filter((line) => line.trim() !== '' && !/^\s+at /.test(line)).slice(0, 12);
  const own = (error?.stacks ?? []).find(({ file }) => file.startsWith(rootDir) && !file.includes('node_modules'));
  return [...lines, ...(own === undefined ? [] : [`  at ${nameOf(own.file)}:${own.line}`])].join('\n');
}

function nameOf(path) {
  return relative(rootDir, path).split(sep).join('/');
}

/** A file may run in two projects. */
function runNameOf(path, project) {
  return nameOfRun(nameOf(path), project.name);
}

function write(event) {
  appendFileSync(process.env.HOLDFAST_TEST_EVENTS, `${JSON.stringify(event)}\n`);
}
