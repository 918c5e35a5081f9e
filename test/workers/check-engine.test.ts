import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { checkEngine, connectEngine, type EngineConnections } from '../../workers/connect.js';
import { grpcError, namespaceServer } from '../client/namespace-server.js';
import { testDataConverter } from '../support/data-converter.js';

afterEach(() => void vi.unstubAllEnvs());

/** Calls fail by the one connection, by which workers poll, or by the other. */
async function faultsOf(failing: 'native' | 'connection'): Promise<string[]> {
  const { connection } = namespaceServer();
  const away = namespaceServer({ fault: grpcError(4, 'Deadline exceeded') }).connection;
  const engine = {
    native: () => (failing === 'native' ? away : connection),
    connection: failing === 'connection' ? away : connection,
    client: { options: { namespace: 'shop' } },
    refresh: () => Promise.resolve(undefined),
  };
  return (await checkEngine(engine as unknown as EngineConnections, [], 'test', false)).faults;
}

test('a proxy is named only for the connection that would go by it', async () => {
  // Not one that is reached without a proxy by its name, and nobody listens there.
  vi.stubEnv('TEMPORAL_ADDRESS', '0.0.0.0:1');
  vi.stubEnv('https_proxy', 'http://127.0.0.1:9');
  expect(await faultsOf('connection')).toEqual([expect.stringContaining('https_proxy sends this connection')]);
  const [fault = ''] = await faultsOf('native');
  expect(fault).toMatch(/^Temporal cannot be reached/);
  expect(fault).not.toContain('proxy');
});

test('nor is it for the first connection of a worker, which goes by none', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  vi.stubEnv('TEMPORAL_ADDRESS', `0.0.0.0:${(server.address() as AddressInfo).port}`);
  vi.stubEnv('https_proxy', 'http://127.0.0.1:9');
  const stop = new AbortController();
  const said: string[] = [];
  const connecting = connectEngine(testDataConverter(), stop.signal, (reasons) => {
    said.push(...reasons);
    stop.abort();
  });
  await expect(connecting).rejects.toThrow(/abort/);
  expect(said).toEqual([expect.stringMatching(/^Temporal cannot be reached/)]);
  expect(said[0]).not.toContain('proxy');
});
