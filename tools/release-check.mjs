/**
 * `npm run release:check`: says what is missing for a release of the version in package.json, and writes the histories of
 * its flows into a folder of their own. They are never recorded again: flows in production go on from such histories.
 * `--dry-run` does the same in a temporary folder and leaves nothing; `--only <text>` then takes the scenarios so named.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureReady } from './setup.mjs';
import { rootDir } from './setup/paths.mjs';
import { runCommand } from './setup/run-command.mjs';
import { exitWithReason, SetUpError } from './setup/set-up-error.mjs';

/** Whatever else is in order. A line is taken out by the work that ends it. */
export const BLOCKED_BY = [
  'No release before data protection is done: the vault is missing, and an encryptedCvv stands in histories.',
];

const RELEASES = join(rootDir, 'test', 'replay', 'releases');
const IMAGE = /^\s*(?:FROM|image:)\s+(\S+)/gm;

/**
 * @param files `package.json` and its lock file as objects, the text of `CHANGELOG.md`
 * @param status of the work tree as `git status --porcelain` says it
 * @returns a sentence for each thing that keeps this version from being released
 */
export function releaseFaults({ manifest, lock, changelog }, status) {
  const { version } = manifest;
  const faults = [...BLOCKED_BY];
  if (!/^\d+\.\d+\.\d+$/.test(version)) faults.push(`package.json: version "${version}" is not of the form 1.2.3`);
  if (manifest.private) faults.push('package.json: "private": true, with which npm publish refuses');
  if (lock.version !== version || lock.packages['']?.version !== version)
    faults.push(`package-lock.json: its version is not ${version}, as in package.json`);
  const sections = Object.fromEntries(
    changelog
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.split(/\s/, 1)[0], section.slice(section.indexOf('\n')).trim()]),
  );
  if (!sections[version]) faults.push(`CHANGELOG.md: there is nothing under a heading "## ${version}"`);
  if (sections.Unreleased) faults.push('CHANGELOG.md: what stands under "Unreleased" belongs to this version');
  if (status !== '') faults.push(`the work tree has changes that are not committed:\n${status.trimEnd()}`);
  return faults;
}

/** Images that a Dockerfile or a compose file names without a digest, but for those that are built here. */
export function withoutDigest(text) {
  const names = [...text.matchAll(IMAGE)].map(([, name]) => name);
  return [
    ...new Set(
      names.filter((name) => name.includes(':') && !name.includes('@sha256:') && !name.startsWith('holdfast:')),
    ),
  ];
}

const read = (file) => readFileSync(join(rootDir, file), 'utf8');

async function main() {
  const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean' }, only: { type: 'string' } } });
  const { 'dry-run': dryRun = false, only } = values;
  if (only !== undefined && !dryRun) throw new SetUpError('--only is for --dry-run: a release has every scenario');
  const [manifest, lock] = ['package.json', 'package-lock.json'].map((file) => JSON.parse(read(file)));
  const git = await runCommand('git', ['status', '--porcelain'], { cwd: rootDir });
  const faults = releaseFaults({ manifest, lock, changelog: read('CHANGELOG.md') }, git.output);
  for (const file of ['Dockerfile', 'docker-compose.yml'])
    for (const image of withoutDigest(read(file)))
      console.log(`${file}: ${image} has no digest yet: the step that builds the image fills it in`);
  if (faults.length > 0) {
    const said = [`${manifest.version} can't be released:`, ...faults.map((fault) => `- ${fault}`)].join('\n');
    if (!dryRun)
      throw new SetUpError(`${said}\nNothing was written. npm run release:check -- --dry-run tries the rest.`);
    console.log(`${said}\nIt is a dry run, which goes on.`);
  }
  await ensureReady({ need: ['packages', 'build', 'temporal', 'testServer'] });
  if (existsSync(RELEASES)) await vitest('replay/releases', { HOLDFAST_RELEASES: RELEASES });
  const folder = join(RELEASES, manifest.version);
  if (!dryRun && existsSync(folder)) console.log(`${relative(rootDir, folder)} is there: nothing is recorded again.`);
  else await record(manifest.version, { folder: dryRun ? undefined : folder, only });
}

/** Records and replays all in a temporary folder first: half a release must not be taken for a whole one. */
async function record(version, { folder, only }) {
  const temporary = mkdtempSync(join(tmpdir(), 'holdfast-release-'));
  const recorded = join(temporary, version);
  try {
    console.log('Recording the histories of every scenario, which takes minutes ...');
    const filter = only === undefined ? {} : { HOLDFAST_RECORD_ONLY: only };
    await vitest('replay/record', { HOLDFAST_RECORD: '1', HOLDFAST_RECORD_INTO: recorded, ...filter });
    await vitest('replay/releases', { HOLDFAST_RELEASES: temporary });
    if (folder === undefined) return console.log('A dry run: nothing is kept.');
    mkdirSync(RELEASES, { recursive: true });
    const partial = `${folder}.partial`;
    rmSync(partial, { recursive: true, force: true });
    cpSync(recorded, partial, { recursive: true });
    renameSync(partial, folder);
    console.log(`${relative(rootDir, folder)} is written: commit it.`);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function vitest(file, env) {
  const args = ['--no-warnings', 'node_modules/vitest/vitest.mjs', 'run', `test/${file}.test.ts`];
  // A simulation must not record what it is verified by.
  const { ok } = await runCommand(process.execPath, args, {
    cwd: rootDir,
    env: { ...process.env, HOLDFAST_ENGINE: 'real', HOLDFAST_RUN: '', ...env },
    show: true,
  });
  if (!ok) throw new SetUpError(`test/${file}.test.ts failed: see above. Nothing was written.`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main().catch(exitWithReason);
