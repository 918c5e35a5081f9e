import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { FastifyInstance } from 'fastify';
import { request } from 'undici';
import { createCodecServer } from '../../src/security/codec-server.js';
import { type KeyRing, parseKeyRing } from '../../src/security/key-ring.js';
import { createLogger } from '../../src/security/logging.js';
import { EncryptionCodec } from '../../src/security/payload-codec.js';

const TOKEN = 'token-for-the-command-line';
const CAPABILITY = 'capability_for_temporal_ui_0123456789';
const UI = 'http://127.0.0.1:8233';
const BEARER = { authorization: `Bearer ${TOKEN}` };

const codec = new EncryptionCodec(parseKeyRing(`k1:${Buffer.alloc(32, 1).toString('base64')}`));
const lines: string[] = [];
const logger = createLogger({ name: 'codec', level: 'error', stream: { write: (line) => lines.push(line) } });
let server: FastifyInstance;
let url = '';

beforeAll(async () => {
  const options = { codec, token: TOKEN, uiCapability: CAPABILITY, uiOrigins: [UI], logger, bodyLimit: 20_000 };
  server = createCodecServer(options);
  url = await server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => server.close());

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: { payloads?: WirePayload[]; message?: string };
}
interface WirePayload {
  metadata: Record<string, string>;
  data?: string;
}

async function call(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Answer> {
  const answer = await request(`${url}${path}`, {
    method: method as 'POST',
    headers: { 'content-type': 'application/json', 'x-namespace': 'payments', ...headers },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await answer.body.text();
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: text === '' ? {} : (JSON.parse(text) as Answer['body']),
  };
}

const wire = ({ metadata, data }: Payload): WirePayload => ({
  metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([k, v]) => [k, Buffer.from(v).toString('base64')])),
  data: Buffer.from(data ?? []).toString('base64'),
});
const sealed = async (value: unknown) => (await codec.encode([defaultPayloadConverter.toPayload(value)])).map(wire);
const valueOf = ({ body }: Answer) =>
  JSON.parse(Buffer.from(body.payloads?.[0]?.data ?? '', 'base64').toString()) as unknown;

const INPUT = {
  reference: 'order-1001',
  amount: 1095,
  paymentMethod: { token: '3c9b1b1e-7f0a-4a54-9d4e-0d3c3b7f1111', encryptedCvv: 'ZW5jcnlwdGVkLWN2dg==' },
  customer: { email: 'ada@example.com', holder_name: 'Ada Lovelace' },
};

describe('the command line', () => {
  test('decodes with the bearer token, unmasked', async () => {
    const answer = await call('/decode', { payloads: await sealed(INPUT) }, BEARER);
    expect(answer.status).toBe(200);
    expect(valueOf(answer)).toEqual(INPUT);
  });

  test('encodes with the bearer token what can be decoded again', async () => {
    const encoded = await call('/encode', { payloads: [wire(defaultPayloadConverter.toPayload(INPUT))] }, BEARER);
    expect(Buffer.from(encoded.body.payloads?.[0]?.metadata['encoding'] ?? '', 'base64').toString()).toBe(
      'binary/encrypted',
    );
    expect(valueOf(await call('/decode', encoded.body, BEARER))).toEqual(INPUT);
  });

  test('shows a payload under an unknown key as a marker', async () => {
    const [payload] = await sealed(INPUT);
    const metadata = { ...payload?.metadata, 'encryption-key-id': Buffer.from('k9').toString('base64') };
    const answer = await call('/decode', { payloads: [{ ...payload, metadata }] }, BEARER);
    expect(valueOf(answer)).toEqual({ holdfastUndecodable: 'unknown key id', keyId: 'k9' });
  });
});

describe('Temporal UI', () => {
  test('decodes under its capability, with personal data masked', async () => {
    const answer = await call(
      `/ui/${CAPABILITY}/decode?preserveStorageRefs=true`,
      { payloads: await sealed(INPUT) },
      { origin: UI },
    );
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe(UI);
    expect(valueOf(answer)).toEqual({
      ...INPUT,
      paymentMethod: { token: '****1111', encryptedCvv: '****' },
      customer: { email: '****', holder_name: '****' },
    });
  });

  test('encodes nothing: who may read must not be able to write what a flow takes for ours', async () => {
    const payloads = [wire(defaultPayloadConverter.toPayload({ trusted: true }))];
    const answer = await call(`/ui/${CAPABILITY}/encode`, { payloads }, { origin: UI });
    expect(answer).toMatchObject({ status: 401, body: { message: 'unauthorized' } });
    const preflight = { 'access-control-request-method': 'POST', origin: UI };
    expect((await call(`/ui/${CAPABILITY}/encode`, undefined, preflight, 'OPTIONS')).status).toBe(401);
  });

  test('gets its preflight answered for its exact origin only', async () => {
    const preflight = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,x-namespace',
    };
    for (const path of [`/ui/${CAPABILITY}/decode`, '/decode', '/encode']) {
      const answer = await call(path, undefined, { ...preflight, origin: UI }, 'OPTIONS');
      expect(answer.status).toBe(204);
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': UI,
        'access-control-allow-methods': 'POST, OPTIONS',
        'access-control-allow-headers': 'content-type, x-namespace, authorization, authorization-extras',
        vary: 'Origin',
      });
      for (const origin of ['http://evil.example', `${UI}.evil.example`, 'null', 'http://localhost:8233']) {
        const refused = await call(path, undefined, { ...preflight, origin }, 'OPTIONS');
        expect(refused.status).toBe(401);
        expect(refused.headers['access-control-allow-origin']).toBeUndefined();
      }
    }
  });
});

