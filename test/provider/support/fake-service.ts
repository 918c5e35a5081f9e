import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import {
  type ApiVersion,
  ProviderClient,
  type ProviderClientOptions,
  ProviderError,
} from '../../../src/provider/index.js';

export const PAYMENT_ID = '6f3d2c1a-0b9e-4a77-8c55-1d2e3f405162';
export const CHARGE_ID = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
export const TOKEN = 'b1946ac9-2492-4d23-9a43-5c3f1e8d7a60';
export const PRIVATE_KEY = 'private-key-of-the-test-7c21';

export const CHARGE = { paymentMethod: { type: 'tokenized', token: TOKEN } } as const;
export const PAYMENT = { amount: 1095, currency: 'USD' } as const;
export const PAYMENT_BODY = { id: PAYMENT_ID, amount: 1095, currency: 'USD', status: 'Initialized' };
export const CHARGE_BODY = { id: CHARGE_ID, amount: 1095, result: { status: 'Succeed' } };

interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** Which connection it came on, from 1. */
  connection: number;
}

export interface FakeService {
  url: string;
  requests: SeenRequest[];
  close(): Promise<void>;
}

export type Answer = (response: ServerResponse, request: SeenRequest) => void;

/** A real HTTP server that keeps what it saw and answers as told, once the whole request has arrived. */
export async function fakeService(answer: Answer): Promise<FakeService> {
  const requests: SeenRequest[] = [];
  const connections = new Map<Socket, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const seen: SeenRequest = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        connection: connections.get(request.socket) ?? 0,
      };
      requests.push(seen);
      answer(response, seen);
    });
  });
  server.on('connection', (socket) => connections.set(socket, connections.size + 1));
  const url = await listen(server);
  return {
    url,
    requests,
    close: () => {
      server.closeAllConnections();
      return stop(server);
    },
  };
}

export interface FakeSocketService {
  url: string;
  sockets: Socket[];
  close(): Promise<void>;
}

/** A TCP server for what no HTTP server can be made to do. */
export async function fakeSocketService(onConnection: (socket: Socket) => void): Promise<FakeSocketService> {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  const url = await listen(server);
  return {
    url,
    sockets,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return stop(server);
    },
  };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-svc-request-id': 'req-1', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

export function clientOf(
  baseUrl: string,
  options: Partial<ProviderClientOptions> & { apiVersion?: ApiVersion } = {},
): ProviderClient {
  const { apiVersion = '1.3.0', ...rest } = options;
  return new ProviderClient({
    baseUrl,
    environment: 'test',
    unit: { appId: 'app.test', privateKey: PRIVATE_KEY, apiVersion },
    ...rest,
  });
}

/** The error a call ends with; a call that succeeds fails the test. */
export async function failureOf(call: Promise<unknown>): Promise<ProviderError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error('the call succeeded');
}

export async function unusedPort(): Promise<number> {
  const server = createTcpServer();
  const url = await listen(server);
  await stop(server);
  return Number(new URL(url).port);
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
