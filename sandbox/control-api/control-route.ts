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

/**
 * Only this machine may use the control API: it can set private keys and erase everything. Web pages that are open on
 * this machine may not: one whose name resolves to this machine is refused by its `Host`, any other by its `Origin`.
 * @param publicUrl start of the links in answers, whose host is allowed too
 */
export function guardLoopback(app: FastifyInstance, publicUrl: () => string): void {
  app.addHook('onRequest', async (request) => {
    if (!isLoopback(request.socket.remoteAddress ?? '')) {
      throw new ControlError(403, ['the control API answers on loopback only']);
    }
    const { host = '', origin } = request.headers;
    if (!LOOPBACK_HOST.test(host) && host !== hostOf(publicUrl())) {
      throw new ControlError(403, [`Host: the control API is called by a loopback name, not ${JSON.stringify(host)}`]);
    }
    if (origin !== undefined && hostOf(origin) !== host) {
      throw new ControlError(403, [`Origin: pages of ${JSON.stringify(origin)} may not use the control API`]);
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

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

/** undefined for what is no URL, such as the origin `null`. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host : undefined;
}

/** Query parameter `latest`: so many of the newest, at most. undefined: all. Throws for anything else. */
export function latestOf<T>(rows: Iterable<T>, latest: string | undefined): T[] {
  if (latest === undefined) return [...rows];
  if (!/^[1-9]\d{0,5}$/.test(latest)) throw new ControlError(400, ['latest: must be a whole number from 1 to 999999']);
  return [...rows].slice(-Number(latest));
}

function sentence(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${key}: is no known field`).join('; ');
  return `${issue.path.join('.') || 'body'}: ${issue.message}`;
}
