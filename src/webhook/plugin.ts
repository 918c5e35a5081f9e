import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import type { WebhookHandler } from './handler.js';
import type { WebhookMetrics } from './metrics.js';
import { MAX_BODY_BYTES } from './read-request.js';

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
  app.post(path, { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const response = await handler({ headers: request.headers, rawBody, sender: request.ip });
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
