/**
 * Prints, as a JSON array, the command that runs the shop of `examples/<language>`, with its packages in the cache.
 * Exits with 1 and the reason on stderr if this machine lacks the language or the packages can't be had.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cacheDir, rootDir } from './setup/paths.mjs';
import { lastLines, runCommand } from './setup/run-command.mjs';
import { withLock } from './setup/set-up-lock.mjs';

const LIMIT_MS = 900_000;
const PREPARED = { python: preparePython, go: prepareGo, java: prepareJava };

async function preparePython(source, cache) {
  const version = await runCommand('python3', ['--version'], { timeoutMs: 20_000 });
  if (!version.ok) return { problem: 'no python3 runs on this machine' };
  const { target, isComplete, complete } = folderFor(cache, version.output, [join(source, 'requirements.txt')]);
  const python = join(target, 'bin', 'python');
  const command = [python, '-B', join(source, 'shop.py')];
  if (isComplete) return { command };
  const pip = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--only-binary=:all:', '-r'];
  const problem = await firstProblem([
    ['python3', ['-m', 'venv', '--clear', target]],
    [python, [...pip, join(source, 'requirements.txt')]],
  ]);
  if (problem) return { problem };
  complete();
  return { command };
}

async function prepareGo(source, cache) {
  const version = await runCommand('go', ['version'], { timeoutMs: 20_000 });
  if (!version.ok) return { problem: 'no go runs on this machine' };
  const files = ['go.mod', 'go.sum', ...readdirSync(source).filter((name) => name.endsWith('.go'))];
  const { target, isComplete, complete } = folderFor(cache, version.output, under(source, files));
  const command = [join(target, 'shop')];
  if (isComplete) return { command };
  // Nothing is built with another toolchain than this machine's: it would be downloaded.
  const env = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly' };
  const problem = await firstProblem([['go', ['build', '-o', join(target, 'shop'), '.']]], { cwd: source, env });
  if (problem) return { problem };
  complete();
  return { command };
}

async function prepareJava(source, cache) {
  const version = await runCommand('java', ['-version'], { timeoutMs: 20_000 });
  const maven = await runCommand('mvn', ['-version'], { timeoutMs: 60_000 });
  if (!version.ok || !maven.ok) return { problem: 'java and mvn do not both run on this machine' };
  const code = join('src', 'main', 'java', 'shop');
  const files = ['pom.xml', ...readdirSync(join(source, code)).map((name) => join(code, name))];
  const { target, isComplete, complete } = folderFor(cache, version.output, under(source, files));
  const classes = [join(target, 'classes'), join(target, 'dependency', '*')].join(delimiter);
  const command = ['java', '-cp', classes, 'shop.Main'];
  if (isComplete) return { command };
  const args = ['-B', '-q', '-f', join(source, 'pom.xml'), `-DbuildFolder=${target}`];
  const problem = await firstProblem([['mvn', [...args, 'compile', 'dependency:copy-dependencies']]]);
  if (problem) return { problem };
  complete();
  return { command };
}

const under = (folder, files) => files.map((file) => join(folder, file));

/** A folder of the cache for what is made of these files. It is made anew until it is complete. */
function folderFor(cache, version, files) {
  const hash = createHash('sha256').update(version);
  for (const file of files) hash.update(readFileSync(file));
  const target = join(cache, hash.digest('hex').slice(0, 16));
  const mark = join(target, '.complete');
  mkdirSync(target, { recursive: true });
  return { target, isComplete: existsSync(mark), complete: () => writeFileSync(mark, '') };
}

async function firstProblem(commands, options = {}) {
  for (const [executable, args] of commands) {
    const run = await runCommand(executable, args, { timeoutMs: LIMIT_MS, ...options });
    if (!run.ok) return `${[executable, ...args].join(' ')} failed: ${lastLines(run.output)}`;
  }
  return undefined;
}

const [language] = process.argv.slice(2);
const source = join(rootDir, 'examples', language ?? '');
if (!Object.hasOwn(PREPARED, language ?? '')) {
  console.error(`"${language}" is no language with an example: use one of ${Object.keys(PREPARED).join(', ')}`);
  process.exit(1);
}
const cache = join(cacheDir(), 'examples', language);
const { command, problem } = await withLock(join(cache, 'lock'), () => PREPARED[language](source, cache));
if (problem) console.error(problem);
else console.log(JSON.stringify(command));
process.exitCode = problem ? 1 : 0;
