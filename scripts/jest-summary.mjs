import { writeFileSync } from 'node:fs';

/**
 * Jest reporter that hands the counts of a run, and why it failed, to the script that started it.
 * The path comes by the environment, since jest passes no options to a reporter named on its command line.
 * A file that could not be run at all counts as one failed test.
 */
export default class SummaryReporter {
  onRunComplete(_contexts, results) {
    const failures = results.testResults.flatMap(failuresOf);
    const summary = {
      passed: results.numPassedTests,
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      leftOut: results.testResults.flatMap(leftOutOf),
      failures,
    };
    writeFileSync(process.env.HOLDFAST_JEST_SUMMARY, JSON.stringify(summary));
  }
}

function leftOutOf(file) {
  return file.testResults.filter((test) => test.status === 'pending').map((test) => test.fullName);
}

function failuresOf(file) {
  const failed = file.testResults
    .filter((test) => test.status === 'failed')
    .map((test) => ({ name: test.fullName, reason: firstLines(test.failureMessages[0]) }));
  if (file.testExecError) failed.push({ name: file.testFilePath, reason: firstLines(file.testExecError.message) });
  return failed;
}

function firstLines(text = '') {
  // Colours would be cut in the middle and stain the rest of the terminal.
  const plain = text.replace(/\u001b\[[0-9;]*m/g, '');
  return plain
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s+at /.test(line))
    .slice(0, 6)
    .join('\n');
}
