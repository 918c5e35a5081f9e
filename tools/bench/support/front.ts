import { once } from 'node:events';
import { createServer, type IncomingMessage, request as ask, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

export interface Front {
  readonly url: string;
  close(): void;
}

/**
 * An address in front of a service.
 * @param handle is given each request, and what passes it on
 */
export async function startFront(
  target: string,
  handle: (request: IncomingMessage, response: ServerResponse, pass: () => Promise<void>) => Promise<void>,
): Promise<Front> {
  const server = createServer((request, response) => {
    const pass = async (): Promise<void> => {
      const { url = '/', method, headers } = request;
      const passed = ask(new URL(url, target), { method, headers });
      passed.end(await buffer(request));
      const [answer] = (await once(passed, 'response')) as [IncomingMessage];
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      await pipeline(answer, response);
    };
    // The caller has given up.
    handle(request, response, pass).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}
