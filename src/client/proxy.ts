import { request } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import { RECONNECT_SOON } from './deadlines.js';

const DEFAULT_PORT = 7233;

/** For a server of this machine, which a proxy does not reach: grpc-js would send a loopback address to one too. */
export const DIRECTLY = { ...RECONNECT_SOON, 'grpc.enable_http_proxy': 0 } as const;

/** @param address Temporal's, or undefined for that of the SDK, which is this machine's */
export function channelArgsTo(address: string | undefined) {
  const host = hostAndPort(address)?.host;
  return host !== undefined && /^(?:localhost|127\..*|::1)$/i.test(host) ? DIRECTLY : RECONNECT_SOON;
}

/**
 * The proxy to which grpc-js sends a connection to this host, and the variable that names it, as grpc-js reads the environment:
 * of the first that is set it takes no other scheme than http. Workers poll by a connection that reads none of these.
 */
export function proxyTo(
  host: string,
  env: NodeJS.ProcessEnv = process.env,
): { variable: string; url: URL } | undefined {
  const exempt = (env['no_grpc_proxy'] || env['no_proxy'])?.split(',') ?? [];
  if (exempt.some((entry) => host.endsWith(entry) || isWithin(host, entry))) return undefined;
  const variable = ['grpc_proxy', 'https_proxy', 'http_proxy'].find((name) => env[name]);
  const text = variable === undefined ? undefined : env[variable];
  if (variable === undefined || text === undefined || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'http:' ? { variable, url } : undefined;
}

/**
 * A connection by a proxy, asked for as grpc-js does.
 * @returns a sentence that says why there is none, without the proxy's address, which may hold a password
 */
export function openTunnel(proxy: URL, target: string, withinMs: number): Promise<Socket | string> {
  const login = decodeURIComponent(proxy.password === '' ? proxy.username : `${proxy.username}:${proxy.password}`);
  const headers = {
    Host: target,
    ...(login !== '' && { 'Proxy-Authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
  };
  const { hostname, port } = proxy;
  return new Promise((resolve) => {
    const asked = request({ method: 'CONNECT', host: hostname, port: port || 80, path: target, headers });
    const timer = setTimeout(() => asked.destroy(new Error('no answer')), withinMs);
    const end = (answer: Socket | string): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    asked.once('connect', ({ statusCode }, socket: Socket) => {
      socket.on('error', () => undefined);
      if (statusCode === 200) return end(socket);
      socket.destroy();
      end(`it answers ${statusCode}`);
    });
    asked.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    asked.end();
  });
}

function isWithin(host: string, range: string): boolean {
  const [network = '', bits = ''] = range.split('/');
  if (isIP(host) !== 4 || isIP(network) !== 4 || !/^(?:[12]?\d|3[0-2])$/.test(bits)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits));
  return list.check(host);
}

/** `no_grpc_proxy` with one more host: what that names holds in place of `no_proxy`. */
export function withoutProxyFor(host: string, env: NodeJS.ProcessEnv): { no_grpc_proxy: string } {
  return { no_grpc_proxy: [env['no_grpc_proxy'] || env['no_proxy'], host].filter(Boolean).join(',') };
}

/** undefined if it is no address */
export function hostAndPort(address = '127.0.0.1'): { host: string; port: number } | undefined {
  const text = `tcp://${address.replace(/^https?:\/\//, '')}`;
  if (!URL.canParse(text)) return undefined;
  const { hostname, port } = new URL(text);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? DEFAULT_PORT : Number(port) };
}
