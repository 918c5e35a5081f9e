import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atFullCounts } from '../support/at-full-counts.js';
import { root } from './support.js';

interface ReleaseCheck {
  BLOCKED_BY: string[];
  releaseFaults(files: { manifest: object; lock: object; changelog: string }, status: string): string[];
  withoutDigest(text: string): string[];
}
const check = (await import(new URL(`file://${join(root, 'tools', 'release-check.mjs')}`).href)) as ReleaseCheck;

const manifest = { version: '1.2.0' };
const lock = { version: '1.2.0', packages: { '': { version: '1.2.0' } } };
const changelog = '# Changelog\n\n## Unreleased\n\n## 1.2.0 (2027-01-31)\n\n- It pays.\n\n## 1.1.0\n\n- Old.\n';
const faultsOf = (more: { manifest?: object; lock?: object; changelog?: string }, status = '') =>
  check.releaseFaults({ manifest, lock, changelog, ...more }, status).slice(check.BLOCKED_BY.length);

test('the check of a release has nothing to say of a version that is ready', () => {
  expect(faultsOf({})).toEqual([]);
});

test.each<[string, Parameters<typeof faultsOf>, RegExp]>([
  ['a version of another form', [{ manifest: { version: '1.2' } }], /not of the form/],
  ['a private package', [{ manifest: { ...manifest, private: true } }], /private/],
  ['a lock file of another version', [{ lock: { ...lock, version: '1.1.0' } }], /package-lock/],
  ['no heading', [{ changelog: changelog.replace('1.2.0', '1.2.1') }], /## 1\.2\.0/],
  ['a heading with nothing below', [{ changelog: changelog.replace('- It pays.', '') }], /## 1\.2\.0/],
  [
    'what is left under Unreleased',
    [{ changelog: changelog.replace('Unreleased', 'Unreleased\n\n- More.') }],
    /stands under "Unreleased"/,
  ],
  ['a work tree with changes', [{}, ' M package.json\n'], /not committed:\n M package\.json$/],
])('the check of a release finds %s', (_what, [files, status], fault) => {
  expect(faultsOf(files, status).join('\n')).toMatch(fault);
});

test('images without a digest are named, and those that are built here are not', () => {
  const text = `FROM node:24.1.0 AS build\nFROM build\nFROM node:24.1.0@sha256:${'0'.repeat(64)}\n  image: postgres:16.11\n  image: holdfast:local\n`;
  expect(check.withoutDigest(text)).toEqual(['node:24.1.0', 'postgres:16.11']);
});

test('nothing is released before data protection is done: the command refuses with that sentence, and writes nothing', () => {
  const run = spawnSync(process.execPath, ['tools/release-check.mjs'], { cwd: root, encoding: 'utf8' });
  expect(run.status).toBe(1);
  expect(run.stderr).toMatch(/can't be released:\n- No release before data protection is done/);
  expect(run.stderr).toContain('Nothing was written.');
});

atFullCounts(
  'a dry run records histories by the present code, replays them, and leaves nothing',
  () => {
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1' };
    const releases = join(root, 'test', 'replay', 'releases');
    const before = existsSync(releases);
    const args = ['tools/release-check.mjs', '--dry-run', '--only', 'charge-declined'];
    const run = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env });
    // Three histories are so named; beside them two tests, and one that a release alone has.
    expect(run.stderr).toMatch(/✓ .*test\/replay\/releases\.test\.ts \(6 tests \| 1 skipped\)/);
    expect({ status: run.status, kept: existsSync(releases) }).toEqual({ status: 0, kept: before });
  },
  300_000,
);
