import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Agent, RetryAgent } from 'undici';
import { createDispatcher } from '../../src/provider/index.js';
import type { ProviderClient } from '../../src/provider/index.js';
import {
  CHARGE,
  CHARGE_BODY,
  PAYMENT,
  PAYMENT_BODY,
  PAYMENT_ID,
  clientOf,
  failureOf,
  fakeService,
  fakeSocketService,
  json,
  unusedPort,
} from './support/fake-service.js';

const cleanUps: (() => Promise<unknown>)[] = [];
function kept<T extends { close(): Promise<unknown> }>(opened: T): T {
  cleanUps.push(() => opened.close());
  return opened;
}
afterEach(async () => {
  // All at once: a client waits for its calls, and those end when the services close.
  await Promise.all(cleanUps.splice(0).map((cleanUp) => cleanUp()));
});

const charge = (client: ProviderClient, options = {}) => client.createCharge(PAYMENT_ID, CHARGE, options);
const until = async (condition: () => boolean): Promise<void> => {
  const limit = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > limit) throw new Error('the condition never came true');
    await new Promise((resolve) => setImmediate(resolve));
  }
};

describe('refused: it is proven that nothing was sent', () => {
  test('nothing listens on the port', async () => {
    const client = kept(clientOf(`http://127.0.0.1:${await unusedPort()}`));
    const error = await failureOf(charge(client));
    expect(error).toMatchObject({ kind: 'refused', mayHaveLeft: false, code: 'ECONNREFUSED' });
    expect(error.message).toContain('nothing was sent');
    expect(error.message).toContain('127.0.0.1');
  });

  test('the host name does not exist', async () => {
    const client = kept(clientOf('http://no-such-host.invalid'));
    expect(await failureOf(charge(client))).toMatchObject({ kind: 'refused', mayHaveLeft: false });
  });

  test.each(['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])('connecting fails with %s', async (code) => {
    const connect = (_options: unknown, done: (error: Error, socket: null) => void): void =>
      done(Object.assign(new Error('x'), { code }), null);
    const dispatcher = kept(new Agent({ connect: connect as never }));
    const error = await failureOf(charge(clientOf('http://service.example', { dispatcher })));
    expect(error).toMatchObject({ kind: 'refused', mayHaveLeft: false, code });
  });

  test('no connection stands within the connect limit', async () => {
    const silent = kept(await fakeSocketService(() => undefined));
    const client = kept(clientOf(silent.url.replace('http:', 'https:'), { connectTimeoutMs: 50 }));
    const error = await failureOf(charge(client));
    expect(error).toMatchObject({ kind: 'refused', mayHaveLeft: false, code: 'UND_ERR_CONNECT_TIMEOUT' });
  });

  test('the TLS handshake fails: the other side closes, or speaks no TLS', async () => {
    const closing = kept(await fakeSocketService((socket) => socket.once('data', () => socket.destroy())));
    const plain = kept(await fakeService(json(201, CHARGE_BODY)));
    for (const { url } of [closing, plain]) {
      const client = kept(clientOf(url.replace('http:', 'https:')));
      expect(await failureOf(charge(client))).toMatchObject({ kind: 'refused', mayHaveLeft: false });
    }
    expect(plain.requests).toHaveLength(0);
  });

  test('the caller had aborted before the call', async () => {
    const service = kept(await fakeService(json(201, CHARGE_BODY)));
    const error = await failureOf(charge(kept(clientOf(service.url)), { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ kind: 'refused', mayHaveLeft: false, code: 'ABORTED' });
    expect(service.requests).toHaveLength(0);
  });
});

describe('lost: the connection broke after sending began, and nothing is sent again', () => {
  test('the service closes the connection instead of answering', async () => {
    const service = kept(await fakeService((response) => response.socket?.destroy()));
    const error = await failureOf(charge(kept(clientOf(service.url))));
    expect(error).toMatchObject({ kind: 'lost', mayHaveLeft: true, operation: 'createCharge' });
    expect(error.message).toContain('may have reached');
    expect(service.requests).toHaveLength(1);
  });

  test('the service resets the connection before it has read the request', async () => {
    const service = kept(await fakeSocketService((socket) => socket.once('data', () => socket.resetAndDestroy())));
    const error = await failureOf(charge(kept(clientOf(service.url))));
    expect(error).toMatchObject({ kind: 'lost', mayHaveLeft: true });
    expect(service.sockets).toHaveLength(1);
  });

  test('a GET is not sent again either', async () => {
    const service = kept(await fakeService((response) => response.socket?.destroy()));
    expect((await failureOf(kept(clientOf(service.url)).getPayment(PAYMENT_ID))).kind).toBe('lost');
    expect(service.requests).toHaveLength(1);
  });

  test.each([
    ['its announced length', { 'content-length': '500' }],
    ['its last chunk', { 'transfer-encoding': 'chunked' }],
  ])('the body of a 2xx breaks off before %s; its request id is kept', async (_name, headers) => {
    const service = kept(
      await fakeService((response) => {
        response.writeHead(201, { 'x-svc-request-id': 'req-9', ...headers });
        response.write(JSON.stringify(CHARGE_BODY), () => response.socket?.destroy());
      }),
    );
    const error = await failureOf(charge(kept(clientOf(service.url))));
    expect(error).toMatchObject({ kind: 'lost', mayHaveLeft: true, httpStatus: 201, requestId: 'req-9' });
    expect(service.requests).toHaveLength(1);
  });

  test('an interim answer is no answer when the connection breaks after it', async () => {
    const service = kept(
      await fakeService((response) => {
        const { socket } = response;
        response.writeProcessing();
        socket?.write('', () => socket.destroySoon());
      }),
    );
    const error = await failureOf(charge(kept(clientOf(service.url))));
    expect(error).toMatchObject({ kind: 'lost', mayHaveLeft: true });
    expect(error.httpStatus).toBeUndefined();
  });

  test('a kept connection turns out to be dead when the next request is written to it', async () => {
    const service = kept(
      await fakeService((response, request) => {
        if (service.requests.length === 1) json(201, PAYMENT_BODY)(response, request);
        else response.socket?.resetAndDestroy();
      }),
    );
    const client = clientOf(service.url, { dispatcher: kept(createDispatcher({ maxConnections: 1 })) });
    await client.createPayment(PAYMENT);
    expect(await failureOf(charge(client))).toMatchObject({ kind: 'lost', mayHaveLeft: true });
    expect(service.requests.map(({ connection }) => connection)).toEqual([1, 1]);
  });

  test('a kept connection that the service closed while idle is replaced without a trace', async () => {
    const service = kept(
      await fakeService((response, request) => {
        const { socket } = response;
        if (service.requests.length === 1) response.on('finish', () => socket?.destroySoon());
        json(201, PAYMENT_BODY)(response, request);
      }),
    );
    const dispatcher = kept(createDispatcher());
    const disconnected = once(dispatcher, 'disconnect');
    const client = clientOf(service.url, { dispatcher });
    await client.createPayment(PAYMENT);
    await disconnected;
    await client.createPayment(PAYMENT);
    expect(service.requests.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  test('the caller aborts while the answer is awaited', async () => {
    const service = kept(await fakeService(() => undefined));
    const controller = new AbortController();
    const call = failureOf(charge(kept(clientOf(service.url)), { signal: controller.signal }));
    await until(() => service.requests.length === 1);
    controller.abort();
    expect(await call).toMatchObject({ kind: 'lost', mayHaveLeft: true, code: 'ABORTED' });
  });

  test('a dispatcher that tries again on its own is stopped before the second sending', async () => {
    const service = kept(await fakeService(json(503, {})));
    const eager = { methods: ['POST' as const], statusCodes: [503], maxRetries: 3, minTimeout: 1 };
    const dispatcher = kept(new RetryAgent(new Agent(), eager));
    const error = await failureOf(charge(clientOf(service.url, { dispatcher })));
    expect(error).toMatchObject({ kind: 'lost', mayHaveLeft: true, code: 'SENT_TWICE' });
    expect(service.requests).toHaveLength(1);
  });
});

describe('timeout: the limit of the whole call', () => {
  test('no answer comes', async () => {
    const service = kept(await fakeService(() => undefined));
    const error = await failureOf(charge(kept(clientOf(service.url, { timeoutMs: 80 }))));
    expect(error).toMatchObject({ kind: 'timeout', mayHaveLeft: true, code: 'CALL_LIMIT' });
    expect(service.requests).toHaveLength(1);
  });

  test('a connection whose call was given up is closed, so that a late answer meets no other call', async () => {
    let closed = false;
    const service = kept(await fakeService((response) => response.on('close', () => (closed = true))));
    const client = kept(clientOf(service.url, { timeoutMs: 30 }));
    expect((await failureOf(charge(client))).kind).toBe('timeout');
    await until(() => closed);
    expect(closed).toBe(true);
  });

  test('the body goes on for longer, byte by byte; the request id is kept', async () => {
    const service = kept(
      await fakeService((response) => {
        response.writeHead(201, { 'x-svc-request-id': 'req-5' });
        const drip = setInterval(() => response.write(' '), 5);
        response.on('close', () => clearInterval(drip));
      }),
    );
    const error = await failureOf(charge(kept(clientOf(service.url)), { timeoutMs: 80 }));
    expect(error).toMatchObject({ kind: 'timeout', mayHaveLeft: true, requestId: 'req-5', httpStatus: 201 });
  });

  test('it passes while still connecting: nothing was sent', async () => {
    const silent = kept(await fakeSocketService(() => undefined));
    const client = clientOf(silent.url.replace('http:', 'https:'), { timeoutMs: 50, connectTimeoutMs: 5000 });
    cleanUps.push(() => client.close());
    expect(await failureOf(charge(client))).toMatchObject({ kind: 'timeout', mayHaveLeft: false });
  });

  test('a call that timed out or was aborted while queued is never sent later', async () => {
    const held: (() => void)[] = [];
    const service = kept(
      await fakeService((response, request) => held.push(() => json(201, CHARGE_BODY)(response, request))),
    );
    const dispatcher = kept(createDispatcher({ maxConnections: 1 }));
    const client = clientOf(service.url, { dispatcher });
    const first = charge(client, { idempotencyKey: 'first' });
    await until(() => held.length === 1);
    const controller = new AbortController();
    const late = failureOf(charge(client, { idempotencyKey: 'late', timeoutMs: 30 }));
    const aborted = failureOf(charge(client, { idempotencyKey: 'aborted', signal: controller.signal }));
    controller.abort();
    expect(await late).toMatchObject({ kind: 'timeout', mayHaveLeft: false });
    expect(await aborted).toMatchObject({ kind: 'refused', mayHaveLeft: false });
    held[0]?.();
    await first;
    // Queued behind the two: if one of them were still to be sent, it would come first and take this answer.
    const last = charge(client, { idempotencyKey: 'last', timeoutMs: 2000 });
    await until(() => held.length === 2);
    held[1]?.();
    await last.catch(() => undefined);
    expect(service.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['first', 'last']);
  });
});

describe('unexpected: an answer that can not be relied on', () => {
  test('something other than HTTP', async () => {
    const service = kept(
      await fakeSocketService((socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n\r\n'))),
    );
    const error = await failureOf(charge(kept(clientOf(service.url))));
    expect(error).toMatchObject({ kind: 'unexpected', mayHaveLeft: true });
    expect(error.code).toMatch(/^HPE_/);
    expect(service.sockets).toHaveLength(1);
  });

  test('a body above the limit, announced or not', async () => {
    for (const headers of [{ 'content-length': String(3 * 1024 * 1024) }, {}]) {
      const service = kept(
        await fakeService((response) => response.writeHead(201, headers).end('x'.repeat(3 * 1024 * 1024))),
      );
      const error = await failureOf(charge(kept(clientOf(service.url))));
      expect(error).toMatchObject({ kind: 'unexpected', mayHaveLeft: true, code: 'BODY_TOO_LARGE', httpStatus: 201 });
    }
  });

  test('headers without end', async () => {
    const service = kept(
      await fakeSocketService((socket) =>
        socket.once('data', () =>
          socket.write(`HTTP/1.1 201 Created\r\n${`x-long: ${'y'.repeat(1000)}\r\n`.repeat(40)}`),
        ),
      ),
    );
    expect(await failureOf(charge(kept(clientOf(service.url))))).toMatchObject({
      kind: 'unexpected',
      mayHaveLeft: true,
    });
  });
});

describe('http: a status outside 2xx counts even when its body does not arrive whole', () => {
  test('too large, broken off, or too slow', async () => {
    const bodies = [
      (response: ServerResponse) => response.end('x'.repeat(3 * 1024 * 1024)),
      (response: ServerResponse) => response.write('{"cat', () => response.socket?.destroy()),
      (response: ServerResponse) => response.write('{"cat'),
    ];
    for (const send of bodies) {
      const service = kept(
        await fakeService((response) => {
          response.writeHead(409, { 'x-svc-request-id': 'req-3' });
          send(response);
        }),
      );
      const error = await failureOf(charge(kept(clientOf(service.url)), { timeoutMs: 300 }));
      expect(error).toMatchObject({ kind: 'http', httpStatus: 409, requestId: 'req-3', mayHaveLeft: true });
      expect(service.requests).toHaveLength(1);
    }
  });
});

test('a signal that outlives the call keeps no listener of it', async () => {
  const service = kept(await fakeService(json(201, CHARGE_BODY)));
  const client = kept(clientOf(service.url));
  const controller = new AbortController();
  let listeners = 0;
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => ((listeners += 1), add(...args));
  signal.removeEventListener = (...args: Parameters<typeof remove>) => ((listeners -= 1), remove(...args));
  await charge(client, { signal });
  expect(listeners).toBe(0);
});
