import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyPluginCallback, onRequestHookHandler } from 'fastify';
import type { WebhookHandler, WebhookResponse } from './handler.js';
import type { WebhookMetrics } from './metrics.js';
import { MAX_BODY_BYTES } from './read-request.js';

/**
 * An answer waits for the end of the event loop's turn. Written one by one, answers wake a sender on the same machine (a
 * proxy, a sidecar) for each of them, which under load costs as much as all that is done for an event.
 */
async function afterThisTurn(answer: Promise<WebhookResponse>): Promise<WebhookResponse> {
  const response = await answer;
  await endOfTurn();
  return response;
}

export interface WebhookPluginOptions {
  handler: WebhookHandler;
  metrics: WebhookMetrics;
  logger: { error(fields: object, message: string): void };
  /** Default `/webhooks`. */
  path?: string;
}

/**
 * `POST /webhooks` for a Fastify server of your own: `app.register(webhookPlugin, { handler, metrics, logger })`. Its
 * body parser and error handler apply to this route only. Behind proxies set Fastify's `trustProxy`: otherwise the
 * sender is the proxy.
 */
export const webhookPlugin: FastifyPluginCallback<WebhookPluginOptions> = (app, options, done) => {
  const { handler, metrics, logger, path = '/webhooks' } = options;
  keepBodies(app);
  app.setErrorHandler((error, request, reply) => {
    const status = statusOf(error);
    if (status === 413) {
      metrics.received(request.headers);
      metrics.rejected('tooLarge');
      return reply.code(413).send({ error: `the body is over ${MAX_BODY_BYTES} bytes` });
    }
    metrics.rejected('error');
    if (status >= 400 && status < 500) return reply.code(status).send({ error: 'the request cannot be read' });
    logger.error({ err: error }, 'A webhook request failed');
    return reply.code(500).send({ error: 'send it again' });
  });
  const onRequest: onRequestHookHandler = ({ headers, ip }, reply, next) => {
    const refused = handler.refusal?.({ headers, sender: ip });
    if (refused === undefined) next();
    else void reply.code(refused.status).headers(refused.headers).send(refused.body);
  };
  app.post(path, { bodyLimit: MAX_BODY_BYTES, onRequest }, async (request, reply) => {
    const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const response = await afterThisTurn(handler({ headers: request.headers, rawBody, sender: request.ip }));
    return reply.code(response.status).headers(response.headers).send(response.body);
  });
  done();
};

/** Keeps every body as unparsed bytes, whatever its content type, because signatures cover those. */
function keepBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

function statusOf(error: unknown): number {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : 500;
}

export interface NodeListenerOptions {
  /** Returns the sender's address behind proxies. Default: the address of the socket. */
  senderOf?: (request: IncomingMessage) => string | undefined;
  /** Time limit for the whole body in ms. Default 10,000. */
  bodyTimeoutMs?: number;
  /** Is told what kept a request from being handled, such as a body that a parser has read, or a sender who hung up. */
  onError?: (error: unknown) => void;
}

/**
 * The handler as a `node:http` listener, for Express, Koa (`ctx.req`) and others. It reads the body itself: mount it
 * before any body parser, or after one that leaves a `Buffer` in `request.body` (`express.raw`).
 */
export function webhookListener(
  handler: WebhookHandler,
  options: NodeListenerOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  const { senderOf = (request) => request.socket.remoteAddress, bodyTimeoutMs = 10_000, onError } = options;
  const serve = async (request: IncomingMessage): Promise<WebhookResponse> => {
    const sender = senderOf(request);
    const from = { headers: request.headers, ...(sender !== undefined && { sender }) };
    const refused = handler.refusal?.(from);
    if (refused !== undefined) return refused;
    const rawBody = await bodyOf(request, bodyTimeoutMs);
    if (rawBody === undefined) return refusal(413, `the body is over ${MAX_BODY_BYTES} bytes`);
    if (rawBody === 'slow') return refusal(408, 'the body did not arrive in time');
    return await afterThisTurn(handler({ ...from, rawBody }));
  };
  return (request, response) => {
    serve(request).then(
      (answer) => send(response, answer),
      (error: unknown) => {
        onError?.(error);
        send(response, refusal(500, 'send it again'));
      },
    );
  };
}

function refusal(status: number, error: string): WebhookResponse {
  return { status, headers: { connection: 'close' }, body: { error } };
}

function send(response: ServerResponse, { status, headers, body }: WebhookResponse): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  const length = String(Buffer.byteLength(text));
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': length,
    ...headers,
  });
  response.end(text);
}

/** undefined when the body is too large. @throws Error when it was already read and not kept as a `Buffer` */
async function bodyOf(request: IncomingMessage, limitMs: number): Promise<Buffer | undefined | 'slow'> {
  const parsed: unknown = (request as { body?: unknown }).body;
  if (Buffer.isBuffer(parsed)) return parsed;
  if (request.readableEnded) {
    throw new Error('the body was parsed before the webhook listener saw it: mount the listener before body parsers');
  }
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return undefined;
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => end(() => resolve('slow')), limitMs);
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      request.off('data', onData);
      settle();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) end(() => resolve(undefined));
      else chunks.push(chunk);
    };
    request.on('data', onData);
    request.once('end', () => end(() => resolve(Buffer.concat(chunks))));
    request.once('error', (error) => end(() => reject(error)));
    request.once('close', () => {
      // Also emitted after the end, and an error costs more than all else here.
      if (!request.readableEnded) end(() => reject(new Error('the sender hung up')));
    });
  });
}
