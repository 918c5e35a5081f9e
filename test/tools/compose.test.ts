import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

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
    }
  >;
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
function services(): ComposeFile['services'] {
  read ??= JSON.parse(run(['config', '--format', 'json']).stdout) as ComposeFile;
  return read.services;
}

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

  test('keeps closed flows for 365 days', () => {
    expect(services()['temporal-namespace']?.command?.join(' ')).toContain('--retention 8760h');
  });
});
