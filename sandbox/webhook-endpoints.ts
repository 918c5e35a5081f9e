import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Sandbox } from './context.js';
import { matchesGlob } from './faults.js';
import type { Environment } from './records.js';
import { KINDS } from './transaction-kinds.js';
import type { WebhookEndpoint } from './webhook-records.js';

/** Most endpoints per event and business unit, as at the service. */
const ENDPOINT_LIMITS: Readonly<Record<Environment, number>> = { live: 10, test: 5 };

const RESOURCES = ['payment', ...Object.values(KINDS).map(({ eventResource }) => eventResource)];
const EVENT_TYPES = RESOURCES.flatMap((resource) => [`payment.${resource}.create`, `payment.${resource}.update`]);

const WEBHOOK_VERSIONS = ['1.0.0', '1.0.1', '1.2.0', '1.3.0'] as const;

const fields = z.array(z.string().min(1));

export const endpointSchema = z
  .strictObject({
    /** Id of an existing endpoint to change. */
    id: z.string().min(1).optional(),
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
    version: z.enum(WEBHOOK_VERSIONS, `must be one of ${WEBHOOK_VERSIONS.join(', ')}`).default('1.3.0'),
    app_id: z.string().min(1).optional(),
    app_ids: z.array(z.string().min(1)).min(1).optional(),
    env: z.enum(['test', 'live']).default('test'),
    events: z.array(z.string().min(1)).min(1).default(['*']),
    /** Fields of `data` to omit: for all events, or by event type. */
    filters: z.union([fields, z.record(z.string(), fields)]).default([]),
  })
  .refine((body) => (body.app_id === undefined) !== (body.app_ids === undefined), {
    message: 'exactly one of app_id and app_ids is needed',
    path: ['app_id'],
  })
  .meta({ examples: [{ url: 'http://127.0.0.1:4020/webhooks', app_id: 'holdfast-sandbox' }] });
export type EndpointRequest = z.infer<typeof endpointSchema>;

/** Adds an endpoint, or changes the one with that id. Returns the errors of an invalid request. */
export function putEndpoint(sandbox: Sandbox, request: EndpointRequest): WebhookEndpoint | { errors: string[] } {
  const { store } = sandbox;
  const before = request.id === undefined ? undefined : store.endpoints.get(request.id);
  const endpoint: WebhookEndpoint = {
    id: request.id ?? randomUUID(),
    url: request.url,
    version: request.version,
    appIds: request.app_ids ?? [request.app_id ?? ''],
    env: request.env,
    events: request.events,
    filters: Array.isArray(request.filters) ? { '*': request.filters } : request.filters,
    created: before?.created ?? sandbox.clock.now(),
  };
  const errors = [...unknownUnits(sandbox, endpoint), ...limitFaults(sandbox, endpoint)];
  if (errors.length > 0) return { errors };
  store.transaction(() => store.endpoints.put(endpoint));
  return endpoint;
}

export function endpointView(endpoint: WebhookEndpoint) {
  const { id, url, version, appIds, env, events, filters, created } = endpoint;
  return { id, url, version, app_ids: appIds, env, events, filters, created: String(created) };
}

function unknownUnits({ store }: Sandbox, { appIds }: WebhookEndpoint): string[] {
  return appIds
    .filter((appId) => store.units.get(appId) === undefined)
    .map((appId) => `app_id: there is no business unit ${appId}`);
}

function limitFaults({ store }: Sandbox, endpoint: WebhookEndpoint): string[] {
  const limit = ENDPOINT_LIMITS[endpoint.env];
  const others = [...store.endpoints.values()].filter(({ id, env }) => id !== endpoint.id && env === endpoint.env);
  return endpoint.appIds.flatMap((appId) => {
    const full = EVENT_TYPES.filter((type) => {
      const same = others.filter(({ appIds, events }) => appIds.includes(appId) && takes(events, type));
      return takes(endpoint.events, type) && same.length >= limit;
    });
    return full.length === 0
      ? []
      : [`events: ${appId} has ${limit} ${endpoint.env} endpoints for ${full.join(', ')} already`];
  });
}

function takes(patterns: readonly string[], type: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, type));
}
