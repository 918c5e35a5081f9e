import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { withoutProxyFor } from '../../src/client/proxy.js';
import { within, withParentDeathSignal } from './interruption.js';
import { hostAndPort, PORTS, urlOf, type PortName, type StackSettings } from './settings.js';

/** Tests run this file from the sources, everything else from `dist/`. */
const ROOT = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../..' : '../../..', import.meta.url));
/** Entry files of Holdfast's own processes, below `dist/`. */
export const PROGRAMS = {
  sandbox: 'sandbox/main.js',
  worker: 'workers/worker.js',
  webhook: 'workers/webhook.js',
  codec: 'workers/codec.js',
  console: 'tools/console/main.js',
} as const;
export type ProgramName = keyof typeof PROGRAMS;

/** Long, because a busy machine is slow. A broken process ends at once anyway. */
const READY_WITHIN_MS = 90_000;
const KEPT_CHARACTERS = 200_000;
const TOLD_CHARACTERS = 3_000;

/** A process that has printed its URL. It is not restarted; see `SupervisedProcess` for that. */
export interface ReadyProcess {
  readonly url: string;
  readonly process: ChildProcess;
  /** The end of its stderr: JSON log lines. */
  logs(): string;
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
  /** Sends SIGTERM, then SIGKILL after `limitMs` if given. Resolves with the exit code. */
  stop(limitMs?: number): Promise<number | null>;
}

export interface StartOptions {
  args?: readonly string[];
  /** Its whole environment, except PATH and HOME. */
  env: NodeJS.ProcessEnv;
  /** Aborting it sends SIGTERM. */
  signal?: AbortSignal;
  /** Also prints its stderr here. */
  showErrors?: boolean;
}

/**
 * Starts a file, given relative to the project root, and waits for its line `ready <name> <url>`. On Linux it ends no
 * later than this process.
 * @throws Error with the output of the process if it ends or is not ready in time
 */
export async function startReadyProcess(
  file: string,
  { args = [], env, signal, showErrors = false }: StartOptions,
): Promise<ReadyProcess> {
  signal?.throwIfAborted();
  const { command, args: all } = withParentDeathSignal(process.execPath, [file, ...args]);
  const { PATH, HOME } = process.env;
  const child = spawn(command, all, {
    cwd: ROOT,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stdout = child.stdout as Readable;
  const stderr = child.stderr as Readable;
  let logs = '';
  stderr.setEncoding('utf8').on('data', (text: string) => (logs = (logs + text).slice(-KEPT_CHARACTERS)));
  // No pipe: each would listen to this process's stderr, which takes more than ten for a leak.
  if (showErrors) stderr.on('data', (text: string) => process.stderr.write(text));
  const gone = new Promise<number | null>((resolve, reject) => {
    child.once('exit', resolve);
    child.once('error', reject);
  });
  const askToStop = (): void => void child.kill('SIGTERM');
  signal?.addEventListener('abort', askToStop, { once: true });
  const forget = (): void => signal?.removeEventListener('abort', askToStop);
  gone.then(forget, forget);
  const failed = (why: string): Error => new Error(`${file} ${why}:\n${logs.slice(-TOLD_CHARACTERS)}`);
  const ready = new Promise<string>((resolve, reject) => {
    createInterface({ input: stdout }).on('line', (line) => {
      const url = /^ready \S+ (\S+)$/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
    gone.then(
      (code) => reject(failed(`ended with ${code ?? child.signalCode}`)),
      ({ message }: Error) => reject(failed(`could not be started (${message})`)),
    );
  });
  const end = async (by: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(by);
    return await gone;
  };
  let url: string;
  try {
    url = await within(ready, READY_WITHIN_MS, () => failed('was not ready in time'));
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return {
    url,
    process: child,
    logs: () => logs,
    kill: async () => void (await end('SIGKILL')),
    async stop(limitMs) {
      const timer = limitMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), limitMs);
      const code = await end('SIGTERM');
      clearTimeout(timer);
      return code;
    },
  };
}

/** Path of the Temporal profile file with which the children, and any other Temporal tool, reach this stack. */
export function temporalProfilePath(settings: StackSettings): string {
  return join(settings.stateDir, 'temporal.toml');
}

/** The webhook endpoint that the sandbox delivers to. */
export function webhookEndpoint(settings: StackSettings): string {
  return `${urlOf(settings, 'webhook')}/webhooks`;
}

/**
 * Removes the shell's variables for another Temporal server: the embedded stack must never use a production namespace.
 */
export function withoutTemporalSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

/**
 * Environment of the stack's own processes. In embedded mode they read keys from files of the state folder, and use the
 * sandbox and its business units unless the environment names others.
 */
export function childEnv(settings: StackSettings, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ports = Object.fromEntries(
    (Object.keys(PORTS) as PortName[]).map((name) => [PORTS[name].setting, String(settings.ports[name].port)]),
  );
  return {
    ...withoutTemporalSettings(env),
    ...ports,
    ...withoutProxyFor(settings.host, env),
    HOLDFAST_EMBEDDED: '1',
    HOLDFAST_BIND_ADDRESS: settings.bindAddress,
    HOLDFAST_STATE_DIR: settings.stateDir,
    HOLDFAST_API_BASE_URL: env['HOLDFAST_API_BASE_URL'] || urlOf(settings, 'sandbox'),
    HOLDFAST_SANDBOX_WEBHOOK_URL: env['HOLDFAST_SANDBOX_WEBHOOK_URL'] || webhookEndpoint(settings),
    HOLDFAST_UI_ORIGINS: env['HOLDFAST_UI_ORIGINS'] || uiOrigins(settings),
    TEMPORAL_ADDRESS: hostAndPort(settings, 'temporal'),
    TEMPORAL_NAMESPACE: settings.namespace,
    TEMPORAL_CONFIG_FILE: temporalProfilePath(settings),
  };
}

/** The user may have opened Temporal UI under either host name. */
function uiOrigins(settings: StackSettings): string {
  const { port } = settings.ports.temporalUi;
  return [...new Set([urlOf(settings, 'temporalUi'), `http://localhost:${port}`])].join(',');
}

/** A profile file for other Temporal tools. It also keeps the user's own profile out of the children. */
export function temporalProfile(settings: StackSettings): string {
  return [
    '# Written by npm start.',
    '[profile.default]',
    `address = "${hostAndPort(settings, 'temporal')}"`,
    `namespace = "${settings.namespace}"`,
    '',
  ].join('\n');
}
