import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Sets the CORS headers for an allowed origin. False when the request names an origin that is not on
 * the list; requests without one (the CLI, curl) are none of a browser's business.
 */
export function allowOrigin(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): boolean {
  const { origin } = request.headers;
  void reply.header('vary', 'Origin');
  if (origin === undefined) return true;
  if (!origins.includes(origin)) return false;
  void reply.header('access-control-allow-origin', origin).header('access-control-allow-credentials', 'true');
  return true;
}

/**
 * Temporal UI sends `X-Namespace` and, over https, `Authorization` and `Authorization-Extras`. By hand because
 * `@fastify/cors` answers preflights for every path and origin, where a scan must learn nothing, and knows no private
 * networks.
 */
export function answerPreflight(
  request: FastifyRequest,
  reply: FastifyReply,
  origins: readonly string[],
): FastifyReply {
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
