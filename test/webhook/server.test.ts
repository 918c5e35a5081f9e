import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chargeBody, headersFor, startHandler, type Harness } from './support.js';

let harness: Harness;
let sockets: Socket[];
beforeEach(async () => {
  sockets = [];
  harness = await startHandler({ server: { headersTimeoutMs: 150, requestTimeoutMs: 300, checkIntervalMs: 50 } });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await harness.close();
});

/** Sends these bytes and no more; resolves with the answer once the server has hung up. */
async function sendAndWait(text: string): Promise<string> {
  const socket = connect(harness.port, '127.0.0.1');
  sockets.push(socket);
  let answer = '';
  socket.on('data', (data) => (answer += data.toString()));
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

describe('a slow sender is cut off', () => {
  test('when its body never ends', async () => {
    const body = JSON.stringify(chargeBody());
    const headers = Object.entries(headersFor(chargeBody())).map(([name, value]) => `${name}: ${value}\r\n`);
    const start = `POST /webhooks HTTP/1.1\r\nhost: x\r\n${headers.join('')}content-length: ${body.length}\r\n\r\n`;
    const answer = await sendAndWait(start + body.slice(0, -1));
    expect(answer).toMatch(/^(HTTP\/1\.1 408 |$)/);
    expect(harness.sink.sent).toEqual([]);
  });

  test('when its headers never end, and the next sender is served', async () => {
    const answer = await sendAndWait('POST /webhooks HTTP/1.1\r\nhost: x\r\nsignature: ');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(await harness.metric('holdfast_webhook_rejected_total', { reason: 'cutOff' })).toBe(1);
    expect((await harness.postSigned(chargeBody())).status).toBe(200);
  });

  test('when what it sends is no HTTP', async () => {
    expect(await sendAndWait('\u0016\u0003\u0001\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('the other addresses', () => {
  test('/health answers while Temporal is away, /ready tells that it is', async () => {
    const status = async (path: string) => (await fetch(harness.url + path)).status;
    expect([await status('/health'), await status('/ready')]).toEqual([200, 200]);
    harness.setReady(() => Promise.reject(new Error('14 UNAVAILABLE')));
    expect([await status('/health'), await status('/ready')]).toEqual([200, 503]);
    harness.setReady(() => Promise.resolve('key "k2" is lacking'));
    const answer = await fetch(`${harness.url}/ready`);
    expect([answer.status, await answer.json()]).toEqual([503, { status: 'key "k2" is lacking' }]);
    harness.setReady(() => Promise.resolve(true));
    expect(await status('/ready')).toBe(200);
  });

  test('are 404, and reading the webhook address is no event', async () => {
    const status = async (path: string, method: string) => (await fetch(harness.url + path, { method })).status;
    expect(await status('/', 'POST')).toBe(404);
    expect(await status('/metrics', 'GET')).toBe(404);
    expect(await status('/webhooks', 'GET')).toBe(404);
    expect(await status('/webhooks', 'PUT')).toBe(404);
  });
});

describe('stopping', () => {
  test('finishes the event that is under way', async () => {
    let release = (): void => undefined;
    const entered = new Promise<void>((resolve) => {
      harness.sink.answer = () => {
        resolve();
        return new Promise((done) => (release = () => done('delivered')));
      };
    });
    const answer = harness.postSigned(chargeBody());
    await entered;
    const closed = harness.close();
    release();
    expect((await answer).status).toBe(200);
    await closed;
  });

  test('is not held up by a sender that never ends', async () => {
    const patient = await startHandler({ server: { drainTimeoutMs: 50 } });
    const socket = connect(patient.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write('POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\nexpect: 100-continue\r\n\r\n');
    // The server has the request in hand once it asks for the body.
    await once(socket, 'data');
    await Promise.all([patient.close(), once(socket, 'close')]);
    await expect(fetch(`${patient.url}/health`)).rejects.toThrow();
  });
});

describe('an allow-list of senders', () => {
  const from = async (allowed: Harness, forwarded?: string) => {
    const headers = { ...headersFor(chargeBody()), ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) };
    return (await allowed.post(JSON.stringify(chargeBody()), headers)).status;
  };

  test('refuses a sender before its body is read', async () => {
    const allowed = await startHandler({ allowedSenders: ['52.29.158.20'] });
    const socket = connect(allowed.port, '127.0.0.1');
    socket.write('POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 401 /);
    socket.destroy();
    await allowed.close();
  });

  test('refuses everybody else, though the signature fits', async () => {
    const allowed = await startHandler({ allowedSenders: ['52.29.158.20'] });
    expect([await from(allowed), await from(allowed, '52.29.158.20')]).toEqual([401, 401]);
    expect(await allowed.metric('holdfast_webhook_rejected_total', { reason: 'sender' })).toBe(2);
    expect(allowed.sink.sent).toEqual([]);
    await allowed.close();
  });

  test('believes what a trusted proxy says of the sender, and of its words only the last', async () => {
    const server = { trustedProxies: ['127.0.0.0/8'] };
    const allowed = await startHandler({ allowedSenders: ['52.29.158.20', '3.124.65.0/24'], server });
    expect(await from(allowed, '52.29.158.20')).toBe(200);
    expect(await from(allowed, '3.124.65.163')).toBe(200);
    expect(await from(allowed, '52.29.158.20, 198.51.100.1')).toBe(401);
    expect(await from(allowed, 'unknown')).toBe(401);
    expect(await from(allowed)).toBe(401);
    await allowed.close();
  });

  test('takes an address of a trusted proxy without the port that some write behind it', async () => {
    const server = { trustedProxies: ['127.0.0.0/8'] };
    const allowed = await startHandler({ allowedSenders: ['52.29.158.20', '2001:db8::/32'], server });
    for (const sender of ['52.29.158.20:51234', '[2001:db8::7]:443', '[2001:db8::7]', '2001:db8::7'])
      expect([sender, await from(allowed, sender)]).toEqual([sender, 200]);
    for (const sender of ['52.29.158.21:51234', '52.29.158.20:', '52.29.158.20:51234:1', '[52.29.158.20', '[::1]:443'])
      expect([sender, await from(allowed, sender)]).toEqual([sender, 401]);
    await allowed.close();
  });

  test('logs the address that it takes for the last refused sender, once a second', async () => {
    const server = { trustedProxies: ['127.0.0.0/8'] };
    const allowed = await startHandler({ allowedSenders: ['52.29.158.20'], server });
    const refused = () => allowed.logged.map((line) => JSON.parse(line) as object);
    await from(allowed, `198.51.100.1${'0'.repeat(200)}`);
    expect(refused()).toEqual([
      { reason: 'sender', count: 1, address: `198.51.100.1${'0'.repeat(88)}`, message: 'Webhook refused' },
    ]);
    await from(allowed, '198.51.100.2');
    expect(refused()).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    await from(allowed, '10.0.0.9');
    expect(refused().at(-1)).toEqual({ reason: 'sender', count: 2, address: '10.0.0.9', message: 'Webhook refused' });
    await allowed.close();
  });

  test('is refused at the start when an entry is no address', async () => {
    await expect(startHandler({ allowedSenders: [] })).rejects.toThrow('allowed senders: none');
    await expect(startHandler({ allowedSenders: ['52.29.158.20', 'example.com', '1.2.3.4/33'] })).rejects.toThrow(
      'example.com, 1.2.3.4/33',
    );
  });
});
