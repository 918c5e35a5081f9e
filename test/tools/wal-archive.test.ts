import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { compose, composeFile, root, SECRETS } from './compose-file.js';

const SCRIPT = join(root, 'deploy/archive-wal.sh');
const NAME = '000000010000000000000007';

test.skipIf(compose === undefined)('deploy/wal-archive.yml only adds an archive, and the script that writes it', () => {
  const env = { ...SECRETS, POSTGRES_ARCHIVE: '/mnt/other-disk/archive' };
  const files = ['-f', 'docker-compose.yml', '-f', 'deploy/wal-archive.yml'];
  const { postgres: archived, ...others } = composeFile(files, env).services;
  const { postgres: plain, ...unchanged } = composeFile([], SECRETS).services;
  expect(others).toEqual(unchanged);
  const { command = [], volumes = [], ...rest } = archived ?? {};
  const { command: before, volumes: own, ...restBefore } = plain ?? {};
  expect(rest).toEqual(restBefore);
  expect(command?.slice(0, before?.length)).toEqual(before);
  expect(command?.slice(before?.length).filter((one) => one !== '-c')).toEqual([
    'archive_mode=on',
    'archive_timeout=60',
    'archive_command=sh /usr/local/bin/archive-wal.sh %p %f /archive',
  ]);
  expect(volumes.slice(0, own?.length)).toEqual(own);
  expect(volumes.slice(own?.length)).toMatchObject([
    { source: SCRIPT, target: '/usr/local/bin/archive-wal.sh', read_only: true },
    { source: '/mnt/other-disk/archive', target: '/archive' },
  ]);
});

test('a segment is archived whole, again after a crash, and never over another one', () => {
  const [source, archive] = [temporaryFolder(), temporaryFolder()];
  const archiving = (text: string): number | null => {
    const segment = join(source, NAME);
    writeFileSync(segment, text);
    return spawnSync('sh', [SCRIPT, segment, NAME, archive]).status;
  };
  const kept = (): string => gunzipSync(readFileSync(join(archive, `${NAME}.gz`))).toString();
  // What a crash has left of the first try.
  writeFileSync(join(archive, `${NAME}.part`), 'a half');
  expect(archiving('one')).toBe(0);
  expect(kept()).toBe('one');
  expect(archiving('one')).toBe(0);
  expect(archiving('two')).not.toBe(0);
  expect(kept()).toBe('one');
  expect(readdirSync(archive)).toEqual([`${NAME}.gz`]);
  expect(spawnSync('sh', [SCRIPT, join(source, 'missing'), 'missing', archive]).status).not.toBe(0);
});
