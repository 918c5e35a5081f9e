import { describe, expect, test } from 'vitest';
import type { ServerResponse } from 'node:http';
import { createDispatcher } from '../../src/provider/index.js';
import { charge, closeWhatIsKept, kept, untilTrue } from './support/calls.js';
import { CHARGE_BODY, clientOf, failureOf, fakeService, fakeSocketService, json } from './support/fake-service.js';

closeWhatIsKept();

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
    await untilTrue(() => closed);
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
    const client = kept(clientOf(silent.url.replace('http:', 'https:'), { timeoutMs: 50, connectTimeoutMs: 5000 }));
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
    await untilTrue(() => held.length === 1);
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
    await untilTrue(() => held.length === 2);
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
