import { readFileSync } from 'node:fs';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import type { Pair } from './cloud-certificates.js';
import { ask, type Call, listenInFront, messageIn, reply } from './forward-grpc.js';

export interface CloudProxyOptions {
  /** `host:port` of the server behind. */
  target: string;
  /** Its own certificate. */
  own: Pair;
  /** If set, a caller needs a certificate of this authority. */
  clientAuthority?: string;
  /** If set, a caller needs this API key. */
  apiKey?: string;
}

/** A server of Temporal as a managed one is: by TLS alone, without operator rights, and without `ORDER BY`. */
export interface CloudProxy {
  readonly address: string;
  /** Calls that were refused for what they asked, since the start. */
  readonly refused: string[];
  /** From here on only callers with this key are served. */
  takeKey(apiKey: string): void;
  /** New connections need a certificate of this authority. */
  trust(clientAuthority: string): void;
  /** Ends every connection: callers have to make new ones. */
  cut(): void;
  close(): void;
}

const PERMISSION_DENIED = 7;
const INVALID_ARGUMENT = 3;
const UNAUTHENTICATED = 16;
const REFUSED = new Set(['UpdateNamespace', 'RegisterNamespace']);

export async function openCloudProxy({ target, own, clientAuthority, apiKey }: CloudProxyOptions): Promise<CloudProxy> {
  let key = apiKey;
  const refused: string[] = [];
  const contextFor = (ca: string | undefined) => ({
    cert: readFileSync(own.cert),
    key: readFileSync(own.key),
    ...(ca !== undefined && { ca: readFileSync(ca) }),
  });
  const server = createSecureServer({
    ...contextFor(clientAuthority),
    requestCert: clientAuthority !== undefined,
    rejectUnauthorized: clientAuthority !== undefined,
  });
  const front = await listenInFront(server, target, handle);

  async function handle({ stream, headers, body, far }: Call): Promise<void> {
    const [, service = '', call = ''] = headers[':path']?.split('/') ?? [];
    if (key !== undefined && headers['authorization'] !== `Bearer ${key}`)
      return refuse(stream, UNAUTHENTICATED, 'Jwt is expired');
    const isOperators = service.endsWith('.OperatorService');
    if (isOperators || REFUSED.has(call)) {
      refused.push(call);
      return refuse(stream, PERMISSION_DENIED, 'Request unauthorized.');
    }
    if (/^(List|Count|Scan)/.test(call) && /order by/i.test(messageIn(body).toString('latin1'))) {
      refused.push(call);
      return refuse(stream, INVALID_ARGUMENT, "invalid query: operation is not supported: 'order by' clause");
    }
    reply(stream, await ask(far, stream, { ...headers, ':scheme': 'http' }, body));
  }

  return {
    address: `localhost:${front.port}`,
    refused,
    takeKey: (next) => void (key = next),
    trust: (next) => server.setSecureContext(contextFor(next)),
    cut: () => front.endSessions(),
    close() {
      server.close();
      front.endSessions();
    },
  };
}

function refuse(stream: ServerHttp2Stream, status: number, message: string): void {
  const headers = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': String(status) };
  stream.respond({ ...headers, 'grpc-message': encodeURIComponent(message) }, { endStream: true });
}
