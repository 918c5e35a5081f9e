import Fastify, { type FastifyInstance } from 'fastify';
import type { WebhookHandler } from './handler.js';
import type { WebhookMetrics } from './metrics.js';
import { MAX_BODY_BYTES } from './read-request.js';

export interface WebhookServerOptions {
  /** Limits in ms. A sender slower than these is cut off. */
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
  idleTimeoutMs?: number;
  /** How often the limits are looked at. */
  checkIntervalMs?: number;
  /** How long a closing server waits for requests under way. */
  drainTimeoutMs?: number;
}

export interface WebhookServerDeps {
  handler: WebhookHandler;
  metrics: WebhookMetrics;
  /** Whether Temporal can be reached now. */
  ready: () => Promise<boolean>;
  logger: { error(fields: object, message: string): void };
  options?: WebhookServerOptions;
}

/** `POST /webhooks`, `GET /health` (the process serves), `GET /ready` (and Temporal can be reached). Not yet listening. */
export function createWebhookServer(deps: WebhookServerDeps): FastifyInstance {
  const { handler, metrics, ready, logger, options = {} } = deps;
  const app = Fastify({
    // Its own logger would write addresses and headers; the handler logs what may be logged.
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: options.requestTimeoutMs ?? 10_000,
    connectionTimeout: options.requestTimeoutMs ?? 10_000,
    // Above the idle limits usual in load balancers, so that the side that closes is never ours.
    keepAliveTimeout: options.idleTimeoutMs ?? 65_000,
    forceCloseConnections: 'idle',
    http: {
      headersTimeout: options.headersTimeoutMs ?? 5000,
      connectionsCheckingInterval: options.checkIntervalMs ?? 1000,
    },
    clientErrorHandler(error, socket) {
      metrics.rejected('cutOff');
      if (error.code === 'ECONNRESET' || !socket.writable) {
        socket.destroy();
        return;
      }
      const line = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request';
      socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    },
  });

  // A delivery under way ends within its own limit; whoever sends slower than that must not hold up the stop.
  let cutOff: NodeJS.Timeout | undefined;
  app.addHook('preClose', (done) => {
    cutOff = setTimeout(() => app.server.closeAllConnections(), options.drainTimeoutMs ?? 6000);
    done();
  });
  app.addHook('onClose', (_instance, done) => {
    clearTimeout(cutOff);
    done();
  });

  // Signatures are checked over what came, so every body stays the bytes it was, whatever its content type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  app.setErrorHandler((error, _request, reply) => {
    const status = statusOf(error);
    if (status === 413) {
      metrics.received();
      metrics.rejected('tooLarge');
      return reply.code(413).send({ error: `the body is over ${MAX_BODY_BYTES} bytes` });
    }
    metrics.rejected('error');
    if (status >= 400 && status < 500) return reply.code(status).send({ error: 'the request cannot be read' });
    logger.error({ err: error }, 'A webhook request failed');
    return reply.code(500).send({ error: 'send it again' });
  });

  app.post('/webhooks', async (request, reply) => {
    const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const response = await handler({ headers: request.headers, rawBody });
    return reply.code(response.status).headers(response.headers).send(response.body);
  });
  app.get('/health', () => ({ status: 'ok' }));
  app.get('/ready', async (_request, reply) => {
    const reachable = await ready().catch(() => false);
    return reply.code(reachable ? 200 : 503).send({ status: reachable ? 'ready' : 'Temporal cannot be reached' });
  });
  return app;
}

function statusOf(error: unknown): number {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : 500;
}
