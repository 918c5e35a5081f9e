import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runTests } from './run-tests.mjs';
import { ensureReady } from './setup.mjs';
import { distDir, rootDir } from './setup/paths.mjs';
import { runCommand } from './setup/run-command.mjs';
import { exitWithReason, SetUpError } from './setup/set-up-error.mjs';

const bin = (name, ...args) => [process.execPath, [join(rootDir, 'node_modules', ...name.split('/')), ...args]];
const script = (name, ...args) => [process.execPath, [join(rootDir, 'tools', name), ...args]];
const folders = ['src', 'workflows', 'activities', 'workers', 'sandbox', 'tools', 'test'].filter((folder) =>
  existsSync(join(rootDir, folder)),
);

/** The steps of CI, ordered by how cheaply they find faults. */
const STEPS = [
  ['format', () => bin('prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.'), 'npm run format mends it'],
  ['lint', () => bin('oxlint/bin/oxlint', '--type-aware', '--deny-warnings', ...folders)],
  [
    'imports',
    () => bin('dependency-cruiser/bin/dependency-cruise.mjs', '--config', '.dependency-cruiser.mjs', ...folders),
  ],
  ['dead exports and files', () => bin('knip/bin/knip.js', '--no-progress')],
  ['types', () => bin('typescript/bin/tsc', '-p', '.')],
  ['types of workflows without Node', () => bin('typescript/bin/tsc', '-p', 'workflows')],
  ["types of the console's page", () => bin('typescript/bin/tsc', '-p', 'tools/console/page')],
  ['build', () => script('build.mjs')],
  ['licences', () => script('check-licences.mjs')],
  ['lock file', () => script('check-lock.mjs')],
  [
    'JSON schemas',
    () => [process.execPath, [join(distDir, 'tools', 'json-schemas.js'), '--check']],
    'npm run schemas writes them',
  ],
  [
    'OpenAPI page of the sandbox',
    () => [process.execPath, [join(distDir, 'tools', 'sandbox-openapi.js'), '--check']],
    'npm run openapi writes it',
  ],
  [
    'public surface',
    () => [process.execPath, [join(distDir, 'tools', 'api-report.js'), '--check']],
    'npm run api writes docs/api',
  ],
  ['package', () => script('check-package.mjs')],
  [
    'histories of releases',
    () => bin('vitest/vitest.mjs', 'run', 'test/replay/releases.test.ts'),
    'what a release has recorded is never recorded again, and new code must replay it',
  ],
];

async function runStep([name, command, hint]) {
  const started = Date.now();
  const [executable, args] = command();
  const result = await runCommand(executable, args, { cwd: rootDir });
  const ms = Date.now() - started;
  const seconds = `${(ms / 1000).toFixed(1)} s`;
  if (result.ok) {
    console.log(`ok      ${name} (${seconds})`);
    return { name, ms };
  }
  console.log(`failed  ${name} (${seconds})`);
  throw new SetUpError(`${result.output.trimEnd()}\n\nverify failed at: ${name}${hint ? ` (${hint})` : ''}`);
}

try {
  await ensureReady({ need: ['packages', 'temporal', 'testServer'] });
  const steps = [];
  for (const step of STEPS) steps.push(await runStep(step));
  const full = process.env.HOLDFAST_FULL === '1';
  console.log(`\ntests at ${full ? 'full' : 'reduced'} counts:`);
  process.exitCode = await runTests({ kind: full ? 'full' : 'verify', steps });
} catch (error) {
  exitWithReason(error);
}
