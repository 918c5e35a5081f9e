import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { processIdentity } from '../../src/cli/process-identity.js';
import { runningStack } from '../../src/cli/run-file.js';
import { claimRunFile, readRunFile, StackRunningError, type RunFile } from '../../tools/stack/run-file.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const ignore = (): void => undefined;
const dead = { name: 'stack', pid: 2 ** 22 - 1, identity: 'gone' };

function plant(folder: string, content: Partial<RunFile>): void {
  const file: RunFile = {
    state: 'ready',
    startedAt: '2027-01-01T00:00:00.000Z',
    stack: dead,
    processes: [],
    ...content,
  };
  writeFileSync(join(folder, 'run.json'), JSON.stringify(file));
}

describe('run.json', () => {
  test('is readable by its owner only', async () => {
    const folder = temporaryFolder();
    await claimRunFile(folder, ignore);
    expect(statSync(join(folder, 'run.json')).mode & 0o777).toBe(0o600);
  });

  test('keeps a second stack out while the first one lives, and says how to have both', async () => {
    const folder = temporaryFolder();
    await claimRunFile(folder, ignore);
    const second = await claimRunFile(folder, ignore).catch((error: unknown) => error);
    expect(second).toBeInstanceOf(StackRunningError);
    expect((second as Error).message).toMatch(/already runs[^]*HOLDFAST_STATE_DIR=/);
  });

  test('of a stack that died is taken over, and what that left running is ended', async () => {
    const folder = temporaryFolder();
    const orphan = spawn(process.execPath, ['-e', "console.log('up'); setInterval(() => {}, 1000)"]);
    await once(orphan.stdout, 'data');
    const ended = once(orphan, 'exit');
    const pid = orphan.pid ?? 0;
    plant(folder, { processes: [{ name: 'worker', pid, identity: processIdentity(pid) ?? '' }] });
    const said: string[] = [];
    await claimRunFile(folder, (line) => said.push(line));
    await ended;
    expect(said).toEqual([`Ending worker (process ${pid}), left over from an earlier start.`]);
    expect(readRunFile(folder)?.stack.pid).toBe(process.pid);
  });

  test('of a stack that died is taken over by one of two starts, however long both wait for what it left running', async () => {
    const folder = temporaryFolder();
    const orphan = spawn(process.execPath, ['-e', "console.log('up'); setInterval(() => {}, 1000)"]);
    await once(orphan.stdout, 'data');
    const pid = orphan.pid ?? 0;
    plant(folder, { processes: [{ name: 'server', pid, identity: processIdentity(pid) ?? '' }] });
    const claims = await Promise.allSettled([claimRunFile(folder, ignore), claimRunFile(folder, ignore)]);
    expect(claims.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(claims.find(({ status }) => status === 'rejected')).toMatchObject({ reason: expect.any(StackRunningError) });
    expect(readdirSync(folder)).toEqual(['run.json']);
  });

  test('never ends a process that only got the same id later', async () => {
    const folder = temporaryFolder();
    plant(folder, { processes: [{ name: 'worker', pid: process.pid, identity: 'utc:another life' }] });
    const said: string[] = [];
    await claimRunFile(folder, (line) => said.push(line));
    expect(said).toEqual([]);
  });

  test('that was cut in half by a crash is replaced', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'run.json'), '{"state":"rea');
    expect((await claimRunFile(folder, ignore)).state).toBe('starting');
  });
});

describe('without /proc', () => {
  const { platform } = process;
  afterEach(() => {
    Object.defineProperty(process, 'platform', { value: platform });
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  /** A `ps` that tells where it was asked, of processes that there are. */
  function withPs(zone: string): void {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'ps'), '#!/bin/sh\nkill -0 $4 || exit 1\necho "$* in $TZ and $LC_ALL"\n');
    chmodSync(join(folder, 'ps'), 0o755);
    vi.stubEnv('PATH', `${folder}${delimiter}${process.env['PATH'] ?? ''}`);
    vi.stubEnv('TZ', zone);
    vi.stubEnv('LC_ALL', 'ja_JP.UTF-8');
    Object.defineProperty(process, 'platform', { value: 'darwin' });
  }

  test('a process is the same to every shell, whatever its time zone and language', () => {
    withPs('Asia/Tokyo');
    const { pid } = process;
    expect(processIdentity(pid)).toBe(`utc:-o lstart= -p ${pid} in UTC and C`);
    expect(processIdentity(dead.pid)).toBeUndefined();
  });

  test.each(['stack', 'server'])(
    'a %s that an earlier version may have begun in another shell is neither ended nor taken for dead',
    async (name) => {
      const folder = temporaryFolder();
      const { pid } = process;
      const planted = { name, pid, identity: `-o lstart= -p ${pid} in Asia/Tokyo and ja_JP.UTF-8` };
      const temporal = { address: '127.0.0.1:1', namespace: 'shop', uiUrl: '' };
      plant(folder, name === 'stack' ? { stack: planted, temporal } : { processes: [planted] });
      const before = readRunFile(folder);
      const kill = vi.spyOn(process, 'kill');
      withPs('Europe/Berlin');
      const refused = await claimRunFile(folder, ignore).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(StackRunningError);
      expect((refused as Error).message).toMatch(`Process ${pid} may be "${name}" of a Holdfast of an earlier version`);
      expect(kill.mock.calls).toEqual([]);
      expect(readRunFile(folder)).toEqual(before);
      if (name === 'stack') expect(runningStack({ HOLDFAST_STATE_DIR: folder }, folder)).toMatchObject(temporal);
    },
  );

  test('a stack of an earlier version is known in a shell like its own, and one of now that has ended is not in doubt', async () => {
    const folder = temporaryFolder();
    withPs('Asia/Tokyo');
    const { pid } = process;
    plant(folder, { stack: { ...dead, pid, identity: `-o lstart= -p ${pid} in Asia/Tokyo and ja_JP.UTF-8` } });
    await expect(claimRunFile(folder, ignore)).rejects.toThrow(/already runs/);
    plant(folder, { stack: { ...dead, pid, identity: 'utc:another life' } });
    expect((await claimRunFile(folder, ignore)).stack.identity).toBe(processIdentity(pid));
  });
});
