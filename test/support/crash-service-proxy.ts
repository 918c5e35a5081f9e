import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenLocally } from '../../tools/stack/ports.js';
import type { CrashStops } from './crash-stops.js';

/** `payment-<reference>:<operation>:<sequence>`, or `payment-actions-<payment id>:<operation>:<sequence>` */
const KEY = /^payment-(?:actions-)?(.+):(\w+):[\w-]+$/;

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** Stands between a worker and the payment service: passes everything on as it is, its POSTs by way of the stops. */
export interface ServiceProxy {
  readonly url: string;
  /** Where the payment service is; known only once it runs. */
  target: string;
  close(): void;
}

export async function openServiceProxy(stops: CrashStops): Promise<ServiceProxy> {
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  const proxy: ServiceProxy = {
    url: await listenLocally(server),
    target: '',
    close() {
      server.close();
      server.closeAllConnections();
    },
  };

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const forward = () => ask(proxy.target, incoming, body);
    const [, reference, operation] = KEY.exec(String(incoming.headers['idempotency-key'])) ?? [];
    const answer =
      incoming.method === 'POST' && reference !== undefined
        ? await stops.pass(reference, `POST ${operation}`, forward)
        : await forward();
    if (answer === undefined) incoming.socket.destroy();
    else outgoing.writeHead(answer.status, answer.headers).end(answer.body);
  }

  return proxy;
}

async function ask(target: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  const asked = send(new URL(url ?? '/', target), {
    method: method ?? 'GET',
    headers: { ...headers, host: new URL(target).host },
  });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
}
