import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './sandbox.js';

export interface ReceivedEvent {
  headers: IncomingHttpHeaders;
  raw: string;
  type: string;
  body: {
    id: string;
    created: string;
    payment_id: string;
    account_id: string;
    app_id: string;
    data: { id: string; amount?: number; currency?: string; result?: { status: string }; [field: string]: unknown };
  };
}

export interface Receiver {
  url: string;
  events: ReceivedEvent[];
  /** Answers the next requests with these statuses; 200 after them. */
  answerNext(...statuses: number[]): void;
  /** No request is answered before this. */
  answerAfter(moment: Promise<void>): void;
  /** The first event of that type that fits. */
  event(type: string, fits?: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent>;
  close(): Promise<void>;
}

/** A merchant's webhook receiver that keeps what it gets. */
export async function startReceiver(): Promise<Receiver> {
  const events: ReceivedEvent[] = [];
  const statuses: number[] = [];
  let moment = Promise.resolve();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks).toString('utf8');
      const body = JSON.parse(raw) as ReceivedEvent['body'];
      events.push({ headers: request.headers, raw, body, type: String(request.headers['event-type']) });
      const status = statuses.shift() ?? 200;
      void moment.then(() => response.writeHead(status).end());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    events,
    answerNext: (...next) => void statuses.push(...next),
    answerAfter: (next) => void (moment = next),
    event: (type, fits = () => true) => until(() => events.find((event) => event.type === type && fits(event))),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
