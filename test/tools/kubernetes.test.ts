import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SECRET_FILES } from '../../src/config/load.js';
import { codecSchema, configSchema } from '../../src/config/schema.js';
import { variableOf } from '../../src/config/variables.js';
import { ofKind, readConfigMap, readManifests, workloadsIn } from '../support/kubernetes.js';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const settings = (schema: z.ZodObject): { name: string; readBy: string }[] =>
  Object.values(schema.shape).flatMap((inner) =>
    inner instanceof z.ZodObject ? settings(inner) : [variableOf(inner as z.core.$ZodType)],
  );
const VARIABLES = [...settings(configSchema), ...settings(codecSchema)];

const READERS: Readonly<Record<string, string>> = {
  'holdfast-worker': 'worker',
  'holdfast-webhook': 'webhook',
  'holdfast-codec': 'codec server',
  'holdfast-setup': 'setup',
};
/** Given in another way: by a file, by the folder of the queue, by the Worker Controller. */
const NOT_PASSED: Readonly<Record<string, readonly string[]>> = {
  'holdfast-worker': [
    'HOLDFAST_BUSINESS_UNITS',
    'HOLDFAST_REFERENCE_BOOK_URL_FILE',
    'HOLDFAST_TASK_QUEUES',
    'TEMPORAL_WORKER_BUILD_ID',
  ],
  // It reads no payload.
  'holdfast-setup': ['HOLDFAST_ENCRYPTION_KEYS', 'HOLDFAST_REFERENCE_BOOK_URL_FILE'],
  'holdfast-webhook': ['HOLDFAST_BUSINESS_UNITS'],
  'holdfast-codec': ['HOLDFAST_CODEC_TOKEN', 'HOLDFAST_CODEC_UI_CAPABILITY'],
};

const raw = [...readManifests('base'), ...readManifests('overlays/demo')];
const workloads = workloadsIn(raw);
const workload = (name: string) => {
  const found = workloads.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
};

/** Variables of a container, with values where they stand in the repository. */
function environmentOf({ envFrom = [], env = [] }: (typeof workloads)[number]['container']): Record<string, string> {
  const maps = envFrom.map(({ configMapRef }) => (configMapRef === undefined ? {} : readConfigMap(configMapRef.name)));
  return Object.assign({}, ...maps, Object.fromEntries(env.map(({ name, value = '' }) => [name, value])));
}

