import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isHandedToOurGroup, readSecretFile } from '../../src/security/secret-file.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const us = { user: 1000, groups: [1000, 2000] };

test.each<[string, Parameters<typeof isHandedToOurGroup>[0], boolean]>([
  ['of root and our group, as Kubernetes mounts a Secret', { uid: 0, gid: 2000, mode: 0o100440 }, true],
  ['of root and a group that is not ours', { uid: 0, gid: 3000, mode: 0o100440 }, false],
  ['that our group may change', { uid: 0, gid: 2000, mode: 0o100460 }, false],
  ['that everybody may read', { uid: 0, gid: 2000, mode: 0o100444 }, false],
  ['of our own user, who can close it', { uid: 1000, gid: 1000, mode: 0o100440 }, false],
  ['of another user', { uid: 1001, gid: 2000, mode: 0o100440 }, false],
])('a secret file %s', (_which, status, isTaken) => {
  expect(isHandedToOurGroup(status, us)).toBe(isTaken);
});

test('root itself takes none of another mode than its own: it can close it', () => {
  expect(isHandedToOurGroup({ uid: 0, gid: 0, mode: 0o100440 }, { user: 0, groups: [0] })).toBe(false);
});

test.runIf(process.getuid?.() === 0)(
  'a process without rights reads what is mounted for its group, and nothing wider',
  () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o711);
    const path = join(folder, 'codec-token');
    writeFileSync(path, 'token-of-a-test');
    chownSync(path, 0, 1000);
    const module = new URL('../../dist/src/security/secret-file.js', import.meta.url).href;
    const code = `
    const { readSecretFile } = await import(${JSON.stringify(module)});
    process.setgroups([1000]);
    process.setgid(1000);
    process.setuid(1000);
    try { console.log(readSecretFile(${JSON.stringify(path)})); } catch (error) { console.log(error.message); }`;
    const readAs = (mode: number): string => {
      chmodSync(path, mode);
      const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
      return stdout.trim() || stderr;
    };
    expect(readAs(0o440)).toBe('token-of-a-test');
    expect(readAs(0o444)).toMatch(/open to other users \(mode 0444\)/);
    expect(() => readSecretFile(path)).toThrow(/open to other users/);
  },
);
