import Fastify, { type FastifyInstance } from 'fastify';
import type { WebhookHandler } from './handler.js';
import type { WebhookMetrics } from './metrics.js';
import { webhookPlugin } from './mount.js';
import { MAX_BODY_BYTES } from './read-request.js';

export interface WebhookServerOptions {
  /** Time limits in ms. The connection of a slower sender is closed. */
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
  idleTimeoutMs?: number;
  /** How often the limits are checked, in ms. */
  checkIntervalMs?: number;
  /** How long a closing server waits for running requests, in ms. */
  drainTimeoutMs?: number;
  /** Addresses and ranges of proxies whose `X-Forwarded-For` is trusted. Default: none. */
  trustedProxies?: readonly string[];
}

export interface WebhookServerDeps {
  handler: WebhookHandler;
  metrics: WebhookMetrics;
  /** Whether events can be accepted now, or a sentence why not; false means that Temporal is unavailable. */
  ready: () => Promise<boolean | string>;
  logger: { error(fields: object, message: string): void };
  options?: WebhookServerOptions;
}

/** `POST /webhooks`, `GET /health` (process is up), `GET /ready` (events can be accepted). Not yet listening. */
export function createWebhookServer(deps: WebhookServerDeps): FastifyInstance {
  const { handler, metrics, ready, logger, options = {} } = deps;
  const app = Fastify({
    // Fastify's logger would write addresses and headers; the handler logs only allowed fields.
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    trustProxy:
      options.trustedProxies === undefined || options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
    requestTimeout: options.requestTimeoutMs ?? 10_000,
    connectionTimeout: options.requestTimeoutMs ?? 10_000,
    // Longer than the usual idle limits of load balancers, so that the load balancer closes first.
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

  // A running delivery ends within its own limit; a slow sender must not delay the shutdown.
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
