import { createHash, timingSafeEqual } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isUndecodable } from '../contract/payload-marks.js';
import type { Logger } from './logging.js';
import { maskPayload } from './masking.js';
import { unsealed, type EncryptionCodec } from './payload-codec.js';

interface CodecServerOptions {
  codec: EncryptionCodec;
  /** Bearer token in `Authorization`, as sent by the `temporal` CLI (`--codec-auth "Bearer ..."`). */
  token: string;
  /**
   * Unguessable part of the address for Temporal UI, which sends no token over http. Anyone with the address can
   * decrypt, so it is never logged.
   */
  uiCapability: string;
  /** Exact CORS origins of Temporal UI. */
  uiOrigins: readonly string[];
  logger: Logger;
  /** Bytes. Default 16 MiB: enough for a page of history as base64. */
  bodyLimit?: number;
}

type Who = 'bearer' | 'ui';

const base64 = z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/, 'is not base64');
const bodySchema = z.object({
  payloads: z
    .array(z.object({ metadata: z.record(z.string(), base64).nullish(), data: base64.nullish() }))
    .max(100_000)
    .nullish(),
});

/**
 * Decrypts and encrypts payloads for people: `POST /decode` and `POST /encode` with a bearer token, and
 * `/ui/<capability>/decode` with masked answers for Temporal UI. The UI can't encrypt: flows trust encrypted payloads,
 * and a reader must not be able to write. `GET /health` and `GET /ready` (the keys can be used) are open; any other path
 * answers 401, so a scan finds nothing.
 */
export function createCodecServer(options: CodecServerOptions): FastifyInstance {
  const { codec, uiOrigins, logger } = options;
  // fastify's request log would write the address, which contains the capability.
  const server = fastify({
    logger: false,
    bodyLimit: options.bodyLimit ?? 16 * 1024 * 1024,
    forceCloseConnections: true,
    frameworkErrors: (_error, _request, reply) => void refuse(reply),
  });
  // Write the audit trail even if the log level is above info.
  const audit = logger.child({}, { level: 'info' });
  const isToken = secretMatcher(options.token);
  const isCapability = secretMatcher(options.uiCapability);

  /** Runs before the body is read, so that unauthorized requests are never parsed. */
  const guard = (who: Who) => async (request: FastifyRequest, reply: FastifyReply) => {
    const originIsFine = allowOrigin(request, reply, uiOrigins);
    const secret = who === 'ui' ? capabilityOf(request) : bearerOf(request);
    const isRight = who === 'ui' ? isCapability(secret) : isToken(secret);
    if (originIsFine && isRight) return;
    audit.warn({ who, reason: originIsFine ? `wrong ${who} secret` : 'origin not allowed' }, 'Codec access refused');
    return refuse(reply);
  };

  /** A browser sends no secret in a preflight; the UI's path contains it. */
  const preflight = (who: Who) => async (request: FastifyRequest, reply: FastifyReply) =>
    who === 'bearer' || isCapability(capabilityOf(request))
      ? answerPreflight(request, reply, uiOrigins)
      : refuse(reply);

  const handler = (who: Who, action: 'decode' | 'encode') => async (request: FastifyRequest, reply: FastifyReply) => {
    const body = bodySchema.safeParse(request.body);
    if (!body.success) return reply.code(400).send({ message: z.prettifyError(body.error) });
    const namespace = String(request.headers['x-namespace'] ?? '').slice(0, 200);
    const payloads = (body.data.payloads ?? []).map(fromJson);
    // Remove the mark, which only flows need: the CLI would show the wrapped payload instead of its value.
    const answer = action === 'decode' ? (await codec.decode(payloads)).map(unsealed) : await codec.encode(payloads);
    const undecodable = action === 'decode' ? answer.filter(holdsMarker).length : 0;
    audit.info({ action, who, namespace, count: payloads.length, undecodable }, 'Codec used');
    return { payloads: (who === 'ui' ? answer.map(maskPayload) : answer).map(toJson) };
  };

  for (const action of ['decode', 'encode'] as const) {
    server.post(`/${action}`, { onRequest: guard('bearer') }, handler('bearer', action));
    server.options(`/${action}`, { onRequest: preflight('bearer') }, refuseLate);
  }
  server.post('/ui/:capability/decode', { onRequest: guard('ui') }, handler('ui', 'decode'));
  server.options('/ui/:capability/decode', { onRequest: preflight('ui') }, refuseLate);
  server.get('/health', async () => ({ status: 'ok' }));
  server.get('/ready', async (_request, reply) => {
    const fault = codec.keyFault();
    return fault === undefined ? { status: 'ready' } : reply.code(503).send({ status: fault });
  });
  server.addHook('onRequest', async (request, reply) => (request.is404 ? refuse(reply) : undefined));
  server.setErrorHandler((error, _request, reply) => {
    const status = statusOf(error);
    if (status >= 500) logger.error({ err: error }, 'Codec request failed');
    return reply
      .code(status)
      .send({ message: status >= 500 ? 'internal error' : (CLIENT_FAULTS[status] ?? 'bad request') });
  });
  return server;
}

