import Fastify, { type FastifyInstance } from 'fastify';
import { request } from 'undici';
import type { Readiness } from './readiness.js';

/**
 * `GET /health` (the process works), `GET /ready` (it can do its work now, or why not) and `GET /metrics` of a worker
 * process. Not yet listening.
 * @param exporter address of the SDK's own exporter, which can serve nothing else on its port
 */
export function createHealthServer(readiness: Readiness, exporter: string): FastifyInstance {
  const app = Fastify({ logger: false, forceCloseConnections: true });
  app.get('/health', async (_request, reply) =>
    readiness.hasFailed() ? reply.code(503).send({ status: 'a worker has failed' }) : { status: 'ok' },
  );
  app.get('/ready', async (_request, reply) => {
    const answer = readiness.answer();
    return reply.code(answer.status === 'ready' ? 200 : 503).send(answer);
  });
  app.get('/metrics', async (_request, reply) => {
    const { headers, body } = await request(exporter);
    return reply.header('content-type', headers['content-type'] ?? 'text/plain').send(body);
  });
  return app;
}
