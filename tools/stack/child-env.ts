import { join } from 'node:path';
import { hostAndPort, PORTS, urlOf, type PortName, type StackSettings } from './settings.js';

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
