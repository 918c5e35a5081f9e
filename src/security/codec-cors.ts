import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Sets the CORS headers for an allowed origin. False when the request's origin is not on the list. Requests without an
 * origin (the CLI, curl) do not come from a browser and are allowed.
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
 * Answers a preflight. Temporal UI sends `X-Namespace` and, over https, `Authorization` and `Authorization-Extras`.
 * `@fastify/cors` is not used: it answers preflights for every path and origin, from which a scan would find paths, and
 * it does not support private networks.
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
