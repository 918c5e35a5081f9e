import { once } from 'node:events';
import { createServer, type IncomingMessage, request as ask, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { listenLocally } from '../../stack/ports.js';

export interface Front {
  readonly url: string;
  close(): void;
}

export type Handle = (request: IncomingMessage, response: ServerResponse, pass: () => Promise<void>) => Promise<void>;

/**
 * An address in front of a service.
 * @param handle is given each request, and what passes it on
 */
export async function startFront(target: string, handle: Handle): Promise<Front> {
  const server = createServer((request, response) => {
    const pass = async (): Promise<void> => {
      const { url = '/', method, headers } = request;
      const passed = ask(new URL(url, target), { method, headers });
      // One that comes after the answer has begun is nobody else's, and would end this process.
      passed.on('error', () => response.destroy());
      passed.end(await buffer(request));
      const [answer] = (await once(passed, 'response')) as [IncomingMessage];
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      await pipeline(answer, response);
    };
    // The caller has given up.
    handle(request, response, pass).catch(() => response.destroy());
  });
  return { url: await listenLocally(server), close: () => void server.close() };
}
