/**
 * Prints, as a JSON array, the command that renders a folder of deploy/kubernetes: that of this machine, or kustomize, which
 * is built once into the cache from its Go module. Exits with 1 and the reason on stderr if there is none.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir } from './setup/paths.mjs';
import { lastLines, runCommand } from './setup/run-command.mjs';

const MODULE = 'sigs.k8s.io/kustomize/kustomize/v5@v5.7.1';

async function findKustomize() {
  const cached = join(cacheDir(), 'kustomize');
  for (const command of [
    ['kubectl', 'kustomize'],
    ['kustomize', 'build'],
    [cached, 'build'],
  ]) {
    const [executable, ...args] = command;
    if ((await runCommand(executable, [...args, '--help'], { timeoutMs: 20_000 })).ok) return { command };
  }
  const env = { ...process.env, GOBIN: cacheDir(), GOFLAGS: '-mod=mod' };
  const built = await runCommand('go', ['install', MODULE], { env, timeoutMs: 600_000 });
  if (!built.ok || !existsSync(cached))
    return { problem: `there is no kubectl, and go install ${MODULE} failed: ${lastLines(built.output)}` };
  return { command: [cached, 'build'] };
}

const { command, problem } = await findKustomize();
if (problem) console.error(problem);
else console.log(JSON.stringify(command));
process.exitCode = problem ? 1 : 0;
