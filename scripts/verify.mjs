import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runTests } from './run-tests.mjs';
import { ensureReady } from './setup.mjs';
import { distDir, rootDir } from './setup/paths.mjs';
import { runCommand } from './setup/run-command.mjs';
import { exitWithReason, SetUpError } from './setup/set-up-error.mjs';

const bin = (name, ...args) => [process.execPath, [join(rootDir, 'node_modules', ...name.split('/')), ...args]];
const script = (name, ...args) => [process.execPath, [join(rootDir, 'scripts', name), ...args]];
const folders = ['src', 'workflows', 'activities', 'workers', 'scripts', 'test', 'bench'].filter((folder) =>
  existsSync(join(rootDir, folder)),
);

/** What CI runs, in the order in which faults are cheapest to find. */
const STEPS = [
  ['format', () => bin('prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.'), 'npm run format mends it'],
  ['lint', () => bin('oxlint/bin/oxlint', '--type-aware', '--deny-warnings', ...folders)],
  ['types', () => bin('typescript/bin/tsc', '-p', '.')],
  ['types of workflows without Node', () => bin('typescript/bin/tsc', '-p', 'workflows')],
  ['build', () => script('build.mjs')],
  ['licences', () => script('check-licences.mjs')],
  ['lock file', () => script('check-lock.mjs')],
  [
    'JSON schemas',
    () => [process.execPath, [join(distDir, 'scripts', 'json-schemas.js'), '--check']],
    'npm run schemas writes them',
  ],
  [
    'diagrams of the flows',
    () => [process.execPath, [join(distDir, 'scripts', 'flow-diagrams.js'), '--check']],
    'npm run flows draws them',
  ],
];

async function runStep([name, command, hint]) {
  const started = Date.now();
  const [executable, args] = command();
  const result = await runCommand(executable, args, { cwd: rootDir });
  const seconds = `${((Date.now() - started) / 1000).toFixed(1)} s`;
  if (result.ok) return console.log(`ok      ${name} (${seconds})`);
  console.log(`failed  ${name} (${seconds})`);
  throw new SetUpError(`${result.output.trimEnd()}\n\nverify failed at: ${name}${hint ? ` (${hint})` : ''}`);
}

try {
  await ensureReady({ need: ['packages', 'temporal', 'testServer'] });
  for (const step of STEPS) await runStep(step);
  const started = Date.now();
  const full = process.env.CI === 'true' || process.env.HOLDFAST_FULL === '1';
  const code = await runTests({
    full,
    beforeSummary: () =>
      console.log(
        `\ntests at ${full ? 'full' : 'reduced'} counts took ${((Date.now() - started) / 1000).toFixed(1)} s`,
      ),
  });
  process.exitCode = code;
} catch (error) {
  exitWithReason(error);
}
