import { resolve } from 'node:path';
import { choosePorts, portSetting, type ChosenPort } from './ports.js';

export const PORTS = {
  temporal: { name: 'Temporal', setting: 'HOLDFAST_TEMPORAL_PORT', preferred: 7233 },
  temporalUi: { name: 'Temporal UI', setting: 'HOLDFAST_TEMPORAL_UI_PORT', preferred: 8233 },
  sandbox: { name: 'sandbox', setting: 'HOLDFAST_SANDBOX_PORT', preferred: 4010 },
  webhook: { name: 'webhook handler', setting: 'HOLDFAST_WEBHOOK_PORT', preferred: 4020 },
  codec: { name: 'codec server', setting: 'HOLDFAST_CODEC_PORT', preferred: 4030 },
  console: { name: 'console', setting: 'HOLDFAST_CONSOLE_PORT', preferred: 4040 },
  workerMetrics: { name: 'worker metrics', setting: 'HOLDFAST_WORKER_METRICS_PORT', preferred: 9464 },
  webhookMetrics: { name: 'webhook metrics', setting: 'HOLDFAST_WEBHOOK_METRICS_PORT', preferred: 9465 },
} as const;
export type PortName = keyof typeof PORTS;

export const LOOPBACK = '127.0.0.1';
/** Listens on loopback, whatever the bind address is: who can call it can move the sandbox's money. */
const ON_LOOPBACK_ONLY: readonly PortName[] = ['console'];

export interface StackSettings {
  stateDir: string;
  /** Address that the processes listen on. */
  bindAddress: string;
  /** Host under which this machine reaches them: loopback if they listen on every address. */
  host: string;
  namespace: string;
  ports: Readonly<Record<PortName, ChosenPort>>;
}

/** Every invalid setting of the stack, one per line. */
export class StackSettingsError extends Error {
  override readonly name = 'StackSettingsError';
}

/** Absolute path of the folder with all state of a stack. */
export function stateDirOf(env: NodeJS.ProcessEnv): string {
  return resolve(env['HOLDFAST_STATE_DIR'] || '.holdfast');
}

/**
 * Reads the stack's settings and chooses the ports.
 * @throws StackSettingsError that lists every invalid setting
 */
export async function readSettings(env: NodeJS.ProcessEnv, stateDir: string): Promise<StackSettings> {
  const names = Object.keys(PORTS) as PortName[];
  const wanted = names.map((name) => ({ name, port: portSetting(env, PORTS[name].setting, PORTS[name].preferred) }));
  const faults = wanted.flatMap(({ port }) => (typeof port === 'number' ? [] : [port.fault]));
  if (faults.length > 0) throw new StackSettingsError(faults.join('\n'));
  const bindAddress = env['HOLDFAST_BIND_ADDRESS'] || LOOPBACK;
  const specs = wanted.map(({ name, port }) => ({
    ...PORTS[name],
    preferred: port as number,
    ...(ON_LOOPBACK_ONLY.includes(name) && { ip: LOOPBACK }),
  }));
  const chosen = await choosePorts(specs, bindAddress);
  return {
    stateDir,
    bindAddress,
    host: bindAddress === '0.0.0.0' || bindAddress === '::' ? LOOPBACK : bindAddress,
    namespace: env['TEMPORAL_NAMESPACE'] || 'default',
    ports: Object.fromEntries(names.map((name, index) => [name, chosen[index]])) as Record<PortName, ChosenPort>,
  };
}

/** `http://host:port` of one of the stack's servers. */
export function urlOf(settings: StackSettings, name: PortName): string {
  return `http://${hostAndPort(settings, name)}`;
}

export function hostAndPort(settings: StackSettings, name: PortName): string {
  const named = ON_LOOPBACK_ONLY.includes(name) ? LOOPBACK : settings.host;
  const host = named.includes(':') ? `[${named}]` : named;
  return `${host}:${settings.ports[name].port}`;
}
