import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { withParentDeathSignal } from '../../stack/interruption.js';
import { freePort } from '../../stack/ports.js';

export const USER = 'holdfast';
/** Long enough to be masked in logs. */
export const PASSWORD = 'a-password-of-tests-only';
/** ms. */
const STARTS_WITHIN = 60_000;
/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;

/** Where Debian and others install PostgreSQL's programs. */
function programs(): string | undefined {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const folders = [
    ...(process.env['PATH'] ?? '').split(':'),
    ...versions.sort((a, b) => Number(b) - Number(a)).map((version) => `/usr/lib/postgresql/${version}/bin`),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

/** Why PostgreSQL can't be started here; undefined if it can. */
export function whyNoPostgres(): string | undefined {
  return programs() === undefined ? 'PostgreSQL (initdb, postgres) is not installed here' : undefined;
}

/** A PostgreSQL server in a temporary folder, for tests and benchmarks. It syncs as in production. */
export class LocalPostgres {
  #process: ChildProcess | undefined;

  private constructor(
    readonly folder: string,
    readonly port: number,
  ) {}

  static async start(): Promise<LocalPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'));
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, PASSWORD);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) for (const path of [folder, passwordFile]) chownSync(path, NOBODY, NOBODY);
    const server = new LocalPostgres(folder, await freePort());
    const auth = ['-U', USER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
    const made = spawnSync(join(programs() ?? '', 'initdb'), ['-D', server.#data, ...auth], server.#asUser());
    if (made.status !== 0) throw new Error(`initdb failed: ${String(made.stderr)}`);
    await server.run();
    return server;
  }

  get #data(): string {
    return join(this.folder, 'data');
  }

  /** Process id of the server, whose children do its work. It changes with each start. */
  pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** @param database `postgres` exists from the start */
  url(database = 'postgres'): string {
    return `postgres://${USER}:${PASSWORD}@127.0.0.1:${this.port}/${database}`;
  }

  /** Starts it again after a stop. */
  async run(): Promise<void> {
    const where = ['-D', this.#data, '-h', '127.0.0.1', '-p', String(this.port), '-k', ''];
    const { command, args } = withParentDeathSignal(join(programs() ?? '', 'postgres'), where);
    this.#process = spawn(command, args, { ...this.#asUser(), stdio: 'ignore' });
    const limit = Date.now() + STARTS_WITHIN;
    for (;;) {
      const failed = await this.query('SELECT 1').then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failed === undefined) return;
      if (Date.now() > limit) throw new Error('PostgreSQL does not start', { cause: failed });
      await sleep(50);
    }
  }

  async query(text: string, database?: string): Promise<pg.QueryResultRow[]> {
    const client = new pg.Client({ connectionString: this.url(database), connectionTimeoutMillis: 2_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<pg.QueryResultRow>(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** @param signal `SIGINT` ends it in order, `SIGQUIT` as a crash does */
  async stop(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const server = this.#process;
    this.#process = undefined;
    if (server === undefined || server.exitCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await ended;
  }

  async close(): Promise<void> {
    await this.stop('SIGQUIT');
    rmSync(this.folder, { recursive: true, force: true });
  }

  #asUser() {
    return {
      cwd: this.folder,
      ...(process.getuid?.() === 0 && { uid: NOBODY, gid: NOBODY }),
    };
  }
}
