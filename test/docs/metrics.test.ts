import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { WORKER_COUNTERS, WORKER_GAUGES } from '../../src/contract/metrics.js';
import { WIRE_DETAILS } from '../../src/contract/names.js';
import { createWebhookMetrics } from '../../src/webhook/metrics.js';
import { documentedMetrics } from '../support/documented-metrics.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const filesOf = (folder: string, extension: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(extension))
    .map((file) => join(folder, file));
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const documented = documentedMetrics();
/** Of the reference book. */
const TABLE = 'holdfast_references';

test('docs/metrics.md has the metrics that the code makes, with their kinds, and no other', async () => {
  const registry = new Registry();
  createWebhookMetrics(registry);
  const ofWebhooks = registry.getMetricsAsArray().map((metric) => metric.name);
  const kinds = await registry.getMetricsAsJSON();
  const made = [
    ...Object.values(WORKER_COUNTERS).map((name) => `${name}_total counter worker`),
    ...Object.values(WORKER_GAUGES).map((name) => `${name} gauge worker`),
    ...ofWebhooks.map((name) => `${name} ${kinds.find((one) => one.name === name)?.type} webhook`),
  ];
  const told = documented.map(({ name, kind, process }) => `${name} ${kind} ${process}`);
  expect(told.toSorted()).toEqual(made.toSorted());
});

test('metrics of workers are made by the names of the contract alone', () => {
  const files = ['workers', 'workflows', 'activities'].flatMap((folder) => filesOf(folder, '.ts'));
  const literal = /create(?:Counter|Gauge|Histogram)\(\s*['"`]/;
  expect(files.filter((file) => literal.test(read(file)))).toEqual([]);
});

test('names say their unit: counters end in _total, and what is not a count or a state in its unit', () => {
  const wrong = documented.filter(({ name, kind }) =>
    kind === 'gauge' ? name.endsWith('_total') : !name.endsWith(kind === 'counter' ? '_total' : '_seconds'),
  );
  expect(wrong).toEqual([]);
});

test('no page and no setting of a deployment names a metric that nobody has', () => {
  const known = new Set<string>([...documented.map(({ name }) => name), ...Object.values(WIRE_DETAILS), TABLE]);
  const pages = ['README.md', 'CHANGELOG.md', ...filesOf('docs', '.md')];
  const unknown = pages.flatMap((page) =>
    [...read(page).matchAll(/\bholdfast_[a-z_]+/g)]
      .map(([name]) => name)
      .filter((name) => !known.has(name) && !known.has(name.replace(/_(?:bucket|sum|count)$/, '')))
      .map((name) => `${page}: ${name}`),
  );
  expect(unknown).toEqual([]);
});
