import { describe, expect, test } from 'vitest';
import { once } from 'node:events';
import { Agent, RetryAgent } from 'undici';
import { createDispatcher } from '../../src/provider/index.js';
import { charge, closeWhatIsKept, kept, untilTrue } from './support/calls.js';
import {
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

closeWhatIsKept();

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
    await untilTrue(() => service.requests.length === 1);
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
