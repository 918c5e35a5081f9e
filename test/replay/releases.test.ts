import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundlePath } from '../support/temporal.js';
import { RELEASE_CHANGES } from './changes.js';
import { goldenNames, readGolden, replayGolden } from './golden.js';
import { checksumsOfRecordings, readManifest } from './manifest.js';
import { alterations, recordingsOf, releasedVersions } from './releases.js';
import { type Runtime, workflowRuntime } from './runtime.js';

const versions = releasedVersions();

test('what is altered in the histories of a release is found', () => {
  const made = 'a'.repeat(64);
  const of = (manifest: string, there: Record<string, string>): string[] =>
    alterations(manifest, new Map(Object.entries(there)));
  expect(of(`${made}  histories/a.json\n`, { 'histories/a.json': made })).toEqual([]);
  expect(of('', {})).toEqual([expect.stringMatching(/no recordings/)]);
  const again = 'b'.repeat(64);
  for (const [manifest, there] of [
    [`${made}  histories/a.json\n`, { 'histories/a.json': again }],
    [`${made}  histories/a.json\n`, {}],
    [`${made}  histories/a.json\n`, { 'histories/a.json': made, 'histories/b.json': made }],
    [`${made}  histories/a.json\n# why\n${again}  histories/a.json\n`, { 'histories/a.json': again }],
  ] as const)
    expect(of(manifest, there)).not.toEqual([]);
});

// A version that is being made has neither yet.
test.skipIf(process.env['HOLDFAST_RELEASES'] !== undefined)(
  'each version in CHANGELOG.md has its histories, and no other is there',
  () => {
    const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
    const released = [...changelog.matchAll(/^## (\d\S*)/gm)].map(([, version]) => version);
    expect(versions).toEqual(released.toSorted());
  },
);

describe.each(versions)('%s', (version) => {
  const folder = recordingsOf(version);
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await workflowRuntime(bundlePath());
  });
  afterAll(async () => {
    await runtime?.close();
  });

  test('no history of it was altered', () => {
    expect(alterations(readManifest(folder), checksumsOfRecordings(folder))).toEqual([]);
  });

  for (const name of goldenNames(folder)) {
    test(`${name} replays on the present code, which asks for the same to the letter`, async () => {
      const changes = RELEASE_CHANGES.filter((change) => change.release === version);
      expect((await replayGolden(runtime, await readGolden(name, folder), changes)).complaints).toEqual([]);
    });
  }
});
