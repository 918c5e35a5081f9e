import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { invalidRequest } from '../api-error.js';
import type { Sandbox } from '../context.js';
import { clockSchema, completeSchema, settingsSchema, unitSchema } from '../control-api/run.js';
import { decideSchema } from '../control-api/transactions.js';
import { faultShape } from '../faults.js';
import type { JsonObject } from '../records.js';
import type { Route } from '../route.js';
import { OPERATIONS } from '../routes/index.js';
import { API_VERSIONS, VERSIONS, type ApiVersion, type VersionRules, versionRules } from '../versions.js';
import { endpointSchema } from '../webhook-endpoints.js';
import { errorSchema, responseSchema } from './responses.js';

/** Statuses of refusals; 5xx come only from planted faults. */
const REFUSALS = ['400', '401', '403', '404', '409'];
const DOCUMENTS = new Map<ApiVersion, JsonObject>();

/** Builds the OpenAPI description of one API version and the control API from the schemas that check requests. */
export function openApiDocument(version: ApiVersion): JsonObject {
  const known = DOCUMENTS.get(version);
  if (known !== undefined) return known;
  const document = describe(VERSIONS[version]);
  DOCUMENTS.set(version, document);
  return document;
}

function describe(rules: VersionRules): JsonObject {
  const paths: Record<string, JsonObject> = {};
  const add = (path: string, method: string, operation: JsonObject): void => {
    (paths[path] ??= {})[method.toLowerCase()] = operation;
  };
  for (const route of OPERATIONS.filter(({ since }) => isIn(rules.version, since))) {
    add(route.path.replaceAll(/:(\w+)/g, '{$1}'), route.method, serviceOperation(route, rules));
  }
  for (const operation of CONTROL_OPERATIONS) add(operation.path, operation.method, controlOperation(operation));
  const apiKey = (name: string): JsonObject => ({ type: 'apiKey', in: 'header', name });
  return {
    openapi: '3.1.0',
    info: { title: 'Holdfast sandbox: payment service', version: rules.version },
    paths,
    components: {
      securitySchemes: {
        appId: apiKey('app-id'),
        privateKey: apiKey('private-key'),
        publicKey: apiKey('public-key'),
      },
    },
  };
}

function serviceOperation(route: Route, rules: VersionRules): JsonObject {
  const { operation, method, path, credentials, request, bodyOptional, query, success } = route;
  return {
    operationId: operation,
    security: credentials === 'public' ? [{ publicKey: [] }] : [{ appId: [], privateKey: [] }],
    parameters: [
      parameter('header', 'api-version', { const: rules.version }),
      parameter('header', 'x-svc-env', { enum: ['test', 'live'] }),
      ...(method === 'POST' ? [parameter('header', 'idempotency-key', { type: 'string' })] : []),
      ...[...path.matchAll(/:(\w+)/g)].map(([, name = '']) => parameter('path', name, { type: 'string' })),
      ...Object.entries(query ?? {}).map(([name, values]) =>
        parameter('query', name, values === undefined ? { type: 'string' } : { enum: values }),
      ),
    ],
    ...(request && { requestBody: { required: bodyOptional !== true, content: json(schemaOf(request(rules))) } }),
    responses: responses(success, responseSchema(operation, rules), errorSchema),
  };
}

function controlOperation({ operation, path, request, query, success }: ControlOperation): JsonObject {
  return {
    operationId: operation,
    tags: ['control'],
    security: [],
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => parameter('path', name, { type: 'string' })),
      ...(query ?? []).map((name) => parameter('query', name, { type: 'string' })),
    ],
    ...(request && { requestBody: { required: false, content: json(schemaOf(request)) } }),
    responses: responses(success, undefined, controlErrorSchema),
  };
}

function parameter(place: 'header' | 'path' | 'query', name: string, schema: JsonObject): JsonObject {
  return { in: place, name, schema, ...(place === 'path' && { required: true }) };
}

function responses(success: number, schema: z.ZodType | undefined, error: z.ZodType): JsonObject {
  const refusal = { description: 'Refused', content: json(schemaOf(error)) };
  return {
    [success]: { description: 'Done', ...(schema && { content: json(schemaOf(schema)) }) },
    ...Object.fromEntries(REFUSALS.map((status) => [status, refusal])),
  };
}

function json(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}

function schemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return described;
}

function isIn(version: ApiVersion, since: ApiVersion | undefined): boolean {
  return since === undefined || API_VERSIONS.indexOf(version) >= API_VERSIONS.indexOf(since);
}

/** Serves the OpenAPI description of the newest API version, or of the one that `?api-version=` names. */
export function registerOpenApi(app: FastifyInstance, sandbox: Sandbox): void {
  app.get<{ Querystring: { 'api-version'?: string } }>('/openapi.json', async (request) => {
    const rules = versionRules(request.query['api-version'] ?? '1.3.0');
    if (rules === undefined) throw invalidRequest('API version is not supported');
    return { ...openApiDocument(rules.version), servers: [{ url: sandbox.baseUrl }] };
  });
}

/** An operation of the control API. */
interface ControlOperation {
  operation: string;
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  request?: z.ZodType;
  query?: readonly string[];
  success: 200 | 201 | 202 | 204 | 303;
}

const CONTROL_OPERATIONS: readonly ControlOperation[] = [
  { operation: 'health', method: 'GET', path: '/sandbox/health', success: 200 },
  { operation: 'reset', method: 'POST', path: '/sandbox/reset', request: settingsSchema, success: 200 },
  { operation: 'changeSettings', method: 'POST', path: '/sandbox/settings', request: settingsSchema, success: 200 },
  { operation: 'advanceClock', method: 'POST', path: '/sandbox/clock', request: clockSchema, success: 200 },
  {
    operation: 'ledger',
    method: 'GET',
    path: '/sandbox/ledger',
    query: ['reconciliation_id', 'payment_id', 'latest', 'env', 'whole'],
    success: 200,
  },
  {
    operation: 'statement',
    method: 'GET',
    path: '/sandbox/statement',
    query: ['from', 'until', 'format', 'app_id', 'env'],
    success: 200,
  },
  {
    operation: 'completeTransaction',
    method: 'POST',
    path: '/sandbox/transactions/{id}/complete',
    request: completeSchema,
    success: 200,
  },
  { operation: 'disputeTransaction', method: 'POST', path: '/sandbox/transactions/{id}/dispute', success: 200 },
  {
    operation: 'decideRiskAnalysis',
    method: 'POST',
    path: '/sandbox/risk-analyses/{id}/decide',
    request: decideSchema,
    success: 200,
  },
  { operation: 'plantFault', method: 'POST', path: '/sandbox/faults', request: faultShape, success: 201 },
  { operation: 'listFaults', method: 'GET', path: '/sandbox/faults', success: 200 },
  { operation: 'removeFaults', method: 'DELETE', path: '/sandbox/faults', success: 204 },
  { operation: 'removeFault', method: 'DELETE', path: '/sandbox/faults/{id}', success: 204 },
  {
    operation: 'putWebhookEndpoint',
    method: 'POST',
    path: '/sandbox/webhook-endpoints',
    request: endpointSchema,
    success: 201,
  },
  { operation: 'listWebhookEndpoints', method: 'GET', path: '/sandbox/webhook-endpoints', success: 200 },
  { operation: 'removeWebhookEndpoints', method: 'DELETE', path: '/sandbox/webhook-endpoints', success: 204 },
  { operation: 'removeWebhookEndpoint', method: 'DELETE', path: '/sandbox/webhook-endpoints/{id}', success: 204 },
  {
    operation: 'listDeliveries',
    method: 'GET',
    path: '/sandbox/deliveries',
    query: ['payment_id', 'reconciliation_id', 'event_type', 'status', 'latest'],
    success: 200,
  },
  { operation: 'getDelivery', method: 'GET', path: '/sandbox/deliveries/{id}', success: 200 },
  { operation: 'resendDelivery', method: 'POST', path: '/sandbox/deliveries/{id}/resend', success: 202 },
  { operation: 'putBusinessUnit', method: 'POST', path: '/sandbox/business-units', request: unitSchema, success: 201 },
  { operation: 'listBusinessUnits', method: 'GET', path: '/sandbox/business-units', success: 200 },
  {
    operation: 'openRedirection',
    method: 'GET',
    path: '/sandbox/redirections/{payment_id}/{transaction_id}',
    success: 303,
  },
];

const controlErrorSchema = z.object({ errors: z.array(z.string()).min(1) });
