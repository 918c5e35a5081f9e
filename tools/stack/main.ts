import { mkdirSync, existsSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  ConfigError,
  loadCodecConfig,
  loadConfig,
  type CodecConfig,
  type Config,
  describe,
} from '../../src/config/index.js';
import type { DemoContext, RunDemo } from '../demo/context.js';
import { parseArguments, type StartArguments } from './arguments.js';
import type { Interruption } from './interruption.js';
import { childEnv, webhookEndpoint, temporalProfilePath } from './ready-process.js';
import { claimRunFile, removeRunFile } from './run-file.js';
import { readSettings, stateDirOf, type StackSettings, hostAndPort, urlOf, PORTS, type PortName } from './settings.js';
import { exitCodeOf, print, printError, serve } from './serve.js';
import { Stack } from './stack.js';
import { keepFormat } from './state-format.js';

export interface StartOptions {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  temporalPath: string;
}

const TEXTS = { onFault: 'everything is stopped', onKill: 'Killing what is left.' };

/** Runs `npm start` after set-up. Resolves with the exit code once everything has stopped. */
export async function startStack({ args, env, temporalPath }: StartOptions): Promise<number> {
  return await exitCodeOf(async () => {
    const wanted = parseArguments(args);
    const stateDir = stateDirOf(env);
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    // Must come first: it ends processes that an earlier stack left on the ports that are chosen next.
    const runFile = await claimRunFile(stateDir, print);
    try {
      keepFormat(stateDir, print);
      const settings = await readSettings(env, stateDir);
      const children = childEnv(settings, env);
      const { config, codecConfig } = readConfigs(children);
      for (const line of bannerLines(settings, [config, codecConfig])) print(line);
      for (const line of ignoredSettings(env)) print(line);
      const uiCapability = codecConfig.codecUiCapability;
      const stack = new Stack({
        settings,
        uiCapability,
        temporalPath,
        env: children,
        runFile,
        say: print,
        console: true,
      });
      return await serve(stack, TEXTS, async (interruption) => {
        const code = await run(stack, settings, wanted, interruption);
        if (interruption.signal.aborted) print('Stopping ...');
        return code;
      });
    } finally {
      removeRunFile(stateDir);
    }
  });
}

/** Reads the same configuration as the processes, so that every error is reported before anything is started. */
function readConfigs(env: NodeJS.ProcessEnv): { config: Config; codecConfig: CodecConfig } {
  const faults = new Set<string>();
  const read = <T>(load: (from: NodeJS.ProcessEnv) => T): T | undefined => {
    try {
      return load(env);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const fault of error.faults) faults.add(fault);
      return undefined;
    }
  };
  const config = read(loadConfig);
  const codecConfig = read(loadCodecConfig);
  if (config === undefined || codecConfig === undefined) throw new ConfigError([...faults]);
  return { config, codecConfig };
}

async function run(
  stack: Stack,
  settings: StackSettings,
  { demo, exit }: StartArguments,
  { requested, signal }: Interruption,
): Promise<number> {
  const whenInterrupted = exit ? 1 : 0;
  if (signal.aborted) return whenInterrupted;
  if (!demo) {
    print('ready');
  } else {
    const demoing = runDemo(stack, settings, signal);
    const problems = await Promise.race([demoing, requested.then(() => [])]);
    if (signal.aborted) return whenInterrupted;
    for (const problem of problems) printError(`Not as it should be: ${problem}`);
    if (exit) return problems.length === 0 ? 0 : 1;
    print('Everything keeps running. Stop it with Ctrl-C.');
  }
  if (exit) return 0;
  await requested;
  return 0;
}

/** Runs the guided demo against the stack. Returns one sentence for each flow with a wrong outcome. */
async function runDemo(stack: Stack, settings: StackSettings, signal: AbortSignal): Promise<readonly string[]> {
  const entry = new URL('../demo/index.js', import.meta.url);
  if (!existsSync(fileURLToPath(entry))) return ['there is no demo in this build (tools/demo/index.ts)'];
  const context: DemoContext = {
    temporal: {
      address: hostAndPort(settings, 'temporal'),
      namespace: settings.namespace,
      uiUrl: urlOf(settings, 'temporalUi'),
      cliPath: stack.temporalPath,
    },
    sandbox: { url: urlOf(settings, 'sandbox') },
    webhook: { url: urlOf(settings, 'webhook'), endpoint: webhookEndpoint(settings) },
    codec: { url: urlOf(settings, 'codec') },
    console: { url: urlOf(settings, 'console') },
    stateDir: settings.stateDir,
    env: stack.env,
    worker: { kill: () => stack.worker.kill(), start: () => stack.worker.start() },
    print,
    signal,
  };
  try {
    // Loaded only when needed, because it loads the whole client.
    const { runDemo: run } = (await import(entry.href)) as { runDemo: RunDemo };
    return (await run(context)).problems;
  } catch (error) {
    return [`the demo broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  }
}

const PATHS: Partial<Record<PortName, string>> = {
  webhook: '/webhooks',
  workerMetrics: '/metrics',
  webhookMetrics: '/metrics',
};

/** Every address and setting of the stack, with the variable that changes it. Secrets only as `set` or `not set`. */
function bannerLines(settings: StackSettings, configs: readonly (Config | CodecConfig)[]): string[] {
  const addresses = (Object.keys(PORTS) as PortName[]).map((name) => {
    const { port, preferred, replaced } = settings.ports[name];
    const address = name === 'temporal' ? hostAndPort(settings, name) : `${urlOf(settings, name)}${PATHS[name] ?? ''}`;
    const note = replaced ? ` (${preferred} is taken: using ${port})` : '';
    return `  ${PORTS[name].name.padEnd(16)}${address.padEnd(34)}${PORTS[name].setting}${note}`;
  });
  // The ports are listed above, with their purpose.
  const others = [...new Set(configs.flatMap(describe))].filter((line) => !/^HOLDFAST_\w+_PORT=/.test(line));
  return [
    ...addresses,
    ...others.map((line) => `  ${line}`),
    `  TEMPORAL_NAMESPACE=${settings.namespace}`,
    `  logs: ${shorten(settings.stateDir)}/logs, Temporal profile: ${shorten(temporalProfilePath(settings))}`,
  ];
}

/** Lists variables of the shell for another Temporal server, which the stack ignores. */
function ignoredSettings(env: NodeJS.ProcessEnv): string[] {
  const followed = ['TEMPORAL_NAMESPACE', 'TEMPORAL_CLI_PATH', 'TEMPORAL_TEST_SERVER_PATH'];
  const ignored = Object.keys(env).filter((name) => name.startsWith('TEMPORAL_') && !followed.includes(name));
  if (ignored.length === 0) return [];
  return [`  not used here, since this stack runs its own Temporal: ${ignored.sort().join(', ')}`];
}

function shorten(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}
