import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDevServer } from '../../stack/dev-server.js';
import { startReadyProcess, type ReadyProcess } from '../../stack/ready-process.js';

export interface BenchStack {
  readonly address: string;
  readonly sandboxUrl: string;
  /** Process ids, for what they cost. */
  readonly pids: { readonly temporal: number; readonly sandbox: number };
  /** Starts a file of `dist/` with the stack's addresses in its environment. */
  start(file: string, namespace: string, options?: ProgramOptions): Promise<ReadyProcess>;
  stop(): Promise<void>;
}

interface ProgramOptions {
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

export const SERVER_SETTINGS = ['as shipped', 'faster readers', 'as npm start has it'] as const;
export type ServerSettings = (typeof SERVER_SETTINGS)[number];

export interface BenchStackOptions {
  namespaces: readonly string[];
  keys: string;
  /** Default: the settings of `npm start`. */
  settings?: ServerSettings;
}

/** Starts one dev server and one sandbox on free ports. Their data is deleted afterwards. */
export async function startBenchStack(options: BenchStackOptions): Promise<BenchStack> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const started: ReadyProcess[] = [];
  const start = async (file: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<ReadyProcess> => {
    const one = await startReadyProcess(`dist/${file}`, { args, env: { ...process.env, ...env }, showErrors: true });
    started.push(one);
    return one;
  };

  const { settings = 'as npm start has it' } = options;
  const temporal = await startDevServer({
    executable: process.env['TEMPORAL_CLI_PATH'] ?? 'temporal',
    folder,
    namespaces: options.namespaces,
    adjust: (args) => withSettings(args, settings),
  });
  const { address } = temporal;

  const own = { HOLDFAST_STATE_DIR: folder, HOLDFAST_LOG_LEVEL: 'warn' };
  const sandbox = await start('sandbox/main.js', [], { ...own, HOLDFAST_SANDBOX_PORT: '0' });
  return {
    address,
    sandboxUrl: sandbox.url,
    pids: { temporal: temporal.pid(), sandbox: sandbox.process.pid ?? 0 },
    start: (file, namespace, { args = [], env = {} } = {}) =>
      start(file, args, {
        ...own,
        TEMPORAL_ADDRESS: address,
        TEMPORAL_NAMESPACE: namespace,
        HOLDFAST_API_BASE_URL: sandbox.url,
        HOLDFAST_ENCRYPTION_KEYS: options.keys,
        HOLDFAST_WEBHOOK_PORT: '0',
        HOLDFAST_WEBHOOK_METRICS_PORT: '0',
        HOLDFAST_WORKER_METRICS_PORT: '0',
        ...env,
      }),
    async stop() {
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
