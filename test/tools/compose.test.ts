import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { codecSchema, configSchema, variableOf } from '../../src/config/schema.js';

interface ComposeFile {
  services: Record<
    string,
    {
      command: string[] | null;
      image: string;
      build?: unknown;
      environment?: Record<string, string>;
      ports?: { published: string; host_ip?: string }[];
      healthcheck?: unknown;
      configs?: { source: string; target: string }[];
    }
  >;
  configs?: Record<string, { content: string }>;
}

const root = resolve(import.meta.dirname, '../..');
const secrets = {
  HOLDFAST_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  HOLDFAST_CODEC_TOKEN: 'a'.repeat(64),
  HOLDFAST_CODEC_UI_CAPABILITY: 'b'.repeat(64),
};

const found = spawnSync(process.execPath, [join(root, 'tools', 'compose-path.mjs')], { encoding: 'utf8' });
const compose = found.status === 0 ? (JSON.parse(found.stdout) as string[]) : undefined;
if (compose === undefined) process.stderr.write(`docker-compose.yml is NOT checked, skipped: ${found.stderr}\n`);
const withCompose = compose === undefined ? describe.skip : describe;

function run(args: string[], env: NodeJS.ProcessEnv = secrets) {
  const [executable = '', ...first] = compose ?? [];
  const path = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  return spawnSync(executable, [...first, ...args], { cwd: root, encoding: 'utf8', env: { ...path, ...env } });
}

let read: ComposeFile | undefined;
function composeFile(): ComposeFile {
  read ??= JSON.parse(run(['config', '--format', 'json']).stdout) as ComposeFile;
  return read;
}
const services = (): ComposeFile['services'] => composeFile().services;

const settings = (schema: z.ZodObject): { name: string; readBy: string }[] =>
  Object.values(schema.shape).flatMap((inner) =>
    inner instanceof z.ZodObject ? settings(inner) : [variableOf(inner as z.core.$ZodType)],
  );
const VARIABLES = [...settings(configSchema), ...settings(codecSchema)];
/** Set by the image, or another way to say what is passed. */
const NOT_PASSED = ['HOLDFAST_STATE_DIR', 'HOLDFAST_EMBEDDED', 'HOLDFAST_BUSINESS_UNITS_FILE'];

withCompose('docker-compose.yml', () => {
  test('is valid for Compose v2', () => {
    const result = run(['config', '-q']);
    expect({ status: result.status, stderr: result.stderr }).toEqual({ status: 0, stderr: '' });
  });

  test.each(Object.keys(secrets))('refuses to start without %s, and names it', (name) => {
    const result = run(['config', '-q'], { ...secrets, [name]: '' });
    expect(result.status).not.toBe(0);
    expect(result.stderr).toContain(name);
  });

  test('starts each process of ours from a file that the build emits, with a health check', () => {
    const ours = Object.entries(services()).filter(([, service]) => service.build !== undefined);
    expect(ours.map(([name]) => name).sort()).toEqual(['codec', 'sandbox', 'webhook', 'worker']);
    for (const [name, service] of ours) {
      const [command, file = ''] = service.command ?? [];
      expect({ name, command }).toEqual({ name, command: 'node' });
      const source = file.replace(/^dist\//, '').replace(/\.js$/, '.ts');
      expect({ file, exists: file.startsWith('dist/') && existsSync(join(root, source)) }).toEqual({
        file,
        exists: true,
      });
      expect(service.healthcheck).toBeDefined();
    }
  });

  test('publishes ports on loopback only, and none for the worker, which is scaled', () => {
    const { worker, ...others } = services();
    expect(worker?.ports ?? []).toEqual([]);
    const published = Object.values(others).flatMap(({ ports }) => ports ?? []);
    expect(published.length).toBeGreaterThan(0);
    expect(published.filter(({ host_ip: ip }) => ip !== '127.0.0.1')).toEqual([]);
  });

  test('pins every image that is not built here to an exact version', () => {
    const images = Object.values(services())
      .filter(({ build }) => build === undefined)
      .map(({ image }) => image);
    expect(images.filter((image) => !/:\d+\.\d+(\.\d+)?$/.test(image))).toEqual([]);
  });

  test('passes the business units of the sandbox as valid JSON', () => {
    const units: unknown = JSON.parse(services()['worker']?.environment?.['HOLDFAST_BUSINESS_UNITS'] ?? '');
    expect(units).toMatchObject({ default: { appId: 'holdfast-sandbox' } });
  });

  test.each([
    ['worker', 'worker'],
    ['webhook', 'webhook'],
    ['codec', 'codec server'],
  ])('passes every variable that the %s reads, and none that nobody knows', (service, reader) => {
    const wanted = VARIABLES.filter(({ readBy }) =>
      readBy.split(/, | and /).some((who) => who === reader || who.startsWith('all')),
    );
    const passed = Object.keys(services()[service]?.environment ?? {}).filter((name) => name.startsWith('HOLDFAST_'));
    const names = wanted.map(({ name }) => name).filter((name) => !NOT_PASSED.includes(name));
    expect(names.filter((name) => !passed.includes(name))).toEqual([]);
    const known = VARIABLES.map(({ name }) => name);
    expect(passed.filter((name) => !known.includes(name))).toEqual([]);
  });

  test('gives the server the file of dynamic configuration that its image lacks, and the number of its shards', () => {
    const { configs = [], environment = {} } = services()['temporal'] ?? {};
    const [file] = configs.filter(({ target }) => target === environment['DYNAMIC_CONFIG_FILE_PATH']);
    const content = composeFile().configs?.[file?.source ?? '']?.content ?? '';
    expect(
      content
        .trim()
        .split('\n')
        .filter((line) => /^\S/.test(line)),
    ).toEqual([
      'history.transferProcessorMaxPollRPS:',
      'history.timerProcessorMaxPollRPS:',
      'history.visibilityProcessorMaxPollRPS:',
    ]);
    expect(Number(environment['NUM_HISTORY_SHARDS'])).toBeGreaterThan(0);
  });

  test('keeps closed flows for 365 days', () => {
    expect(services()['temporal-namespace']?.command?.join(' ')).toContain('--retention 8760h');
  });
});
