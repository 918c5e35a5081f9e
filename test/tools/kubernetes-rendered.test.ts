import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { loadCodecConfig, loadConfig, SECRET_FILES } from '../../src/config/load.js';
import { DEMO_SECRETS } from '../../src/config/known-secrets.js';
import { type Container, type Manifest, ofKind, readConfigMap, workloadsIn } from '../support/kubernetes.js';
import { overlay, withKustomize } from '../support/rendered-overlays.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const OVERLAYS = ['demo', 'production', 'worker-controller'];

/** What a container of rendered manifests gets, Secrets included where they are rendered too. */
function givenTo(manifests: readonly Manifest[], { envFrom = [], env = [] }: Container) {
  const textOf = (value: string): string => Buffer.from(value, 'base64').toString();
  const maps = envFrom.map(({ configMapRef }) => {
    return manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMapRef?.name)?.data;
  });
  const single = env.map(({ name, value, valueFrom }) => {
    const { name: secret, key = '' } = valueFrom?.secretKeyRef ?? {};
    const data = manifests.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === secret)?.data;
    return [name, value ?? (data === undefined ? undefined : textOf(data[key] ?? ''))];
  });
  return Object.assign({}, ...maps, Object.fromEntries(single)) as Record<string, string | undefined>;
}

withKustomize('what kustomize renders', () => {
  test.each(OVERLAYS)(
    '%s names no ConfigMap and no Secret that is not there, or that the page does not ask for',
    (name) => {
      const manifests = overlay(name);
      const page = read('docs/kubernetes.md');
      const there = (kind: string, wanted: string): boolean =>
        ofKind(manifests, kind).some(({ metadata }) => metadata.name === wanted);
      const dangling = workloadsIn(manifests).flatMap(({ container, pod }) => {
        const maps = (container.envFrom ?? []).flatMap(({ configMapRef }) => configMapRef?.name ?? []);
        const byHand = (container.env ?? []).flatMap(({ valueFrom }) => valueFrom?.configMapKeyRef?.name ?? []);
        const secrets = [
          ...(container.envFrom ?? []).flatMap(({ secretRef }) => secretRef?.name ?? []),
          ...(container.env ?? []).flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []),
          ...(pod.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []),
        ];
        return [
          ...maps.filter((one) => !there('ConfigMap', one)),
          ...[...byHand, ...secrets.filter((one) => !there('Secret', one))].filter(
            (one) => !page.includes(`\`${one}\``),
          ),
        ];
      });
      expect(dangling).toEqual([]);
    },
  );

  test.each(OVERLAYS)('%s: what is told after a restore has one name for every build, and may be missing', (name) => {
    const told = workloadsIn(overlay(name)).flatMap(({ component, container }) =>
      (container.env ?? []).flatMap(({ name: variable, valueFrom }) =>
        valueFrom?.configMapKeyRef === undefined ? [] : [{ component, variable, ...valueFrom.configMapKeyRef }],
      ),
    );
    // kustomize gives what it generates, or names, another name for each build.
    expect(new Set(told.map((one) => `${one.name} ${one.optional}`))).toEqual(new Set(['holdfast-restored true']));
    expect(told.filter(({ variable, key }) => variable !== key)).toEqual([]);
    expect(told.map(({ component, variable }) => `${component} ${variable}`)).toEqual([
      'webhook HOLDFAST_RESTORED_TO',
      'worker-billing HOLDFAST_RESTORED_TO',
      'worker-billing HOLDFAST_RESTORED_STATEMENT_FILE',
      'worker-payments HOLDFAST_RESTORED_TO',
      'worker-payments HOLDFAST_RESTORED_STATEMENT_FILE',
    ]);
  });

  test('production has no Secret, no sandbox and no image without a tag', () => {
    const manifests = overlay('production');
    expect(ofKind(manifests, 'Secret')).toEqual([]);
    const images = workloadsIn(manifests).map(({ container }) => container.image);
    expect(images.filter((image) => !/^registry\.example\.com\/holdfast[:@]\S+$/.test(image))).toEqual([]);
    expect(read('package.json')).toContain(`"version": "${images[0]?.split(':').at(-1)}"`);
  });

  test("demo's secrets are those that every process refuses for live money", () => {
    const data = ofKind(overlay('demo'), 'Secret').flatMap((secret) => Object.values(secret.data ?? {}));
    const texts = data.map((value) => Buffer.from(value, 'base64').toString());
    for (const secret of Object.values(DEMO_SECRETS)) expect(texts.join('\n')).toContain(secret);
    expect(texts).toHaveLength(Object.keys(DEMO_SECRETS).length + 1);
  });

  test.each([
    ['demo', 'test', 'http://sandbox:4010'],
    ['production', 'live', 'https://api.example.com'],
  ])('%s is a configuration that each process takes', (name, environment, apiBaseUrl) => {
    const manifests = overlay(name);
    const folder = temporaryFolder();
    const units = join(folder, 'business-units.json');
    const [secret] = ofKind(manifests, 'Secret').filter(({ data }) => data?.['business-units.json'] !== undefined);
    const ofDemo = Buffer.from(secret?.data?.['business-units.json'] ?? '', 'base64').toString();
    writeFileSync(units, ofDemo || '{"default":{"appId":"shop","privateKey":"0a4f9c1e7b2d48569c3f"}}');
    mkdirSync(join(folder, 'keys'));
    for (const file of [SECRET_FILES.codecToken, SECRET_FILES.codecUiCapability])
      writeFileSync(join(folder, file), file.slice(-10).repeat(3), { mode: 0o600 });
    const made = { HOLDFAST_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}` };
    const loaded = workloadsIn(manifests)
      .filter(({ component }) => !['sandbox', 'setup'].includes(component))
      .map(({ component, container }) => {
        const given = Object.entries(givenTo(manifests, container)).filter(([, value]) => value !== undefined);
        const env = { ...made, ...Object.fromEntries(given), HOLDFAST_STATE_DIR: folder };
        const file = { HOLDFAST_BUSINESS_UNITS_FILE: units };
        if (component === 'codec') return { component, ...loadCodecConfig(env) };
        return { component, ...loadConfig({ ...env, ...file }) };
      });
    expect(loaded.map((config) => config.environment)).toEqual(loaded.map(() => environment));
    const paying = loaded.flatMap((config) => ('apiBaseUrl' in config ? [config] : []));
    expect(paying.map((config) => config.apiBaseUrl)).toEqual(paying.map(() => apiBaseUrl));
    const queues = paying.map(({ component, taskQueues }) => `${component}: ${taskQueues}`);
    expect(queues).toEqual(['webhook: all', 'worker-billing: billing', 'worker-payments: payments']);
  });

  test.each(OVERLAYS)(
    '%s: selectors select the pods of one workload, and every Deployment has a disruption budget',
    (name) => {
      const manifests = overlay(name);
      const all = workloadsIn(manifests);
      const selected = (selector: Record<string, string>): string[] =>
        all
          .filter(({ labels }) => Object.entries(selector).every(([key, value]) => labels[key] === value))
          .map((one) => one.name);
      for (const { spec } of ofKind<{ selector: { matchLabels: Record<string, string> } }>(manifests, 'Deployment'))
        expect(selected(spec.selector.matchLabels)).toHaveLength(1);
      for (const { spec } of ofKind<{ selector: Record<string, string> }>(manifests, 'Service'))
        expect(selected(spec.selector)).toHaveLength(1);
      const budgets = ofKind<{ selector: { matchLabels: Record<string, string> }; maxUnavailable: number }>(
        manifests,
        'PodDisruptionBudget',
      );
      const kept = budgets.flatMap(({ spec }) => selected(spec.selector.matchLabels)).toSorted();
      expect(kept).toEqual([
        'holdfast-codec',
        'holdfast-webhook',
        'holdfast-worker-billing',
        'holdfast-worker-payments',
      ]);
      expect(budgets.map(({ spec }) => spec.maxUnavailable)).toEqual(budgets.map(() => 1));
    },
  );

  test('a deploy by the words of the page, forward and back, first applies all that its pods read', () => {
    const left = [...read('docs/kubernetes.md').matchAll(/-l '(\S+component) ?(?:!=|notin )\(?([\w,-]+)\)?'/g)];
    const first = left.map(([, label = '', values = '']) => {
      const applied = overlay('production').filter(
        ({ metadata }) => !values.split(',').includes(metadata.labels?.[label] ?? ''),
      );
      const pods = workloadsIn(applied);
      const maps = pods.flatMap(({ container }) => container.envFrom?.flatMap((one) => one.configMapRef?.name ?? []));
      expect(ofKind(applied, 'ConfigMap').map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(maps));
      return pods.map(({ component }) => component);
    });
    expect(first).toEqual([
      ['codec', 'setup', 'worker-billing', 'worker-payments'],
      ['codec', 'setup', 'webhook'],
    ]);
  });

  test('a restart by the words of the page reaches every Deployment, and nothing of others', () => {
    const [, namespace, label, value] =
      /`kubectl -n (\S+) rollout restart deployment -l (\S+)=(\S+)`/.exec(read('docs/kubernetes.md')) ?? [];
    const reached = ofKind(overlay('production'), 'Deployment').map(({ metadata }) => [
      metadata.namespace,
      metadata.labels?.[label ?? ''],
    ]);
    expect(reached).toEqual(Array.from({ length: 4 }, () => [namespace, value]));
  });

  test('nothing logs the addresses of the codec server: one of them has a secret', () => {
    const annotation = 'nginx.ingress.kubernetes.io/enable-access-log';
    const logged = ofKind(overlay('production'), 'Ingress').map(({ metadata }) => [
      metadata.name,
      metadata.annotations?.[annotation],
    ]);
    expect(Object.fromEntries(logged)).toEqual({ 'holdfast-codec-server': 'false', 'holdfast-webhooks': undefined });
  });

  test('an autoscaler alone says how many there are, and HOLDFAST_WORKER_COUNT is the most workers that there can be', () => {
    const manifests = overlay('production');
    const scalers = ofKind<{ scaleTargetRef: { name: string }; minReplicas: number; maxReplicas: number }>(
      manifests,
      'HorizontalPodAutoscaler',
    );
    const most = workloadsIn(manifests)
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ name, replicas }) => {
        const scaler = scalers.find(({ spec }) => spec.scaleTargetRef.name === name)?.spec;
        // Else each deploy would set it back.
        expect({ name, both: scaler !== undefined && replicas !== undefined }).toEqual({ name, both: false });
        if (name !== 'holdfast-codec') expect(scaler?.minReplicas ?? replicas).toBeGreaterThanOrEqual(2);
        return { name, count: scaler?.maxReplicas ?? replicas ?? 1 };
      });
    expect(scalers).toHaveLength(2);
    const workers = most.filter(({ name }) => name.startsWith('holdfast-worker-'));
    const sum = workers.reduce((total, { count }) => total + count, 0);
    expect(readConfigMap('holdfast-worker')['HOLDFAST_WORKER_COUNT']).toBe(String(sum));
  });

  test.each(['demo', 'production'])('%s: workers of no build never run beside those of another one', (name) => {
    const manifests = overlay(name);
    const workers = ofKind<{ strategy: object }>(manifests, 'Deployment').filter(({ metadata }) =>
      metadata.name.startsWith('holdfast-worker-'),
    );
    expect(readConfigMap('holdfast-worker')['HOLDFAST_BUILD_ID']).toBe('');
    expect(workers.map(({ spec }) => spec.strategy)).toEqual(workers.map(() => ({ type: 'Recreate' })));
    expect(workers).toHaveLength(2);
  });

  test('under the Worker Controller workers are its resources, asked for by the address and namespace of the others', () => {
    const manifests = overlay('worker-controller');
    const kinds = workloadsIn(manifests).map(({ kind, name }) => `${kind} ${name}`);
    expect(kinds.filter((one) => one.includes('worker-'))).toEqual([
      'WorkerDeployment holdfast-worker-billing',
      'WorkerDeployment holdfast-worker-payments',
    ]);
    const [common] = ofKind(manifests, 'ConfigMap').filter(({ data }) => data?.['TEMPORAL_ADDRESS'] !== undefined);
    const [connection] = ofKind<{ hostPort: string }>(manifests, 'Connection');
    expect(connection?.spec.hostPort).toBe(common?.data?.['TEMPORAL_ADDRESS']);
    interface Options {
      workerOptions: { connectionRef: { name: string }; temporalNamespace: string };
    }
    for (const { spec } of ofKind<Options>(manifests, 'WorkerDeployment'))
      expect(spec.workerOptions).toEqual({
        connectionRef: { name: connection?.metadata.name },
        temporalNamespace: common?.data?.['TEMPORAL_NAMESPACE'],
      });
    // What it adds to a container, after what stands there.
    const injected = {
      TEMPORAL_DEPLOYMENT_NAME: 'holdfast/holdfast-worker-payments',
      TEMPORAL_WORKER_BUILD_ID: 'holdfast-0-1-0-1a2b',
    };
    const { buildId, deploymentName } = loadConfig({
      ...readConfigMap('holdfast-worker'),
      ...injected,
      HOLDFAST_API_BASE_URL: 'https://api.example.com',
      HOLDFAST_BUSINESS_UNITS: '{"default":{"appId":"shop","privateKey":"0a4f9c1e7b2d48569c3f"}}',
      HOLDFAST_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    });
    expect([deploymentName, buildId]).toEqual(Object.values(injected));
  });
});
