import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Refusal } from './answers.js';

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Refuses what a page of another site can make a browser send. A page whose name resolves to this machine is refused by
 * its `Host`. A page that only sends, without reading the answer, is refused by its `Origin`, and by the content type,
 * which a form can't choose.
 */
export function guardAgainstOtherSites(server: FastifyInstance, port: () => number): void {
  server.addHook('onRequest', async (request, reply) => {
    const fault = faultOf(request, port());
    if (fault !== undefined) return await refuse(reply, fault);
    return undefined;
  });
}

function faultOf({ method, url, headers }: FastifyRequest, port: number): string | undefined {
  const { host = '', origin } = headers;
  if (!ownHosts(port).includes(host.toLowerCase())) {
    return `Host ${shown(host)} is not this console: open it as http://127.0.0.1:${port}`;
  }
  const changes = method !== 'GET' && method !== 'HEAD';
  if (origin === undefined ? changes : origin !== `http://${host}`) {
    return `Origin ${shown(origin)} is not this console: only its own page may call it`;
  }
  const site = headers['sec-fetch-site'];
  if (url.startsWith('/api') && site !== undefined && site !== 'same-origin' && site !== 'none') {
    return 'Only the page of this console may call it, and this request was made by another one';
  }
  if (method === 'POST' && !/^application\/json(;|$)/i.test(headers['content-type'] ?? '')) {
    return 'Send Content-Type: application/json';
  }
  return undefined;
}

/** A browser leaves out the default port. */
function ownHosts(port: number): string[] {
  return LOOPBACK_NAMES.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]);
}

function shown(value: string | undefined): string {
  return value === undefined ? '(none)' : JSON.stringify(value.slice(0, 200));
}

function refuse(reply: FastifyReply, what: string): FastifyReply {
  const refusal: Refusal = { error: { what, faults: [], toDo: 'Use the page of this console.' } };
  return reply.code(403).send(refusal);
}

/**
 * The page loads nothing from elsewhere, and its scripts can write no markup. It may call this server, and the sandbox,
 * which makes cards into tokens.
 */
export function protectPage(server: FastifyInstance, sandboxUrl: string): void {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self' ${new URL(sandboxUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  server.addHook('onRequest', async (_request, reply) => {
    void reply.headers({
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
  });
}
