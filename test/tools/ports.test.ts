import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { choosePorts, freePort } from '../../tools/stack/ports.js';
import { readSettings, StackSettingsError, urlOf } from '../../tools/stack/settings.js';

let holder: Server;
let taken: number;
beforeAll(async () => {
  holder = createServer();
  await new Promise<void>((listening) => holder.listen(0, '127.0.0.1', listening));
  taken = (holder.address() as { port: number }).port;
});
afterAll(() => new Promise((closed) => holder.close(closed)));

const spec = (preferred: number) => ({ name: 'thing', setting: 'HOLDFAST_THING_PORT', preferred });

describe('the ports of the stack', () => {
  test('a free preferred port is taken as it is', async () => {
    const preferred = await freePort();
    expect(await choosePorts([spec(preferred)], '127.0.0.1')).toMatchObject([{ port: preferred, replaced: false }]);
  });

  test('a port that another process holds is replaced by a free one, and that is noted', async () => {
    const [chosen] = await choosePorts([spec(taken)], '127.0.0.1');
    expect(chosen).toMatchObject({ preferred: taken, replaced: true });
    expect(chosen?.port).not.toBe(taken);
  });

  test('no two processes get the same port, even when both ask for it', async () => {
    const preferred = await freePort();
    const chosen = await choosePorts([spec(preferred), spec(preferred), spec(0), spec(0)], '127.0.0.1');
    expect(new Set(chosen.map(({ port }) => port)).size).toBe(4);
    expect(chosen.map(({ replaced }) => replaced)).toEqual([false, true, false, false]);
  });

  test('the console stays on loopback, wherever the others listen', async () => {
    const settings = await readSettings({ HOLDFAST_BIND_ADDRESS: '0.0.0.0', HOLDFAST_CONSOLE_PORT: '0' }, '/tmp/x');
    expect(urlOf(settings, 'console')).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const env = { HOLDFAST_BIND_ADDRESS: '127.0.0.2', HOLDFAST_CONSOLE_PORT: String(taken) };
    const beside = await readSettings(env, '/tmp/x');
    expect(urlOf(beside, 'sandbox')).toContain('127.0.0.2');
    expect(beside.ports.console).toMatchObject({ replaced: true });
  });

  test('every port setting that is no port is told at once', async () => {
    const env = { HOLDFAST_CODEC_PORT: 'four', HOLDFAST_SANDBOX_PORT: '70000' };
    const failure = await readSettings(env, '/tmp/x').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StackSettingsError);
    expect((failure as Error).message).toMatch(/HOLDFAST_SANDBOX_PORT is "70000"[^]*HOLDFAST_CODEC_PORT is "four"/);
  });
});
