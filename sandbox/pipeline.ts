import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  ApiError,
  bodyForStatus,
  invalidRequest,
  notFound,
  notOffered,
  ownFault,
  resourceConflict,
} from './api-error.js';
import type { Sandbox } from './context.js';
import { reconciliationIdsOf, referenceOf } from './events.js';
import type { FaultTarget } from './faults.js';
import { authenticate, authenticatePublic, checkHeaders, environmentOf, header } from './headers.js';
import { scopeOf, InFlight } from './idempotency.js';
import { isEmptyBody, parseJson, type Answer, type Route } from './route.js';
import type { Fault } from './fault-record.js';
import { requireVersion, versionRules } from './versions.js';
import { DECIMAL_KEYS, jsonText } from './wire-fields.js';

/** Answer of a planted `garbage` fault: truncated, as by a broken proxy. */
const GARBAGE = '{"id":"';

/** Registers the operations of the service; all other paths get the service's own 404. */
export function registerOperations(app: FastifyInstance, sandbox: Sandbox, routes: readonly Route[]): void {
  const inFlight = new InFlight();
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path,
      handler: (request, reply) => {
        if (route.fromBrowsers === true) void reply.header('access-control-allow-origin', '*');
        return serve(sandbox, inFlight, route, request, reply);
      },
    });
    if (route.fromBrowsers === true) app.options(route.path, async (_request, reply) => answerPreflight(route, reply));
  }
  app.setNotFoundHandler((request, reply) => serve(sandbox, inFlight, undefined, request, reply));
}

/** Faults do not meet a preflight, since no request of the service does. */
function answerPreflight(route: Route, reply: FastifyReply): FastifyReply {
  return reply
    .code(204)
    .header('access-control-allow-origin', '*')
    .header('access-control-allow-methods', route.method)
    .header('access-control-allow-headers', 'api-version, content-type, idempotency-key, public-key, x-svc-env')
    .header('access-control-max-age', '600')
    .send();
}

async function serve(
  sandbox: Sandbox,
  inFlight: InFlight,
  route: Route | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const scope = route === undefined ? undefined : scopeOfRequest(sandbox, request);
  if (scope !== undefined && inFlight.has(scope.key) && scope.refuses) {
    const conflict = resourceConflict('A request with this idempotency key is being processed.');
    return send(reply, { status: conflict.status, body: conflict.body });
  }
  const leave = scope === undefined ? undefined : await inFlight.enter(scope.key);
  try {
    const { delayMs, fault } = sandbox.faults.forRequest(faultTarget(sandbox, request));
    if (delayMs > 0) await sleep(delayMs, undefined, { signal: sandbox.closing });
    return answerUnderFault(sandbox, route, request, reply, fault);
  } finally {
    leave?.();
  }
}

function answerUnderFault(
  sandbox: Sandbox,
  route: Route | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
  fault: Fault | undefined,
): unknown {
  const act = (): Answer => answer(sandbox, route, request);
  switch (fault?.action) {
    case 'refuse':
      return hangUp(reply);
    case 'drop_reply':
      act();
      return hangUp(reply);
    case 'status': {
      const planted = Number(fault.status);
      if (fault.after === true) act();
      if (fault.retry_after_s !== undefined) void reply.header('retry-after', String(fault.retry_after_s));
      const status = planted === 503 && route?.asksProvider === true ? unreachableStatus(request) : planted;
      return send(reply, { status, body: bodyForStatus(planted, fault.category) });
    }
    case 'garbage': {
      const status = fault.after === true ? act().status : request.method === 'POST' ? 201 : 200;
      // A 204 has no body, and so nothing that could be garbage.
      return send(reply, { status: status === 204 ? 200 : status, text: GARBAGE });
    }
    default:
      return send(reply, act());
  }
}

function answer(sandbox: Sandbox, route: Route | undefined, request: FastifyRequest): Answer {
  try {
    if (route === undefined) throw notFound('Path not found');
    const hasBody = route.request !== undefined && !(route.bodyOptional === true && isEmptyBody(request.body));
    const rules = checkHeaders(request.headers, hasBody);
    const unit = (route.credentials === 'public' ? authenticatePublic : authenticate)(sandbox, request.headers);
    if (unit.profile.offers === 'interface' && route.unnamed !== undefined) throw notOffered(route.unnamed);
    if (unit.profile.reading === 'observed' || route.sinceObserved !== true) requireVersion(rules, route.since);
    const call = {
      sandbox,
      unit,
      rules,
      env: environmentOf(request.headers),
      params: request.params as Record<string, string>,
      query: request.query as Record<string, unknown>,
      body: hasBody ? jsonBody(request, rules.decimalAmounts ? DECIMAL_KEYS : []) : {},
      path: pathOf(request),
      requestId: request.id,
      idempotencyKey: route.method === 'POST' ? header(request.headers, 'idempotency-key') : undefined,
      clientIpAddress:
        header(request.headers, 'x-client-ip-address') ??
        (rules.substitutesIpAddress ? callerAddress(request) : undefined),
    };
    return sandbox.store.transaction(() => route.handle(call));
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, body: error.body };
    sandbox.log.error({ err: error, requestId: request.id }, 'request failed');
    return { status: 500, body: ownFault().body };
  }
}

function send(reply: FastifyReply, result: Answer): FastifyReply {
  void reply.code(result.status).headers(result.headers ?? {});
  if (result.status === 204) return reply.send();
  void reply.header('content-type', 'application/json; charset=utf-8');
  return reply.send('text' in result ? result.text : jsonText(result.body));
}

/** Breaks the caller's connection, so that the caller can't know whether the request was executed. */
function hangUp(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.destroy();
  return reply;
}

function unreachableStatus(request: FastifyRequest): number {
  return versionRules(header(request.headers, 'api-version'))?.unreachableStatus ?? 503;
}

/** The IP address of the merchant's own server. */
function callerAddress(request: FastifyRequest): string {
  return (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}

function jsonBody(request: FastifyRequest, exactKeys: readonly string[]): unknown {
  const parsed = parseJson(request.body, exactKeys);
  if (parsed === undefined) throw invalidRequest('Request body must be valid json');
  return parsed;
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? request.url;
}

/** The scope of a request in progress: unit, path and key. It is not authenticated yet. */
function scopeOfRequest(sandbox: Sandbox, request: FastifyRequest): { key: string; refuses: boolean } | undefined {
  const key = request.method === 'POST' ? header(request.headers, 'idempotency-key') : undefined;
  const unit = sandbox.store.units.get(header(request.headers, 'app-id') ?? '');
  if (key === undefined || unit === undefined) return undefined;
  const scope = scopeOf({ unit, env: environmentOf(request.headers), path: pathOf(request), key });
  return { key: scope, refuses: unit.profile.same_key_in_flight === 'conflict' };
}

function faultTarget(sandbox: Sandbox, request: FastifyRequest): FaultTarget {
  return {
    method: request.method,
    path: pathOf(request),
    reconciliationIds: () => {
      const body = parseJson(request.body) as { reconciliation_id?: unknown; additional_details?: unknown } | undefined;
      const id = body?.reconciliation_id;
      const paymentId = /^\/payments\/([^/]+)/.exec(pathOf(request))?.[1];
      const payment = paymentId === undefined ? undefined : sandbox.store.payments.get(paymentId.toLowerCase());
      return [
        ...(typeof id === 'string' ? [id] : []),
        ...referenceOf(body?.additional_details),
        ...(payment === undefined ? [] : reconciliationIdsOf(sandbox, payment)),
      ];
    },
  };
}
