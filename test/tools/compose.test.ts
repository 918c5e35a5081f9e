import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DEMO_SECRETS } from '../../src/config/known-secrets.js';
import { codecSchema, configSchema } from '../../src/config/schema.js';
import { variableOf } from '../../src/config/variables.js';
import { compose, composeFile, durationMs, root, runCompose, SECRETS, type Service } from './compose-file.js';

if (compose === undefined) process.stderr.write('docker-compose.yml is NOT checked, skipped: no Docker Compose\n');
const withCompose = compose === undefined ? describe.skip : describe;

const production = () => composeFile([], SECRETS).services;
const demo = () => composeFile(['--env-file', 'deploy/demo.env', '--profile', '*'], {}).services;
const ours = (services: Record<string, Service>) =>
  Object.entries(services).filter(([, { build }]) => build !== undefined);
const isJob = ({ restart = '' }: Service) => restart === 'no' || restart.startsWith('on-failure');
const running = () => Object.entries(demo()).filter(([, service]) => !isJob(service));
/** Names of those for which `isFine` does not hold. */
const faulty = (services: [string, Service][], isFine: (service: Service) => boolean): string[] =>
  services.filter(([, service]) => !isFine(service)).map(([name]) => name);

const settings = (schema: z.ZodObject): { name: string; readBy: string }[] =>
  Object.values(schema.shape).flatMap((inner) =>
    inner instanceof z.ZodObject ? settings(inner) : [variableOf(inner as z.core.$ZodType)],
  );
const VARIABLES = [...settings(configSchema), ...settings(codecSchema)];
/** Set by the image, of `npm start` alone, or of the Worker Controller, which is not there. */
const NOT_PASSED = ['HOLDFAST_STATE_DIR', 'HOLDFAST_EMBEDDED', 'TEMPORAL_WORKER_BUILD_ID'];

