import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { DIRECTLY } from '../../src/client/proxy.js';
import { engineSettings, followingConnection, isSameServer } from '../../src/client/engine-connection.js';
import { checkNamespace } from '../../src/client/namespace.js';
import { whyEngineUnreachable, whyUnreachable } from '../../src/client/why-unreachable.js';
import { grpcError, namespaceServer } from './namespace-server.js';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

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
    const address = await listening();
    expect(await whyUnreachable({ address })).toBeUndefined();
  });

  test.each([
    ['grpc_proxy', 'http_proxy'],
    ['https_proxy', 'http_proxy'],
    ['http_proxy', 'HTTPS_PROXY'],
  ])(
    'is the proxy of %s, which makes none: its address, which may hold a password, is not told',
    async (name, other) => {
      const address = await listening();
      for (const one of [name, other]) vi.stubEnv(one, 'http://user:secret@127.0.0.1:9');
      const why = await whyUnreachable({ address });
      expect(why).toMatch(
        new RegExp(
          `${name} sends this connection by a proxy.*ECONNREFUSED.* name 127\\.0\\.0\\.1 in no_grpc_proxy or no_proxy`,
        ),
      );
      expect(why).not.toContain('secret');
      expect(await whyUnreachable({ address, channelArgs: DIRECTLY })).toBeUndefined();
      vi.stubEnv('no_grpc_proxy', 'elsewhere');
      for (const [exempt, proxied] of [
        ['localhost,127.0.0.1', false],
        ['localhost,127.0.0.0/8', false],
        ['localhost,10.0.0.0/8', true],
      ] as const) {
        vi.stubEnv('no_proxy', exempt);
        expect(await whyUnreachable({ address })).toBeDefined();
        vi.stubEnv('no_grpc_proxy', '');
        expect((await whyUnreachable({ address })) !== undefined).toBe(proxied);
        vi.stubEnv('no_grpc_proxy', 'elsewhere');
      }
    },
  );

  test('is not a proxy that makes the connection, nor one of a scheme that is not used', async () => {
    const address = await listening();
    const answers = { status: 200 };
    const url = await listeningProxy(answers);
    vi.stubEnv('https_proxy', url);
    expect(await whyUnreachable({ address })).toBeUndefined();
    const { port } = new URL(`tcp://${address}`);
    vi.stubEnv('TEMPORAL_ADDRESS', `0.0.0.0:${port}`);
    const { connection } = namespaceServer({ fault: grpcError(4, 'Deadline exceeded') });
    const faultOf = async () =>
      (await checkNamespace(connection, 'shop', 'test', { why: whyEngineUnreachable })).faults[0];
    expect(await faultOf()).toMatch(/no answer in time/);
    answers.status = 403;
    expect(await whyUnreachable({ address })).toMatch(/https_proxy sends this connection.*it answers 403/);
    expect(await faultOf()).toMatch(/https_proxy sends this connection.*it answers 403/);
    expect(await whyEngineUnreachable({ natively: true })).toBeUndefined();
    for (const other of [url.replace('http:', 'https:'), 'socks5://127.0.0.1:9', 'no address']) {
      vi.stubEnv('https_proxy', other);
      expect(await whyUnreachable({ address })).toBeUndefined();
    }
  });

  test('is tried by TLS behind the proxy too', async () => {
    const address = await listening((socket) => socket.end('this is no TLS'));
    vi.stubEnv('grpc_proxy', await listeningProxy({ status: 200 }));
    expect(await whyUnreachable({ address, tls: true })).toMatch(/SSL|TLS|wrong version/i);
  });
});

test.each([
  [undefined, true],
  ['localhost:7233', true],
  ['127.0.0.2:7233', true],
  ['[::1]:7233', true],
  ['temporal.example.com:7233', false],
  ['10.0.0.1:7233', false],
])('a server at %s is asked without a proxy: %s', (address, directly) => {
  const env = address === undefined ? {} : { TEMPORAL_ADDRESS: address };
  const { channelArgs } = engineSettings({}, env).connectionOptions;
  expect('grpc.enable_http_proxy' in channelArgs).toBe(directly);
});

async function listening(serve: (socket: Socket) => void = () => undefined): Promise<string> {
  return await addressOf(createServer(serve));
}

/** A proxy that makes connections, or answers with another status. */
async function listeningProxy(answers: { status: number }): Promise<string> {
  const proxy = createHttpServer();
  proxy.on('connect', ({ url = '' }, socket) => {
    if (answers.status !== 200) return void socket.end(`HTTP/1.1 ${answers.status} No\r\n\r\n`);
    const { hostname, port } = new URL(`tcp://${url}`);
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    for (const one of [socket, onward]) one.on('error', () => undefined);
  });
  return `http://${await addressOf(proxy)}`;
}

async function addressOf(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
