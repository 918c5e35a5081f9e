/**
 * Checks the package as a stranger gets it: packs it, lays it into an empty folder beside the packages that npm would
 * install with it and no other, and uses every entry there. Nothing is built or fetched.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { rootDir } from './setup/paths.mjs';
import { runCommand } from './setup/run-command.mjs';
import { shippedPackages } from './setup/shipped-packages.mjs';

/** Bytes. The workflow bundle alone has 3 MB. */
const MOST_BYTES = 12_000_000;
const NOT_SHIPPED = /\.map$|(^|\/)(test|bench|chaos|demo|audit)\//;

const manifest = JSON.parse(readFileSync(join(rootDir, 'package.json'), 'utf8'));
const lock = JSON.parse(readFileSync(join(rootDir, 'package-lock.json'), 'utf8'));
const peers = Object.keys(manifest.peerDependencies);
const entries = Object.keys(manifest.exports).filter((entry) => !entry.endsWith('*') && !entry.endsWith('.json'));
const faults = [];

const folder = mkdtempSync(join(tmpdir(), 'holdfast-package-'));
try {
  const without = await unpackInto(join(folder, 'client-only'), []);
  checkFiles(without);
  await checkClientOnly(dirname(dirname(without)));
  const whole = await unpackInto(join(folder, 'whole'), peers);
  await checkWhole(dirname(dirname(whole)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Lays out a project that has installed the package, and of its optional peers these. Returns the package's folder. */
async function unpackInto(project, optional) {
  const home = join(project, 'node_modules', 'holdfast');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "name": "shop", "private": true }\n');
  const packed = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', project], rootDir);
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[')));
  await run('tar', ['-xzf', join(project, filename), '-C', home, '--strip-components=1'], project);
  for (const path of shippedPackages(lock, [...Object.keys(manifest.dependencies), ...optional])) {
    // What lies below another package comes with that.
    if (path.indexOf('node_modules/', 1) !== -1 || !existsSync(join(rootDir, path))) continue;
    mkdirSync(dirname(join(project, path)), { recursive: true });
    symlinkSync(join(rootDir, path), join(project, path));
  }
  return home;
}

function checkFiles(home) {
  const files = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(relative(home, entry.parentPath), entry.name));
  for (const file of files.filter((one) => NOT_SHIPPED.test(one)))
    faults.push(`${file}: does not belong into the package`);
  const size = files.reduce((sum, file) => sum + readFileSync(join(home, file)).length, 0);
  if (size > MOST_BYTES) faults.push(`the package has ${size} bytes, more than ${MOST_BYTES}`);
  const named = [
    ...Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target),
    ),
    ...Object.values(manifest.bin),
  ].filter((target) => !target.includes('*'));
  for (const target of named)
    if (!existsSync(join(home, target))) faults.push(`${target}: named, and not in the package`);
  for (const target of Object.values(manifest.bin))
    if (!readFileSync(join(home, target), 'utf8').startsWith('#!/usr/bin/env node\n'))
      faults.push(`${target}: no program`);
  for (const file of files.filter(
    (one) => one.startsWith('dist/') && !one.endsWith('bundle.js') && /\.(js|d\.ts)$/.test(one),
  )) {
    const text = readFileSync(join(home, file), 'utf8');
    for (const [, other] of text.matchAll(/(?:from |import\()["'](\.[^"']+)["']/g))
      if (!existsSync(join(home, dirname(file), other)))
        faults.push(`${file}: imports ${other}, which is not in the package`);
  }
}

async function checkClientOnly(project) {
  const plain = entries.filter((entry) => entry !== './workflows');
  const names = plain.map((entry) => join('holdfast', entry));
  await expectOf(
    project,
    'import.mjs',
    `${names.map((name) => `await import('${name}');`).join('\n')}\nconsole.log('ok');`,
    'ok',
  );
  await expectOf(
    project,
    'require.cjs',
    `${names.map((name) => `require('${name}');`).join('\n')}\nconsole.log('ok');`,
    'ok',
  );
  const sentence = 'needs packages that are installed only where they are used: npm install';
  for (const [entry, call, missing] of [
    ['worker', 'createHoldfastWorkers', '@temporalio/worker@'],
    ['testing', 'startSandboxForTests', 'libsql@'],
  ]) {
    const source = `import { ${call} } from 'holdfast/${entry}';\nawait ${call}().catch((error) => console.log(error.message));`;
    const said = await output(project, `${entry}.mjs`, source);
    if (!said.includes(`holdfast/${entry} ${sentence}`) || !said.includes(missing))
      faults.push(`holdfast/${entry} does not say which packages it lacks: ${said}`);
  }
  const help = await run(
    process.execPath,
    [join('node_modules', 'holdfast', manifest.bin.holdfast), '--help'],
    project,
  );
  if (!help.includes('explain')) faults.push(`the command does not run: ${help}`);
}

async function checkWhole(project) {
  await expectOf(
    project,
    'workflows.mjs',
    `import { executeFlow } from 'holdfast/workflows';\nconsole.log(typeof executeFlow);`,
    'function',
  );
  const sandbox = `import { startSandboxForTests } from 'holdfast/testing';
const sandbox = await startSandboxForTests();
console.log((await sandbox.control.ledger()).length);
await sandbox.close();`;
  await expectOf(project, 'sandbox.mjs', sandbox, '0');
  // As its readers would have it: a project of ES modules.
  cpSync(join(rootDir, 'docs', 'examples', 'shop'), join(project, 'src'), { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "name": "shop", "private": true, "type": "module" }\n');
  const options = ['--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
  const sources = readdirSync(join(project, 'src')).map((name) => join('src', name));
  const tsc = join(rootDir, 'node_modules', 'typescript', 'bin', 'tsc');
  await run(process.execPath, [tsc, ...options, '--outDir', 'built', ...sources], project);
  await run(process.execPath, ['--test', join('built', 'checkout.test.js')], project);
}

async function expectOf(project, file, source, wanted) {
  const said = await output(project, file, source);
  if (said.trim() !== wanted) faults.push(`${file} said ${JSON.stringify(said)}, not ${wanted}`);
}

async function output(project, file, source) {
  writeFileSync(join(project, file), source);
  return await run(process.execPath, [file], project);
}

async function run(command, args, cwd) {
  const { ok, output: said } = await runCommand(command, args, { cwd });
  if (!ok) faults.push(`${[command, ...args].join(' ')} failed:\n${said}`);
  return said;
}
