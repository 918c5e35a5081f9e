import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDevServer } from '../../stack/dev-server.js';
import { startReadyProcess, type ReadyProcess, type StartOptions } from '../../stack/ready-process.js';

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
  /** Default: the settings of `npm start`. */
  settings?: ServerSettings;
}

/** Starts one dev server and one sandbox on free ports. Their data is deleted afterwards. */
export async function startBenchStack(options: BenchStackOptions): Promise<BenchStack> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const started: ReadyProcess[] = [];
  const start = async (file: string, { env, ...more }: StartOptions): Promise<ReadyProcess> => {
    const one = await startReadyProcess(file, { ...more, env: { ...process.env, ...env }, showErrors: true });
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

  const { url: sandboxUrl } = await start('dist/sandbox/main.js', {
    env: { HOLDFAST_STATE_DIR: folder, HOLDFAST_SANDBOX_PORT: '0', HOLDFAST_LOG_LEVEL: 'warn' },
  });
  return {
    address,
    sandboxUrl,
    async startWorker(variant, env = {}) {
      const worker = await start('dist/tools/bench/charge/worker.js', {
        args: [variant],
        messages: true,
        env: {
          TEMPORAL_ADDRESS: address,
          TEMPORAL_NAMESPACE: variant,
          HOLDFAST_API_BASE_URL: sandboxUrl,
          HOLDFAST_ENCRYPTION_KEYS: options.keys,
          ...env,
        },
      });
      return {
        rss: () =>
          new Promise((resolve) => {
            worker.process.once('message', (rss) => resolve(Number(rss)));
            worker.process.send('rss');
          }),
      };
    },
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
