import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { parseJson } from '../route.js';

/** A refusal by the control API, with one sentence for each fault of the request. */
export class ControlError extends Error {
  constructor(
    readonly status: number,
    readonly errors: readonly string[],
  ) {
    super(errors.join('; '));
  }
}

/** Returns the body of a control request; a missing one is an empty object. Throws with all faults. */
export function controlBody<T>(request: FastifyRequest, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(jsonOf(request));
  if (parsed.success) return parsed.data;
  throw new ControlError(400, parsed.error.issues.map(sentence));
}

export function jsonOf(request: FastifyRequest): unknown {
  const empty = request.body === undefined || (Buffer.isBuffer(request.body) && request.body.length === 0);
  if (empty) return {};
  const value = parseJson(request.body);
  if (value === undefined) throw new ControlError(400, ['body: must be valid JSON']);
  return value;
}

/** Only this machine may use the control API: it can set private keys and erase everything. */
export function guardLoopback(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (!isLoopback(request.socket.remoteAddress ?? '')) {
      throw new ControlError(403, ['the control API answers on loopback only']);
    }
  });
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    if (error instanceof ControlError) return reply.code(error.status).send({ errors: error.errors });
    // The server itself refuses bodies that are too large and invalid content types.
    if ((error.statusCode ?? 500) < 500) return reply.code(400).send({ errors: [`request: ${error.message}`] });
    request.log.error({ err: error }, 'control request failed');
    return reply.code(500).send({ errors: ['the sandbox failed; its log says more'] });
  });
}

export function notThere(reply: FastifyReply, what: string, id: string): FastifyReply {
  return reply.code(404).send({ errors: [`there is no ${what} ${id}`] });
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.') || address.startsWith('::ffff:127.');
}

function sentence(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${key}: is no known field`).join('; ');
  return `${issue.path.join('.') || 'body'}: ${issue.message}`;
}