describe('the manifests for Kubernetes', () => {
  test('have what runs Holdfast', () => {
    expect(workloads.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'Deployment holdfast-codec',
      'Job holdfast-setup',
      'Deployment holdfast-webhook',
      'Deployment holdfast-worker',
      'Deployment sandbox',
    ]);
  });

  test.each(Object.entries(READERS))(
    '%s gets every variable that it reads, and none that nobody knows',
    (name, reader) => {
      const wanted = VARIABLES.filter(({ readBy }) =>
        readBy.split(/, | and /).some((who) => who === reader || who.startsWith('all')),
      ).map((variable) => variable.name);
      const passed = Object.keys(environmentOf(workload(name).container));
      const elsewhere = [...(NOT_PASSED[name] ?? []), 'HOLDFAST_EMBEDDED'];
      expect(wanted.filter((one) => !passed.includes(one) && !elsewhere.includes(one))).toEqual([]);
      const known = VARIABLES.map((variable) => variable.name);
      expect(passed.filter((one) => one.startsWith('HOLDFAST_') && !known.includes(one))).toEqual([]);
    },
  );

  test('the sandbox gets variables that its page names', () => {
    const page = read('docs/sandbox.md') + read('docs/configuration.md');
    const passed = Object.keys(environmentOf(workload('sandbox').container));
    expect(passed.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test.each(workloads)(
    '$name starts a program that the build emits, and answers on ports that its variables name',
    ({ container }) => {
      const [node, file = ''] = container.command;
      expect(node).toBe('node');
      expect(existsSync(join(root, file.replace(/^dist\//, '').replace(/\.js$/, '.ts')))).toBe(true);
      const ports = Object.entries(environmentOf(container)).filter(([name]) => name.endsWith('_PORT'));
      expect(ports.map(([, port]) => Number(port)).toSorted()).toEqual(
        (container.ports ?? []).map(({ containerPort }) => containerPort).toSorted(),
      );
      const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
      for (const probe of probes.filter((one) => one !== undefined))
        expect(container.ports?.map(({ name }) => name)).toContain(probe.httpGet.port);
    },
  );

  test.each(workloads.filter(({ kind }) => kind === 'Deployment'))(
    '$name is restarted by /health and gets work by /ready, and has a minute to start',
    ({ name, container: { startupProbe, livenessProbe, readinessProbe } }) => {
      // A handler that stays in answers 503 itself, which loses no event: only a new one is let in by /ready.
      const health = { startup: '/health', liveness: '/health', readiness: '/ready' };
      const other: Readonly<Record<string, typeof health>> = {
        'holdfast-webhook': { startup: '/ready', liveness: '/health', readiness: '/health' },
        sandbox: { startup: '/sandbox/health', liveness: '/sandbox/health', readiness: '/sandbox/health' },
      };
      const paths = {
        startup: startupProbe?.httpGet.path,
        liveness: livenessProbe?.httpGet.path,
        readiness: readinessProbe?.httpGet.path,
      };
      expect(paths).toEqual(other[name] ?? health);
      // By /ready it waits for Temporal too: an outage must not end in a loop of restarts.
      const least = paths.startup === '/ready' ? 3_600 : 60;
      expect((startupProbe?.periodSeconds ?? 0) * (startupProbe?.failureThreshold ?? 0)).toBeGreaterThanOrEqual(least);
    },
  );

  test('statements are mounted where the page and the settings say, and a worker starts without them', () => {
    const { pod, container } = workload('holdfast-worker');
    const [mount] = container.volumeMounts?.filter(({ name }) => name === 'statements') ?? [];
    const [volume] = pod.volumes?.filter(({ name }) => name === 'statements') ?? [];
    expect(volume?.secret).toEqual({ secretName: 'holdfast-statements', defaultMode: 0o440, optional: true });
    expect(mount).toMatchObject({ mountPath: '/etc/holdfast/statements', readOnly: true });
    const named = [read('docs/kubernetes.md'), read('deploy/kubernetes/base/config/worker.env')];
    for (const text of named) expect(text).toContain(mount?.mountPath);
  });

  test.each(workloads)('$name has no rights, no token and no variables of Services', ({ pod, container }) => {
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.securityContext).toEqual({
      ...{ runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
      seccompProfile: { type: 'RuntimeDefault' },
    });
    const { enableServiceLinks, automountServiceAccountToken, serviceAccountName } = pod;
    expect({ enableServiceLinks, automountServiceAccountToken, serviceAccountName }).toEqual({
      ...{ enableServiceLinks: false, automountServiceAccountToken: false, serviceAccountName: 'holdfast' },
    });
    expect(container.resources.limits['memory']).toMatch(/^\d+[MG]i$/);
    expect(Object.keys(container.resources.requests)).toEqual(['cpu', 'memory']);
  });

  test('no Service sets one of our variables in the pods of others', () => {
    const names = ofKind<object>(raw, 'Service').map(({ metadata }) =>
      metadata.name.toUpperCase().replaceAll('-', '_'),
    );
    const links = names.flatMap((name) => [`${name}_PORT`, `${name}_SERVICE_HOST`, `${name}_SERVICE_PORT`]);
    expect(names.length).toBeGreaterThan(0);
    expect(links.filter((link) => VARIABLES.some(({ name }) => name === link))).toEqual([]);
  });

  test('processes have the time to stop that they take', () => {
    const { HOLDFAST_STOP_SECONDS: stop } = readConfigMap('holdfast-worker');
    // The others end within 8 s.
    const times = { 'holdfast-worker': Number(stop), 'holdfast-webhook': 8, 'holdfast-codec': 8 };
    for (const [name, seconds] of Object.entries(times)) {
      const { pod, container } = workload(name);
      const before = container.lifecycle?.preStop.sleep.seconds ?? 0;
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(before + seconds + 10);
    }
  });

  test("the codec server's secrets are mounted where it looks for them, for its group", () => {
    const { pod, container } = workload('holdfast-codec');
    const state = environmentOf(container)['HOLDFAST_STATE_DIR'] ?? '';
    const [mount] = container.volumeMounts?.filter(({ name }) => name === 'secrets') ?? [];
    expect(mount?.mountPath).toBe(dirname(join(state, SECRET_FILES.codecToken)));
    const secrets = (pod.volumes ?? []).flatMap(({ secret }) => (secret === undefined ? [] : [secret]));
    expect(secrets).toEqual([{ secretName: 'holdfast-codec-secrets', defaultMode: 0o440 }]);
  });
});
