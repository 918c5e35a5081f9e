import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArguments, type StartArguments } from './arguments.js';
import { ConfigError, loadCodecConfig, loadConfig, type CodecConfig, type Config } from '../../src/config/index.js';
import { bannerLines, ignoredSettings } from './banner.js';
import { childEnv } from './child-env.js';
import { listenForInterruption, type Interruption } from './interruption.js';
import { runDemo } from './run-demo.js';
import { claimRunFile, removeRunFile } from './run-file.js';
import { readSettings, stateDirOf, type StackSettings } from './settings.js';
import { Stack } from './stack.js';

export interface StartOptions {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  temporalPath: string;
}

/** Errors whose message suffices: a stack trace would only hide it. By name, so that nothing is loaded early. */
const EXPLAINED = new Set([
  'ArgumentError',
  'BootError',
  'ConfigError',
  'NamespaceError',
  'StackRunningError',
  'StackSettingsError',
]);

const CTRL_C_MS = 250;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const printError = (line: string): void => void process.stderr.write(`${line}\n`);

/** Runs `npm start` after set-up. Resolves with the exit code once everything has stopped. */
export async function startStack({ args, env, temporalPath }: StartOptions): Promise<number> {
  try {
    const wanted = parseArguments(args);
    const stateDir = stateDirOf(env);
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    // Must come first: it ends processes that an earlier stack left on the ports that are chosen next.
    const runFile = await claimRunFile(stateDir, print);
    try {
      const settings = await readSettings(env, stateDir);
      const children = childEnv(settings, env);
      const { config, codecConfig } = readConfigs(children);
      for (const line of bannerLines(settings, [config, codecConfig])) print(line);
      for (const line of ignoredSettings(env)) print(line);
      const uiCapability = codecConfig.codecUiCapability;
      const stack = new Stack({ settings, uiCapability, temporalPath, env: children, runFile, say: print });
      return await serve(stack, settings, wanted);
    } finally {
      removeRunFile(stateDir);
    }
  } catch (error) {
    printError(explain(error));
    return 1;
  }
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

async function serve(stack: Stack, settings: StackSettings, wanted: StartArguments): Promise<number> {
  let faulty = false;
  const onFault = (error: unknown): void => {
    faulty = true;
    printError(`A fault that nothing caught; everything is stopped: ${explain(error)}`);
  };
  const insist = (): void => {
    printError('Killing what is left.');
    // A killed process takes a moment to end, and no process of the stack may outlive this one.
    void stack.killAll().finally(() => process.exit(1));
  };
  const interruption = listenForInterruption(insist, onFault);
  // Also after an uncaught error, because no process of the stack may outlive this one.
  process.once('exit', () => stack.killNow());
  try {
    const code = await bootAndRun(stack, settings, wanted, interruption);
    if (interruption.signal.aborted) print('Stopping ...');
    return faulty ? 1 : code;
  } finally {
    await stack.stop();
  }
}

async function bootAndRun(
  stack: Stack,
  settings: StackSettings,
  { demo, exit }: StartArguments,
  { requested, signal }: Interruption,
): Promise<number> {
  const whenInterrupted = exit ? 1 : 0;
  const booting = stack.boot();
  try {
    await Promise.race([booting, requested]);
  } catch (error) {
    // Ctrl-C goes to the whole group and may reach the children first. The boot has not failed then.
    await Promise.race([requested, sleep(CTRL_C_MS)]);
    if (!signal.aborted) throw error;
  }
  // The boot fails once the stack is stopped. That error is expected.
  booting.catch(() => undefined);
  if (signal.aborted) return whenInterrupted;
  if (!demo) {
    print('ready');
  } else {
    const demoing = runDemo(stack, settings, signal, print);
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

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return EXPLAINED.has(error.name) ? error.message : (error.stack ?? error.message);
}
