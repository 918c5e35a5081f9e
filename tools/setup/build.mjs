import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { withProgress } from './progress.mjs';
import { distDir, rootDir } from './paths.mjs';
import { lastLines, runCommand } from './run-command.mjs';
import { SetUpError } from './set-up-error.mjs';

const SOURCE_FOLDERS = ['src', 'workflows', 'activities', 'workers', 'sandbox', 'tools'];
const SETTINGS = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'workflows/tsconfig.json',
];
/** Beside `dist`, so that paths in source maps stay correct when a file is moved. */
const nextDir = join(rootDir, 'dist-next');
const stampPath = join(distDir, '.build-stamp');

/** The prebuilt workflow bundle. A worker that finds it need not bundle at start. */
export const bundlePath = join(distDir, 'workflow-bundle.js');

/**
 * Builds `dist/` if it does not match the current sources. The stamp is written last, so an interrupted build is
 * repeated.
 * With `tolerateTypeErrors`, type errors are printed but the emitted code is used, for test runs while the code is
 * being changed. Without `checkTypes`, only syntax errors count.
 */
export async function ensureBuild({ tolerateTypeErrors = false, checkTypes = true } = {}) {
  const sources = listSources();
  const stamp = hashOf(sources);
  if (readStamp() === stamp) return;
  await withProgress('Building', async () => {
    rmSync(stampPath, { force: true });
    rmSync(nextDir, { recursive: true, force: true });
    const clean = await compile({ tolerateTypeErrors, checkTypes });
    moveChanged();
    removeStale(sources);
    await bundleWorkflows(tolerateTypeErrors);
    if (clean) writeFileSync(stampPath, stamp);
  });
}

async function compile({ tolerateTypeErrors, checkTypes }) {
  const tsc = join(rootDir, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, '-p', 'tsconfig.build.json', '--outDir', nextDir, ...(checkTypes ? [] : ['--noCheck'])];
  const result = await runCommand(process.execPath, args, { cwd: rootDir });
  if (result.ok) return true;
  if (!tolerateTypeErrors) throw new SetUpError(`The build failed (npx tsc -p tsconfig.build.json):\n${result.output}`);
  process.stderr.write(`Type faults, going on with what was emitted:\n${lastLines(result.output, 10)}\n`);
  return false;
}

/**
 * A running stack may start a process from `dist/` at any moment, so each file is replaced atomically, and only if it
 * changed.
 */
function moveChanged() {
  for (const path of walk(nextDir)) {
    const target = join(distDir, relative(nextDir, path));
    if (existsSync(target) && readFileSync(target).equals(readFileSync(path))) continue;
    mkdirSync(dirname(target), { recursive: true });
    renameSync(path, target);
  }
  rmSync(nextDir, { recursive: true, force: true });
}

async function bundleWorkflows(tolerate) {
  const script = join(distDir, 'workers', 'bundle-workflows.js');
  if (!existsSync(script)) return;
  const next = `${bundlePath}.next`;
  const result = await runCommand(process.execPath, [script, next], { cwd: rootDir });
  if (result.ok) return renameSync(next, bundlePath);
  if (!tolerate) throw new SetUpError(`Bundling the workflows failed:\n${lastLines(result.output, 20)}`);
  process.stderr.write(`Bundling the workflows failed, going on without:\n${lastLines(result.output, 10)}\n`);
}

function listSources() {
  return SOURCE_FOLDERS.flatMap((folder) => walk(join(rootDir, folder)))
    .filter((path) => path.endsWith('.ts'))
    .sort();
}

function walk(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? walk(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

function hashOf(sources) {
  const hash = createHash('sha256').update(process.version);
  for (const path of [...SETTINGS.map((name) => join(rootDir, name)), ...sources]) {
    hash.update(`\0${relative(rootDir, path)}\0`);
    if (existsSync(path)) hash.update(readFileSync(path));
  }
  return hash.digest('hex');
}

function readStamp() {
  return existsSync(stampPath) ? readFileSync(stampPath, 'utf8') : undefined;
}

/** Removes the output of deleted sources: imports would still resolve to it and hide that they are broken. */
function removeStale(sources) {
  const expected = new Set(sources.map((path) => relative(rootDir, path).replace(/\.ts$/, '')));
  for (const folder of SOURCE_FOLDERS) {
    for (const path of walk(join(distDir, folder))) {
      const stem = relative(distDir, path).replace(/(\.d\.ts|\.js)(\.map)?$/, '');
      if (!expected.has(stem)) rmSync(path, { force: true });
    }
  }
}
