import { z } from 'zod';
import type { JsonObject } from '../records.js';
import type { Route } from '../route.js';
import { OPERATIONS } from '../routes/index.js';
import { API_VERSIONS, VERSIONS, type ApiVersion, type VersionRules } from '../versions.js';
import { CONTROL_OPERATIONS, controlErrorSchema, type ControlOperation } from './control-operations.js';
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