withCompose('docker-compose.yml', () => {
  test('has no default secret: what production needs is named one by one', () => {
    expect(Object.keys(production()).sort()).toEqual(
      ['codec', 'postgres', 'setup', 'temporal', 'temporal-schema', 'temporal-ui', 'webhook', 'worker'].sort(),
    );
    for (const name of Object.keys(SECRETS)) {
      const result = runCompose(['config', '-q'], { ...SECRETS, [name]: '' });
      const refused = result.status !== 0 && result.stderr.includes(name);
      expect({ name, refused }).toEqual({ name, refused: true });
    }
    const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
    const given = readFileSync(join(root, 'deploy', 'demo.env'), 'utf8');
    for (const [, name, value = ''] of given.matchAll(/^(\w*(?:KEYS|TOKEN|SECRET|CAPABILITY|PASSWORD|UNITS))=(.+)$/gm))
      expect({ name, inCompose: text.includes(value) }).toEqual({ name, inCompose: false });
  });

  test('has its demo secrets refused for live money', () => {
    const env = readFileSync(join(root, 'deploy', 'demo.env'), 'utf8');
    for (const value of Object.values(DEMO_SECRETS)) expect(env).toContain(value);
    expect(env).toContain('HOLDFAST_ENVIRONMENT=test\n');
    expect(JSON.parse(demo()['worker']?.environment?.['HOLDFAST_BUSINESS_UNITS'] ?? '')).toMatchObject({
      default: { privateKey: 'sandbox-private-key' },
    });
  });

  test('starts each process of ours from a file that the build emits', () => {
    expect(
      ours(demo())
        .map(([name]) => name)
        .sort(),
    ).toEqual(['codec', 'demo', 'sandbox', 'setup', 'webhook', 'worker']);
    for (const [name, { command, build, image }] of ours(demo())) {
      const [node, file = ''] = command ?? [];
      const source = file.replace(/^dist\//, '').replace(/\.js$/, '.ts');
      const exists = file.startsWith('dist/') && existsSync(join(root, source));
      expect({ name, node, exists }).toEqual({ name, node: 'node', exists: true });
      const sandbox = name === 'sandbox' || name === 'demo';
      expect({ name, target: build?.target }).toEqual({ name, target: sandbox ? 'sandbox' : 'runtime' });
      expect(image).toBe(sandbox ? 'holdfast-sandbox:local' : 'holdfast:local');
    }
  });

  test('hardens every service, those of others too', () => {
    const all = Object.entries(demo());
    expect(faulty(all, ({ read_only: readOnly }) => readOnly === true)).toEqual([]);
    expect(faulty(all, ({ cap_drop: dropped }) => dropped?.includes('ALL') === true)).toEqual([]);
    expect(faulty(all, ({ security_opt: options }) => options?.includes('no-new-privileges:true') === true)).toEqual(
      [],
    );
    expect(faulty(all, ({ user = '0' }) => /^[1-9]\d*:[1-9]\d*$/.test(user))).toEqual([]);
    expect(faulty(all, ({ ulimits }) => ulimits?.core !== undefined)).toEqual([]);
  });

  test('limits memory, CPU, processes and logs of every service', () => {
    for (const limit of ['memory', 'cpus', 'pids'] as const)
      expect({ limit, without: faulty(Object.entries(demo()), (one) => limitOf(one, limit) > 0) }).toEqual({
        limit,
        without: [],
      });
    expect(
      faulty(Object.entries(demo()), ({ logging }) => {
        const { 'max-size': size, 'max-file': files } = logging?.options ?? {};
        return size !== undefined && Number(files) > 0;
      }),
    ).toEqual([]);
  });

  test('checks by /ready that a process of ours can work, and no service waits for one without a check', () => {
    expect(faulty(running(), ({ healthcheck }) => healthcheck !== undefined)).toEqual([]);
    for (const [name, { healthcheck, environment }] of ours(demo()).filter(([, one]) => !isJob(one))) {
      const [cmd, bash, script, port, path = '/ready'] = healthcheck?.test ?? [];
      expect([cmd, bash, script]).toEqual(['CMD', 'bash', 'deploy/ready.sh']);
      expect(path).toBe(name === 'sandbox' ? '/sandbox/health' : '/ready');
      const ports = Object.entries(environment ?? {}).filter(([variable]) => variable.endsWith('_PORT'));
      expect(ports.map(([, value]) => value)).toContain(port);
    }
    for (const { depends_on: needed = {} } of Object.values(demo())) {
      for (const [name, { condition }] of Object.entries(needed)) {
        const on = demo()[name];
        expect({ name, condition }).toEqual({
          name,
          condition: on !== undefined && isJob(on) ? 'service_completed_successfully' : 'service_healthy',
        });
      }
    }
  });

  test('lets each process stop by itself', () => {
    const graceOf = ({ stop_grace_period: text = '10s' }: Service) => durationMs(text);
    expect(faulty(running(), (service) => graceOf(service) >= 10_000)).toEqual([]);
    const stopSeconds = Number(production()['worker']?.environment?.['HOLDFAST_STOP_SECONDS']);
    expect(faulty(ours(demo()), (service) => graceOf(service) >= (stopSeconds + 15) * 1000)).toEqual([]);
  });

  test('publishes ports on loopback only, each once, and none of what is scaled or holds data', () => {
    const published = Object.values(demo()).flatMap(({ ports = [] }) => ports);
    expect(published.filter(({ host_ip: ip }) => ip !== '127.0.0.1')).toEqual([]);
    const numbers = published.map((port) => port.published);
    expect(new Set(numbers).size).toBe(numbers.length);
    for (const name of ['worker', 'postgres']) expect(demo()[name]?.ports ?? []).toEqual([]);
  });

  test('mounts only files that the repository has', () => {
    const sources = Object.values(demo())
      .flatMap(({ volumes = [] }) => volumes)
      .filter(({ type }) => type === 'bind')
      .map(({ source }) => source);
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.filter((source) => !existsSync(source))).toEqual([]);
  });

  test('names every image by an exact version, and Node the same in all stages', () => {
    const images = Object.values(demo())
      .filter(({ build }) => build === undefined)
      .map(({ image }) => image);
    expect(images.filter((image) => !/:\d+\.\d+(\.\d+)?$/.test(image))).toEqual([]);
    const bases = readFileSync(join(root, 'Dockerfile'), 'utf8').match(/^FROM node:\S+/gm) ?? [];
    expect(new Set(bases)).toEqual(new Set([expect.stringMatching(/^FROM node:\d+\.\d+\.\d+-bookworm-slim$/)]));
  });

  test.each([
    ['worker', 'worker'],
    ['webhook', 'webhook'],
    ['codec', 'codec server'],
    ['setup', 'setup'],
  ])('passes every variable that the %s reads', (service, reader) => {
    const read = VARIABLES.filter(({ readBy }) =>
      readBy.split(/, | and /).some((who) => who === reader || who.startsWith('all')),
    );
    const passed = Object.keys(production()[service]?.environment ?? {});
    const names = read.map(({ name }) => name).filter((name) => !NOT_PASSED.includes(name));
    expect(names.filter((name) => !passed.includes(name))).toEqual([]);
  });

  test('passes no variable that nobody knows', () => {
    const sandbox = readFileSync(join(root, 'sandbox', 'settings.ts'), 'utf8').match(/HOLDFAST_\w+/g) ?? [];
    const known = new Set([...VARIABLES.map(({ name }) => name), ...sandbox]);
    const passed = Object.values(demo()).flatMap(({ environment }) => Object.keys(environment ?? {}));
    expect(passed.filter((name) => name.startsWith('HOLDFAST_') && !known.has(name))).toEqual([]);
    expect(sandbox.filter((name) => !NOT_PASSED.includes(name) && !passed.includes(name))).toEqual([]);
  });

  test('gives the server the file of dynamic configuration that its image lacks, and the number of its shards', () => {
    const { configs = [], environment = {} } = production()['temporal'] ?? {};
    const [file] = configs.filter(({ target }) => target === environment['DYNAMIC_CONFIG_FILE_PATH']);
    const content = composeFile([], SECRETS).configs?.[file?.source ?? '']?.content ?? '';
    expect(
      Object.fromEntries([...content.matchAll(/^(\S+):\n {2}- value: (\d+)$/gm)].map(([, k, v]) => [k, v])),
    ).toEqual({
      'history.transferProcessorMaxPollRPS': '5000',
      'history.timerProcessorMaxPollRPS': '5000',
      'history.visibilityProcessorMaxPollRPS': '5000',
      'history.maxInFlightUpdates': '10',
      'history.maxTotalUpdates': '2000',
      'matching.maxVersionsInDeployment': '100',
    });
    expect(environment['NUM_HISTORY_SHARDS']).toBe('512');
    expect(demo()['temporal']?.environment?.['NUM_HISTORY_SHARDS']).toBe('4');
  });
});

test('whoever is told to start several workers is told to say how many there are: each would send all callsPerSecond', () => {
  const texts = ['docker-compose.yml', 'docs/production.md'].map((file) => readFileSync(join(root, file), 'utf8'));
  for (const text of texts) {
    const scaled = [...text.matchAll(/--scale worker=(\d+)/g)].map(([, count]) => count);
    const counted = [...text.matchAll(/HOLDFAST_WORKER_COUNT=(\d+)/g)].map(([, count]) => count);
    expect(scaled).not.toEqual([]);
    expect(counted).toEqual(scaled);
  }
});

function limitOf({ deploy }: Service, limit: 'memory' | 'cpus' | 'pids'): number {
  return Number(deploy?.resources.limits[limit] ?? 0);
}
