import { BlockList, isIP } from 'node:net';
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
 * The variable by which grpc-js sends a connection to this host to a proxy, as it reads the environment. Workers poll by a
 * connection that reads none of these.
 */
export function proxyVariable(host: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const exempt = (env['no_grpc_proxy'] || env['no_proxy'])?.split(',') ?? [];
  if (exempt.some((entry) => host.endsWith(entry) || isWithin(host, entry))) return undefined;
  return ['grpc_proxy', 'https_proxy', 'http_proxy'].find((name) => env[name]);
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
