import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

/** A service as `docker compose config --format json` prints it, as far as tests look. */
export interface Service {
  command: string[] | null;
  image: string;
  build?: { target?: string };
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  ports?: { published: string; host_ip?: string }[];
  volumes?: { type: string; source: string }[];
  healthcheck?: { test: string[] };
  configs?: { source: string; target: string }[];
  restart?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  user?: string;
  ulimits?: { core?: object };
  logging?: { options?: Record<string, string> };
  stop_grace_period?: string;
  deploy?: { resources: { limits: { memory?: string; cpus?: number; pids?: number } } };
}

interface ComposeFile {
  services: Record<string, Service>;
  configs?: Record<string, { content: string }>;
}

export const root = resolve(import.meta.dirname, '../..');

/** What production must be given. */
export const SECRETS = {
  HOLDFAST_ENVIRONMENT: 'live',
  HOLDFAST_API_BASE_URL: 'https://payments.example.com',
  HOLDFAST_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  HOLDFAST_CODEC_TOKEN: 'a'.repeat(64),
  HOLDFAST_CODEC_UI_CAPABILITY: 'b'.repeat(64),
  POSTGRES_PASSWORD: 'c'.repeat(64),
};

const found = spawnSync(process.execPath, [join(root, 'tools', 'compose-path.mjs')], { encoding: 'utf8' });
/** The command that runs Docker Compose v2; undefined where there is none. */
export const compose = found.status === 0 ? (JSON.parse(found.stdout) as string[]) : undefined;

export function runCompose(args: readonly string[], env: Record<string, string>) {
  const [executable = '', ...first] = compose ?? [];
  const path = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  return spawnSync(executable, [...first, ...args], { cwd: root, encoding: 'utf8', env: { ...path, ...env } });
}

const read = new Map<string, ComposeFile>();

/** The file with everything resolved. Each is read once. */
export function composeFile(options: readonly string[], env: Record<string, string>): ComposeFile {
  const key = JSON.stringify([options, env]);
  const known = read.get(key);
  if (known !== undefined) return known;
  const { status, stdout, stderr } = runCompose([...options, 'config', '--format', 'json'], env);
  if (status !== 0 || stderr !== '') throw new Error(`docker compose config ended with ${status}: ${stderr}`);
  const file = JSON.parse(stdout) as ComposeFile;
  read.set(key, file);
  return file;
}

/** `1m20s` in ms. */
export function durationMs(text: string): number {
  const unit: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000 };
  return [...text.matchAll(/(\d+)([hms])/g)].reduce((sum, [, n, u = '']) => sum + Number(n) * (unit[u] ?? 0), 0);
}
