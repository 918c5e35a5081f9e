import { X509Certificate } from 'node:crypto';
import { connect as connectPlainly, type Socket } from 'node:net';
import { connect as connectByTls } from 'node:tls';
import type { ConnectionOptions } from '@temporalio/client';
import { messageOf } from '../contract/message-of.js';
import { type EngineAddress, engineSettings } from './engine-connection.js';
import { DIRECTLY, hostAndPort, openTunnel, proxyTo } from './proxy.js';

const WITHIN_MS = 1_500;
/** By TLS 1.3 a server refuses a client's certificate only after the client has taken the handshake for done. */
const REFUSED_WITHIN_MS = 300;

type Settings = Pick<ConnectionOptions, 'address' | 'tls' | 'channelArgs'>;
type Tls = Exclude<ConnectionOptions['tls'], boolean | null | undefined>;

interface Asked extends EngineAddress {
  /** Of the connection by which workers poll, which knows no proxy. */
  natively?: boolean;
}

/** `whyUnreachable` by Temporal's settings as they are now, which is an answer itself where they can't be read. */
export async function whyEngineUnreachable({ natively = false, ...options }: Asked = {}): Promise<string | undefined> {
  let settings: Settings;
  try {
    settings = engineSettings(options).connectionOptions;
  } catch (error) {
    return sayUnreadableSettings(error);
  }
  return await whyUnreachable(natively ? { ...settings, channelArgs: DIRECTLY } : settings);
}

export function sayUnreadableSettings(error: unknown): string {
  return `its settings, TEMPORAL_... and what they name, can't be read: ${messageOf(error)}`;
}

/**
 * What keeps a connection to the server from being made, as one more try on its way tells: Temporal's own errors say only that
 * there was none in time. undefined if that try succeeds, by the proxy where there is one: the error itself is then to be told.
 */
export async function whyUnreachable({ address, tls, channelArgs }: Settings): Promise<string | undefined> {
  const options = typeof tls === 'object' && tls !== null ? tls : undefined;
  const lapsed = sayIfLapsed(tls);
  if (lapsed !== undefined) return lapsed;
  const server = hostAndPort(address);
  if (server === undefined) return `TEMPORAL_ADDRESS="${address}" is no address such as temporal.example.com:7233`;
  const { host, port } = server;
  const isByTls = tls !== undefined && tls !== null && tls !== false;
  const proxy = channelArgs?.['grpc.enable_http_proxy'] === 0 ? undefined : proxyTo(host);
  let tunnel: Socket | undefined;
  if (proxy !== undefined) {
    const opened = await openTunnel(proxy.url, `${host}:${port}`, WITHIN_MS);
    if (typeof opened === 'string') return sayProxied(proxy.variable, host, opened);
    tunnel = opened;
    if (!isByTls) {
      tunnel.destroy();
      return undefined;
    }
  }
  return await new Promise<string | undefined>((resolve) => {
    const socket = isByTls ? openByTls(host, port, options, tunnel) : connectPlainly(port, host);
    const end = (why: string | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      tunnel?.destroy();
      resolve(why);
    };
    let timer = setTimeout(() => end('no answer'), WITHIN_MS);
    const succeed = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => end(undefined), isByTls ? REFUSED_WITHIN_MS : 0);
    };
    socket.once(isByTls ? 'secureConnect' : 'connect', succeed);
    socket.on('error', (error) => end(sayError(error)));
  });
}

function sayProxied(variable: string, host: string, why: string): string {
  return (
    `${variable} sends this connection by a proxy, which makes none (${why}): have that proxy let it through, or name ` +
    `${host} in no_grpc_proxy or no_proxy, in lower case, if it can be reached without`
  );
}

function openByTls(host: string, port: number, options: Tls | undefined, tunnel: Socket | undefined): Socket {
  const { serverRootCACertificate: ca, clientCertPair: pair, serverNameOverride: name } = options ?? {};
  return connectByTls({
    ...(tunnel === undefined ? { host, port } : { socket: tunnel }),
    servername: name ?? host,
    ALPNProtocols: ['h2'],
    ...(ca !== undefined && ca !== null && { ca: Buffer.from(ca) }),
    ...(pair !== undefined && pair !== null && { cert: Buffer.from(pair.crt), key: Buffer.from(pair.key) }),
  });
}

/** @returns undefined without a client certificate, or within its time */
export function sayIfLapsed(tls: Settings['tls']): string | undefined {
  const pair = typeof tls === 'object' ? tls?.clientCertPair : undefined;
  if (pair === undefined || pair === null) return undefined;
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(Buffer.from(pair.crt));
  } catch {
    return 'the client certificate is no PEM text: look at TEMPORAL_TLS_CLIENT_CERT_PATH';
  }
  const { validFrom, validTo } = certificate;
  const now = Date.now();
  if (Date.parse(validTo) >= now && Date.parse(validFrom) <= now) return undefined;
  return (
    `the client certificate ${Date.parse(validTo) < now ? `has lapsed on ${validTo}` : `holds from ${validFrom} only`}: put a ` +
    'valid one and its key in its place (TEMPORAL_TLS_CLIENT_CERT_PATH and ..._KEY_PATH, or the same of a profile); ' +
    'it is read by itself'
  );
}

function sayError(error: Error & { code?: string }): string {
  // The reason of an alert, which the other side has sent.
  if (error.code?.includes('ALERT') === true)
    return `the server refuses the client's certificate, or the lack of one (${error.code})`;
  if (error.code !== undefined && /CERT|SIGNATURE/.test(error.code))
    return `the server's certificate is not to be trusted (${error.message}): look at TEMPORAL_TLS_SERVER_CA_CERT_PATH and TEMPORAL_TLS_SERVER_NAME`;
  return error.message || (error.code ?? 'no connection');
}
