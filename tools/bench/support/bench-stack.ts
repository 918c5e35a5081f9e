import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { devServerArgs } from '../../stack/dev-server-args.js';
import { freePort } from '../../stack/ports.js';
import { connectWhenReady } from '../../stack/temporal-ready.js';
import { SEARCH_ATTRIBUTES } from '../../../src/contract/search-attributes.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

export interface BenchStack {
  address: string;
  sandboxUrl: string;
  startWorker(variant: string, env?: Readonly<Record<string, string>>): Promise<{ rss(): Promise<number> }>;
  stop(): Promise<void>;
}

export const SERVER_SETTINGS = ['as shipped', 'faster readers', 'as npm start has it'] as const;
export type ServerSettings = (typeof SERVER_SETTINGS)[number];

export interface BenchStackOptions {
  namespaces: readonly string[];
  keys: string;
  /** Default: those of `npm start`. */
  settings?: ServerSettings;
}

/** One dev server and one sandbox, both on free ports, data thrown away after. */
export async function startBenchStack(options: BenchStackOptions): Promise<BenchStack> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const children: ChildProcess[] = [];
  const start = (command: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess => {
    const child = spawn(command, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    children.push(child);
    return child;
  };

  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const databasePath = join(folder, 'temporal.db');
  const { namespaces } = options;
  const cli = process.env['TEMPORAL_CLI_PATH'] ?? 'temporal';
  start(
    cli,
    withSettings(
      devServerArgs({ ip: '127.0.0.1', port, databasePath, namespaces, searchAttributes: SEARCH_ATTRIBUTES }),
      options.settings ?? 'as npm start has it',
    ),
    {},
  );
  const connection = await connectWhenReady(address, namespaces.at(-1) ?? 'default', () => undefined);
  await connection.close();

  const sandboxUrl = await ready(
    start(process.execPath, ['dist/sandbox/main.js'], {
      HOLDFAST_STATE_DIR: folder,
      HOLDFAST_SANDBOX_PORT: '0',
      HOLDFAST_LOG_LEVEL: 'warn',
    }),
  );
  return {
    address,
    sandboxUrl,
    async startWorker(variant, env = {}) {
      const child = start(process.execPath, ['dist/tools/bench/charge/worker.js', variant], {
        TEMPORAL_ADDRESS: address,
        TEMPORAL_NAMESPACE: variant,
        HOLDFAST_API_BASE_URL: sandboxUrl,
        HOLDFAST_ENCRYPTION_KEYS: options.keys,
        ...env,
      });
      await ready(child);
      return {
        rss: () =>
          new Promise((resolve) => {
            child.once('message', (rss) => resolve(Number(rss)));
            child.send('rss');
          }),
      };
    },
    async stop() {
      await Promise.all(
        children.map(
          (child) =>
            new Promise<void>((resolve) => {
              if (child.exitCode !== null || child.signalCode !== null) return resolve();
              child.once('exit', () => resolve());
              child.kill('SIGKILL');
            }),
        ),
      );
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The same server without what `npm start` has changed. */
function withSettings(args: readonly string[], settings: ServerSettings): string[] {
  const dropped: readonly string[] = {
    'as shipped': ['--sqlite-pragma', '--dynamic-config-value'],
    'faster readers': ['--sqlite-pragma'],
    'as npm start has it': [],
  }[settings];
  return args.filter((arg, i) => !dropped.includes(arg) && !dropped.includes(args[i - 1] ?? ''));
}

/** The address in a child's `ready` line. */
function ready(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      const url = /^ready \S+ (\S+)$/m.exec(out)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', (code) => reject(new Error(`a process of the benchmark ended with ${code}`)));
  });
}
