import { randomBytes } from 'node:crypto';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { connectWhenReady } from '../../stack/dev-server.js';
import { withParentDeathSignal } from '../../stack/interruption.js';
import { prepareNamespace } from '../../stack/namespace.js';
import { type LocalPostgres, PASSWORD, USER } from './postgres.js';

/** The server that docker-compose.yml runs. */
const VERSION = '1.31.0';
const MODULE = `go.temporal.io/server@v${VERSION}`;
const PROGRAMS = { 'temporal-server': './cmd/server', 'temporal-sql-tool': './cmd/tools/sql' };
/** As in deploy/demo.env. */
const SHARDS = 4;
const STARTS_WITHIN = 120_000;
/** As in docker-compose.yml: a step of a flow then takes milliseconds. */
const FASTER_READERS = ['transfer', 'timer', 'visibility']
  .map((queue) => `history.${queue}ProcessorMaxPollRPS:\n  - value: 5000\n`)
  .join('');

export interface TemporalOnPostgres {
  readonly address: string;
  pid(): number;
  /** SIGKILL. Resolves when the process is gone. */
  kill(): Promise<void>;
}

/** Why the server can't be had here; undefined if it can. */
export function whyNoServer(): string | undefined {
  if (existsSync(binary('temporal-server'))) return undefined;
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return `there is neither ${binary('temporal-server')} nor Go to build it`;
  }
}

const binary = (name: string): string => join(homedir(), '.cache', 'holdfast', 'rig', `temporal-${VERSION}`, name);

/**
 * Temporal's own server over a PostgreSQL without databases of its own yet, built from its Go module where that was not
 * done before.
 */
export async function startTemporalOn(
  postgres: LocalPostgres,
  namespaces: readonly string[],
  shards = SHARDS,
): Promise<TemporalOnPostgres> {
  const { Dir: module } = JSON.parse(
    String(execFileSync('go', ['mod', 'download', '-json', MODULE], { cwd: '/' })),
  ) as {
    Dir: string;
  };
  for (const [name, path] of Object.entries(PROGRAMS)) {
    if (existsSync(binary(name))) continue;
    console.log(`Building ${name} (once, some minutes) ...`);
    mkdirSync(join(binary(name), '..'), { recursive: true });
    const env = { ...process.env, CGO_ENABLED: '0' };
    execFileSync('go', ['build', '-trimpath', '-o', binary(name), path], { cwd: module, env, stdio: 'inherit' });
  }
  makeDatabases(postgres, join(module, 'schema/postgresql/v12'));
  // An address of its own: the server has eight ports, and its database keeps some of them as 16-bit numbers.
  const ip = `127.${[...randomBytes(3)].map((byte) => 1 + (byte % 254)).join('.')}`;
  const dynamic = join(postgres.folder, 'dynamic-config.yaml');
  writeFileSync(dynamic, FASTER_READERS);
  const logPath = join(postgres.folder, 'temporal.log');
  const log = openSync(logPath, 'a');
  const { command, args } = withParentDeathSignal(binary('temporal-server'), ['start']);
  const server = spawn(command, args, {
    env: {
      PATH: process.env['PATH'],
      DB: 'postgres12',
      DB_PORT: String(postgres.port),
      POSTGRES_SEEDS: '127.0.0.1',
      POSTGRES_USER: USER,
      POSTGRES_PWD: PASSWORD,
      NUM_HISTORY_SHARDS: String(shards),
      BIND_ON_IP: ip,
      DYNAMIC_CONFIG_FILE_PATH: dynamic,
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', log, log],
  });
  const address = `${ip}:7233`;
  await makeNamespaces(address, namespaces, () => {
    if (server.exitCode !== null)
      throw new Error(`Temporal did not start:\n${readFileSync(logPath, 'utf8').slice(-2_000)}`);
  });
  return {
    address,
    pid: () => server.pid ?? 0,
    async kill() {
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
    },
  };
}

function makeDatabases(postgres: LocalPostgres, schemas: string): void {
  for (const database of ['temporal', 'temporal_visibility']) {
    const login = ['--ep', '127.0.0.1', '-p', String(postgres.port), '-u', USER, '--pw', PASSWORD, '--db', database];
    const tool = (...args: string[]): void =>
      void execFileSync(binary('temporal-sql-tool'), ['--plugin', 'postgres12', ...login, ...args], { stdio: 'pipe' });
    const folder = join(schemas, database.replace('temporal_', ''), 'versioned');
    tool('create');
    tool('setup-schema', '-v', '0.0');
    tool('update-schema', '-d', folder);
  }
}

async function makeNamespaces(address: string, namespaces: readonly string[], stop: () => void): Promise<void> {
  const connection = await connectWhenReady(address, 'temporal-system', stop, STARTS_WITHIN);
  for (const namespace of namespaces) await prepareNamespace(connection, namespace);
  await connection.close();
  for (const namespace of namespaces) await (await connectWhenReady(address, namespace, stop, STARTS_WITHIN)).close();
}
