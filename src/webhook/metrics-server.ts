import Fastify, { type FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';

/**
 * `GET /metrics` on a separate port, because the webhook port is open to the payment service, which must not see the
 * metrics. Not yet listening.
 */
export function createMetricsServer(registry: Registry): FastifyInstance {
  const app = Fastify({ logger: false, forceCloseConnections: true });
  app.get('/metrics', async (_request, reply) => {
    const text = await registry.metrics();
    return reply.header('content-type', registry.contentType).send(text);
  });
  return app;
}