/** Own texts, because the parser's messages may quote the body. */
const CLIENT_FAULTS: Readonly<Record<number, string>> = {
  400: 'the body is not JSON',
  413: 'the body is too large; ask for fewer payloads at once',
  415: 'send Content-Type: application/json',
};

function refuse(reply: FastifyReply): FastifyReply {
  return reply.code(401).send({ message: 'unauthorized' });
}

/** Never reached: the preflight is answered before a body is read. */
function refuseLate(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return refuse(reply);
}

function statusOf(error: unknown): number {
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status >= 400 ? status : 500;
}

function bearerOf(request: FastifyRequest): string {
  return /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
}

function capabilityOf(request: FastifyRequest): string {
  return (request.params as { capability?: string }).capability ?? '';
}

type WirePayload = NonNullable<z.output<typeof bodySchema>['payloads']>[number];

function fromJson({ metadata, data }: WirePayload): Payload {
  const entries = Object.entries(metadata ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
  return { metadata: Object.fromEntries(entries), ...(data == null ? {} : { data: Buffer.from(data, 'base64') }) };
}

function toJson({ metadata, data }: Payload): WirePayload {
  const entries = Object.entries(metadata ?? {}).map(([key, value]) => [key, toBase64(value)] as const);
  return { metadata: Object.fromEntries(entries), ...(data == null ? {} : { data: toBase64(data) }) };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function holdsMarker({ data }: Payload): boolean {
  if (!data || data.length > 200) return false;
  try {
    return isUndecodable(JSON.parse(Buffer.from(data).toString()));
  } catch {
    return false;
  }
}

/**
 * Sets the CORS headers for an allowed origin. False when the request's origin is not on the list. Requests without an
 * origin (the CLI, curl) do not come from a browser and are allowed.
 */
function allowOrigin(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): boolean {
  const { origin } = request.headers;
  void reply.header('vary', 'Origin');
  if (origin === undefined) return true;
  if (!origins.includes(origin)) return false;
  void reply.header('access-control-allow-origin', origin).header('access-control-allow-credentials', 'true');
  return true;
}

/**
 * Answers a preflight. Temporal UI sends `X-Namespace` and, over https, `Authorization` and `Authorization-Extras`.
 * `@fastify/cors` is not used: it answers preflights for every path and origin, from which a scan would find paths, and
 * it does not support private networks.
 */
function answerPreflight(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): FastifyReply {
  if (request.headers.origin === undefined || !allowOrigin(request, reply, origins)) {
    return reply.code(401).send({ message: 'unauthorized' });
  }
  if (request.headers['access-control-request-private-network'] === 'true') {
    void reply.header('access-control-allow-private-network', 'true');
  }
  return reply
    .code(204)
    .header('access-control-allow-methods', 'POST, OPTIONS')
    .header('access-control-allow-headers', 'content-type, x-namespace, authorization, authorization-extras')
    .header('access-control-max-age', '600')
    .send();
}

/** Compares in constant time for any length of the guess. An empty secret matches nothing. */
function secretMatcher(secret: string): (guess: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(secret);
  return (guess) => timingSafeEqual(digest(guess), expected) && secret !== '';
}
