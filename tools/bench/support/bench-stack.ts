import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { SandboxControl } from '../../../sandbox/control.js';
import { HoldfastClient } from '../../../src/client/holdfast-client.js';
import { createDataConverter } from '../../../src/security/data-converter.js';
import { parseKeyRing } from '../../../src/security/key-ring.js';
import { startDevServer } from '../../stack/dev-server.js';
import { PROGRAMS, startReadyProcess, type ReadyProcess } from '../../stack/ready-process.js';
import { environmentOf } from '../../stack/services.js';
import { startFront, type Handle } from './front.js';

export interface BenchStack {
  readonly sandbox: SandboxControl;
  readonly sandboxUrl: string;
  /** Process ids, for what they cost. */
  readonly pids: { readonly temporal: number; readonly sandbox: number };
  /** Starts a file of `dist/` with the stack's addresses and keys in its environment. */
  start(file: string, options?: ProgramOptions): Promise<ReadyProcess>;
  /** Puts an address in front of the sandbox. Returns its URL. */
  front(handle: Handle): Promise<string>;
  /** @param namespace default: the first one */
  connect(namespace?: string): Promise<{ temporal: Client; holdfast: HoldfastClient }>;
  stop(): Promise<void>;
}

interface ProgramOptions {
  /** Default: the first one. */
  namespace?: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

export const SERVER_SETTINGS = ['as shipped', 'faster readers', 'as npm start has it'] as const;
export type ServerSettings = (typeof SERVER_SETTINGS)[number];

/** A stack on a dev server of its own. */
export async function startBenchStack(
  namespaces: Namespaces,
  settings: ServerSettings = 'as npm start has it',
): Promise<BenchStack> {
  return await startBenchStackOn(namespaces, (folder) =>
    startDevServer({
      executable: process.env['TEMPORAL_CLI_PATH'] ?? 'temporal',
      folder,
      namespaces,
      adjust: (args) => withSettings(args, settings),
    }),
  );
}

type Namespaces = readonly [string, ...string[]];

interface Server {
  readonly address: string;
  pid(): number;
  kill(): Promise<void>;
}

/**
 * Starts one Temporal server and one sandbox on free ports, with a key of their own. Their data is deleted afterwards.
 * @param startServer with these namespaces; it may use the folder
 */
export async function startBenchStackOn(
  namespaces: Namespaces,
  startServer: (folder: string) => Promise<Server>,
): Promise<BenchStack> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const keys = `bench:${randomBytes(32).toString('base64')}`;
  const temporal = await startServer(folder);
  const { address } = temporal;
  const started: ReadyProcess[] = [];
  const closing: (() => void | Promise<void>)[] = [];
  const own = { ...process.env, HOLDFAST_STATE_DIR: folder, HOLDFAST_ENCRYPTION_KEYS: keys };
  const start = async (file: string, { namespace = namespaces[0], args = [], env = {} }: ProgramOptions = {}) => {
    const usual = environmentOf({ engine: { address, namespace }, stateDir: folder, env: own });
    const one = await startReadyProcess(`dist/${file}`, { args, env: { ...usual, ...env }, showErrors: true });
    started.push(one);
    return one;
  };
  const { url: sandboxUrl, process: sandbox } = await start(PROGRAMS.sandbox);
  return {
    sandbox: new SandboxControl(sandboxUrl),
    sandboxUrl,
    pids: { temporal: temporal.pid(), sandbox: sandbox.pid ?? 0 },
    start: (file, options) => start(file, { ...options, env: { HOLDFAST_API_BASE_URL: sandboxUrl, ...options?.env } }),
    async front(handle) {
      const front = await startFront(sandboxUrl, handle);
      closing.push(() => front.close());
      return front.url;
    },
    async connect(namespace = namespaces[0]) {
      const connection = await Connection.connect({ address });
      closing.push(() => connection.close());
      const client = new Client({ connection, namespace, dataConverter: createDataConverter(parseKeyRing(keys)) });
      return { temporal: client, holdfast: new HoldfastClient(client) };
    },
    async stop() {
      for (const close of closing) await close();
      await Promise.all([temporal, ...started].map((one) => one.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Removes the arguments by which `npm start` differs from the given settings. */
function withSettings(args: readonly string[], settings: ServerSettings): string[] {
  const dropped: readonly string[] = {
    'as shipped': ['--sqlite-pragma', '--dynamic-config-value'],
    'faster readers': ['--sqlite-pragma'],
    'as npm start has it': [],
  }[settings];
  return args.filter((arg, i) => !dropped.includes(arg) && !dropped.includes(args[i - 1] ?? ''));
}
