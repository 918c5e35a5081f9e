import { relative } from 'node:path';
import { type CodecConfig, type Config, describe } from '../../src/config/index.js';
import { temporalProfilePath } from './child-env.js';
import { hostAndPort, PORTS, urlOf, type PortName, type StackSettings } from './settings.js';

const PATHS: Partial<Record<PortName, string>> = {
  webhook: '/webhooks',
  workerMetrics: '/metrics',
  webhookMetrics: '/metrics',
};

/** Every address and setting of the stack, with the variable that changes it. Secrets only as `set` or `not set`. */
export function bannerLines(settings: StackSettings, configs: readonly (Config | CodecConfig)[]): string[] {
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
export function ignoredSettings(env: NodeJS.ProcessEnv): string[] {
  const followed = ['TEMPORAL_NAMESPACE', 'TEMPORAL_CLI_PATH', 'TEMPORAL_TEST_SERVER_PATH'];
  const ignored = Object.keys(env).filter((name) => name.startsWith('TEMPORAL_') && !followed.includes(name));
  if (ignored.length === 0) return [];
  return [`  not used here, since this stack runs its own Temporal: ${ignored.sort().join(', ')}`];
}

function shorten(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
}
