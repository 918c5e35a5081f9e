import type { FastifyInstance } from 'fastify';
import { invalidRequest } from '../api-error.js';
import type { Sandbox } from '../context.js';
import { versionRules } from '../versions.js';
import { openApiDocument } from './document.js';

/** Serves the OpenAPI description of the newest API version, or of the one that `?api-version=` names. */
export function registerOpenApi(app: FastifyInstance, sandbox: Sandbox): void {
  app.get<{ Querystring: { 'api-version'?: string } }>('/openapi.json', async (request) => {
    const rules = versionRules(request.query['api-version'] ?? '1.3.0');
    if (rules === undefined) throw invalidRequest('API version is not supported');
    return { ...openApiDocument(rules.version), servers: [{ url: sandbox.baseUrl }] };
  });
}
