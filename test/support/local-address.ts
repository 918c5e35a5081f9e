import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listenLocally } from '../../tools/stack/ports.js';

/** What an address answers to a request: a status. */
export type Answering = (request: { headers: IncomingHttpHeaders; body: string }) => number;

export async function answerLocally(answer: Answering): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      response.writeHead(answer({ headers: request.headers, body: Buffer.concat(parts).toString() })).end();
    });
  });
  return { url: `${await listenLocally(server)}/hook`, close: () => server.close() };
}
