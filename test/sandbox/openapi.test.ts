import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/context.js';
import { registerControlApi } from '../../sandbox/control-api/index.js';
import { registerOperations } from '../../sandbox/pipeline.js';
import { OPERATIONS } from '../../sandbox/routes/index.js';

const PAGE = readFileSync('docs/sandbox-openapi.json', 'utf8');
const { paths } = JSON.parse(PAGE) as { paths: Record<string, Record<string, object>> };

/** Every method and path that the sandbox takes, as a description writes them. */
async function routesOfSandbox(): Promise<string[]> {
  const routes: string[] = [];
  const app = Fastify();
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) routes.push(`${one} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
  });
  // No request is served, so no route needs its sandbox.
  registerControlApi(app as never, {} as Sandbox, () => {});
  registerOperations(app as never, {} as Sandbox, OPERATIONS);
  await app.ready();
  await app.close();
  return [...new Set(routes)].filter((route) => !/^(HEAD|OPTIONS) /.test(route)).toSorted();
}

test('the OpenAPI page of the sandbox has every route of it, and no other', async () => {
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const routes = await routesOfSandbox();
  expect(routes.length).toBeGreaterThan(40);
  expect(described.toSorted()).toEqual(routes);
});
