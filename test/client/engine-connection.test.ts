import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { followingConnection, isSameServer } from '../../src/client/engine-connection.js';
import { whyUnreachable } from '../../src/client/why-unreachable.js';

afterEach(() => vi.restoreAllMocks());

/** A connection to nowhere, whose settings are what `settings` holds when they are read. */
function following() {
  const settings = { now: { address: '127.0.0.1:1', tls: false, apiKey: 'one' } as ConnectionOptions | Error };
  let clock = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  const setApiKey = vi.spyOn(Connection.prototype, 'setApiKey');
  const close = vi.spyOn(Connection.prototype, 'close').mockResolvedValue();
  const connection = followingConnection(() => {
    if (settings.now instanceof Error) throw settings.now;
    return settings.now;
  });
  return { settings, connection, setApiKey, close, pass: (ms: number) => (clock += ms) };
}

describe('a connection that follows its settings', () => {
  test('uses a renewed API key once it has read the settings again, which it does every 10 seconds', () => {
    const { settings, connection, setApiKey, pass } = following();
    const { workflowService } = connection;
    settings.now = { address: '127.0.0.1:1', tls: false, apiKey: 'two' };
    pass(9_999);
    expect(connection.workflowService).toBe(workflowService);
    expect(setApiKey).not.toHaveBeenCalled();
    pass(1);
    expect(connection.workflowService).toBe(workflowService);
    expect(setApiKey.mock.calls).toEqual([['two']]);
  });

  test('connects anew for everything else, keeps what is under way, and closes both in the end', async () => {
    const { settings, connection, close, pass } = following();
    const { workflowService } = connection;
    settings.now = { address: '127.0.0.1:2', tls: false, apiKey: 'one' };
    pass(10_000);
    expect(connection.workflowService).not.toBe(workflowService);
    expect(close).not.toHaveBeenCalled();
    await connection.close();
    expect(close).toHaveBeenCalledTimes(2);
  });

  test('keeps what it has read while the settings can not be read', () => {
    const { settings, connection, setApiKey, pass } = following();
    const { workflowService } = connection;
    settings.now = new Error('ENOENT');
    pass(10_000);
    expect(connection.workflowService).toBe(workflowService);
    expect(setApiKey).not.toHaveBeenCalled();
  });

  test('takes another certificate for another connection, and another key not', () => {
    const tls = (crt: string) => ({ clientCertPair: { crt: Buffer.from(crt), key: Buffer.from('k') } });
    expect(isSameServer({ address: 'a:1', tls: tls('x') }, { address: 'a:1', tls: tls('x'), apiKey: 'new' })).toBe(
      true,
    );
    expect(isSameServer({ address: 'a:1', tls: tls('x') }, { address: 'a:1', tls: tls('y') })).toBe(false);
  });
});

describe('why no connection can be made', () => {
  test('is told by one more try', async () => {
    expect(await whyUnreachable({ address: '127.0.0.1:1' })).toContain('ECONNREFUSED');
    expect(await whyUnreachable({ address: 'a host:x' })).toMatch(/TEMPORAL_ADDRESS="a host:x" is no address/);
    const crt = Buffer.from('no certificate');
    const tls = { clientCertPair: { crt, key: crt } };
    expect(await whyUnreachable({ address: '127.0.0.1:1', tls })).toContain('TEMPORAL_TLS_CLIENT_CERT_PATH');
  });

  test('is unknown where that try succeeds', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    expect(await whyUnreachable({ address: `127.0.0.1:${port}` })).toBeUndefined();
    server.close();
  });
});