describe('anybody else', () => {
  test.each([
    ['/decode', {}],
    ['/decode', { authorization: 'Bearer wrong' }],
    ['/decode', { authorization: TOKEN }],
    ['/decode', { authorization: 'Bearer ' }],
    ['/decode', { ...BEARER, origin: 'http://evil.example' }],
    ['/encode', { authorization: `Basic ${TOKEN}` }],
    ['/ui/wrong/decode', { origin: UI }],
    ['/ui//decode', { origin: UI }],
    [`/ui/${TOKEN}/decode`, {}],
    [`/ui/${CAPABILITY}x/decode`, BEARER],
    [`/ui/${CAPABILITY}/download`, {}],
    [`/ui/${CAPABILITY}`, {}],
    ['/', BEARER],
    ['/%zz', {}],
    ['/metrics', BEARER],
  ])('is refused at %s with %j', async (path, headers) => {
    const answer = await call(path, { payloads: await sealed(INPUT) }, headers);
    expect(answer.status).toBe(401);
    expect(answer.body.payloads).toBeUndefined();
  });

  test('is refused before anything is read of a body that is too large or no JSON', async () => {
    expect((await call('/decode', 'x'.repeat(30_000))).status).toBe(401);
    expect((await call('/nothing', 'x'.repeat(30_000))).status).toBe(401);
    expect((await call('/decode', undefined, BEARER, 'GET')).status).toBe(401);
  });

  test('may ask whether the server is healthy, and whether its keys can be used', async () => {
    expect((await call('/health', undefined, {}, 'GET')).status).toBe(200);
    expect((await call('/ready', undefined, {}, 'GET')).status).toBe(200);
    const ring = { currentId: 'k9', ids: ['k9'], find: () => undefined } as unknown as KeyRing;
    const options = { codec: new EncryptionCodec(ring), token: TOKEN, uiCapability: CAPABILITY, uiOrigins: [], logger };
    const answer = await createCodecServer(options).inject('/ready');
    expect([answer.statusCode, answer.json()]).toEqual([
      503,
      { status: expect.stringMatching(/^key "k9"[^]*HOLDFAST_ENCRYPTION_KEYS/) },
    ]);
  });
});

describe('bad requests', () => {
  test.each([
    ['{bad', 400],
    ['[]', 400],
    [{ payloads: [{ metadata: { encoding: 'not base64!' } }] }, 400],
    [{ payloads: 'x' }, 400],
    ['x'.repeat(30_000), 413],
  ])('%j is answered %d and nothing of it is repeated', async (body, status) => {
    const answer = await call('/decode', body, BEARER);
    expect(answer.status).toBe(status);
    expect(answer.body.message).not.toMatch(/bad\b.*JSON at|not base64!|xxx/);
  });

  test('none and empty payloads are fine', async () => {
    expect((await call('/decode', { payloads: [] }, BEARER)).body).toEqual({ payloads: [] });
    expect((await call('/decode', {}, BEARER)).body).toEqual({ payloads: [] });
    const empty = { payloads: [{ metadata: { encoding: Buffer.from('binary/null').toString('base64') } }] };
    expect((await call('/decode', empty, BEARER)).body).toEqual(empty);
  });
});

describe('the audit trail', () => {
  test('says who read how much and where, even at a quieter level, and holds no secret and no content', async () => {
    lines.length = 0;
    const payloads = await sealed(INPUT);
    await call('/decode', { payloads: [...payloads, ...payloads] }, BEARER);
    await call(`/ui/${CAPABILITY}/decode`, { payloads }, { origin: UI });
    await call('/decode', { payloads }, { authorization: 'Bearer guessed-token' });
    await call(`/ui/guessed-capability/decode`, { payloads });
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries[0]).toMatchObject({
      action: 'decode',
      who: 'bearer',
      namespace: 'payments',
      count: 2,
      undecodable: 0,
    });
    expect(entries[1]).toMatchObject({ action: 'decode', who: 'ui', namespace: 'payments', count: 1 });
    expect(entries[2]).toMatchObject({ who: 'bearer', reason: 'wrong bearer secret' });
    expect(entries[3]).toMatchObject({ who: 'ui', reason: 'wrong ui secret' });
    expect(entries).toHaveLength(4);
    expect(lines.join()).not.toMatch(new RegExp([TOKEN, CAPABILITY, 'guessed-', 'order-1001', 'ada@'].join('|')));
  });
});
