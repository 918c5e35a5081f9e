import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Client, Connection } from '@temporalio/client';
import Fastify from 'fastify';
import { Registry } from 'prom-client';
import { createWebhookMetrics, webhookListener, webhookPlugin, type WebhookHandler } from '../../src/webhook/index.js';
import { TEST_ENCRYPTION_KEYS, testDataConverter } from '../support/data-converter.js';
import { eventBody, hashOf, postEvent } from '../support/signed-events.js';
import { freePort } from '../../tools/stack/ports.js';
import { startReadyProcess } from '../../tools/stack/ready-process.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const echo: WebhookHandler = ({ rawBody, sender }) =>
  Promise.resolve({ status: 200, headers: { 'x-sender': sender ?? '' }, body: { result: rawBody.toString() } });

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.splice(0)) await clean();
});

async function serve(listener: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const post = (url: string, body: string) => fetch(url, { method: 'POST', body });

describe('in Express', () => {
  test('the example takes signed events, refuses forged ones, leaves the other routes their bodies, and stops', async () => {
    const namespace = await claimNamespace();
    const metricsPort = await freePort();
    const example = await startReadyProcess('docs/examples/express-webhooks.mjs', {
      env: {
        APP_ID: 'holdfast-sandbox',
        PRIVATE_KEY: 'sandbox-private-key',
        API_BASE_URL: 'http://127.0.0.1:9',
        HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
        TEMPORAL_ADDRESS: await temporalAddress(),
        TEMPORAL_NAMESPACE: namespace,
        METRICS_PORT: String(metricsPort),
      },
    });
    const connection = await Connection.connect({ address: await temporalAddress() });
    cleanUp.push(
      () => example.kill(),
      () => connection.close(),
    );
    const url = `${example.url}/webhooks`;

    const body = eventBody({ status: 'Succeed' });
    expect((await postEvent(url, 'payment.charge.update', body, 'a-key-of-the-forger')).status).toBe(401);
    expect(await postEvent(url, 'payment.charge.update', body)).toEqual({ status: 200, result: 'parked' });
    const client = new Client({ connection, namespace, dataConverter: testDataConverter() });
    const kept = client.workflow.getHandle(`parked-event-${hashOf('payment.charge.update', body)}`);
    expect((await kept.describe()).type).toBe('parkedEvent');

    const order = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"item":"tea"}' };
    expect(await (await fetch(`${example.url}/orders`, order)).json()).toEqual({ ordered: 'tea' });

    expect(await (await fetch(`${example.url}/ready`)).json()).toEqual({ status: 'ready' });
    expect(await (await fetch(`http://127.0.0.1:${metricsPort}`)).text()).toMatch(
      /^holdfast_webhook_events_total\{[^}]*result="parked"[^}]*environment="test"\} 1$/m,
    );
    expect(example.logs()).toContain('Webhook refused {"reason":"badSignature"');
    expect(await example.stop(20_000)).toBe(0);
  });
});

describe('in a Fastify server', () => {
  test('the plugin keeps its raw bodies and its errors to itself', async () => {
    const app = Fastify();
    cleanUp.push(() => app.close());
    const metrics = createWebhookMetrics(new Registry());
    const failing: WebhookHandler = () => Promise.reject(new Error('a secret of ours'));
    await app.register(webhookPlugin, { handler: echo, metrics, logger: quiet });
    await app.register(webhookPlugin, { handler: failing, metrics, logger: quiet, path: '/failing' });
    app.post('/orders', (request) => ({ parsed: request.body }));
    const inject = (url: string, payload: string) =>
      app.inject({ method: 'POST', url, payload, headers: { 'content-type': 'application/json' } });

    expect((await inject('/webhooks', '{"a": 1}')).json()).toEqual({ result: '{"a": 1}' });
    expect((await inject('/orders', '{"a": 1}')).json()).toEqual({ parsed: { a: 1 } });
    expect((await inject('/webhooks', 'x'.repeat(1024 * 1024 + 1))).statusCode).toBe(413);
    const failed = await inject('/failing', '{}');
    expect([failed.statusCode, failed.body]).toEqual([500, '{"error":"send it again"}']);
  });
});

describe('in a node:http server', () => {
  test('gets the bytes as they came, and the address of the socket', async () => {
    const { url } = await serve(webhookListener(echo));
    const answer = await post(url, '{"ä":  1}');
    expect([answer.status, answer.headers.get('x-sender')]).toEqual([200, '127.0.0.1']);
    // In bytes: counted in characters, the length would cut the answer off.
    expect(answer.headers.get('content-length')).toBe(
      String(Buffer.byteLength(JSON.stringify({ result: '{"ä":  1}' }))),
    );
    expect(await answer.json()).toEqual({ result: '{"ä":  1}' });
  });

  test('takes what express.raw left, and says so when a parser has eaten the body', async () => {
    const errors: unknown[] = [];
    const listener = webhookListener(echo, { onError: (error) => errors.push(error) });
    const { url } = await serve((request, response) => {
      request.on('data', (body: Buffer) => request.url === '/raw' && Object.assign(request, { body }));
      request.on('end', () => listener(request, response));
    });
    expect(await (await post(`${url}/raw`, '{"a":1}')).json()).toEqual({ result: '{"a":1}' });
    expect((await post(url, '{"a":1}')).status).toBe(500);
    expect(String(errors[0])).toContain('mount the listener before body parsers');
  });

  test('cuts off a body that is too large or never ends', async () => {
    const { url, server } = await serve(webhookListener(echo, { bodyTimeoutMs: 50 }));
    expect((await post(url, 'x'.repeat(1024 * 1024 + 1)).catch(() => ({ status: 413 }))).status).toBe(413);
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    cleanUp.push(() => socket.destroy());
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf');
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe('an allow-list of senders', () => {
  test.each([
    ['203.0.113.7', true],
    ['::ffff:203.0.113.7', true],
    ['203.0.113.8', false],
    ['2001:db8::1', true],
    ['2001:db9::1', false],
    ['not an address', false],
    [undefined, false],
  ])('lets %s in: %s', async (sender, allowed) => {
    const { senderCheck } = await import('../../src/security/senders.js');
    expect(senderCheck(['203.0.113.7', '2001:db8::/32'])(sender)).toBe(allowed);
  });
});
