import Fastify, { type FastifyInstance } from 'fastify';
import type { WebhookHandler } from './handler.js';
import type { WebhookMetrics } from './metrics.js';
import { webhookPlugin } from './plugin.js';
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
  /** Addresses and ranges of proxies whose `X-Forwarded-For` is believed. Default none. */
  trustedProxies?: readonly string[];
}

export interface WebhookServerDeps {
  handler: WebhookHandler;
  metrics: WebhookMetrics;
  /** Whether events can be taken now, or a sentence why not; without one Temporal is away. */
  ready: () => Promise<boolean | string>;
  logger: { error(fields: object, message: string): void };
  options?: WebhookServerOptions;
}

/** `POST /webhooks`, `GET /health` (the process serves), `GET /ready` (and events can be taken). Not yet listening. */
export function createWebhookServer(deps: WebhookServerDeps): FastifyInstance {
  const { handler, metrics, ready, logger, options = {} } = deps;
  const app = Fastify({
    // Its own logger would write addresses and headers; the handler logs what may be logged.
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    trustProxy:
      options.trustedProxies === undefined || options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
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

  void app.register(webhookPlugin, { handler, metrics, logger });
  app.get('/health', () => ({ status: 'ok' }));
  app.get('/ready', async (_request, reply) => {
    const answer = await ready().catch(() => false);
    if (answer === true) return { status: 'ready' };
    return reply.code(503).send({ status: answer === false ? 'Temporal cannot be reached' : answer });
  });
  return app;
}
