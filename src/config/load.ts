import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { LOG_LEVELS } from '../security/logging.js';
import { readBusinessUnits } from './business-units.js';
import { Faults, shown } from './config-error.js';
import { readCodecSecrets, readEncryption, readUiOrigins } from './encryption.js';
import { EnvironmentReader } from './environment.js';
import { readWebhookSenders } from './webhook-senders.js';
import { API_VERSIONS, type CodecConfig, type Config, type EncryptionSettings, type Settings } from './types.js';

/**
 * Settings of the worker, the webhook handler and the operator's command.
 * @throws ConfigError that lists every fault
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const faults = new Faults();
  const reader = new EnvironmentReader(env, faults);
  const settings = readSettings(reader, faults);
  const apiBaseUrl = readApiBaseUrl(reader, settings, faults);
  const apiVersion = reader.choice('HOLDFAST_API_VERSION', API_VERSIONS, '1.3.0');
  const businessUnits = readBusinessUnits(reader, settings, apiVersion, faults);
  const taskQueues = reader.choice('HOLDFAST_TASK_QUEUES', ['all', 'payments', 'billing'], 'all');
  const billingCallsPerSecond = reader.wholeNumber('HOLDFAST_BILLING_CALLS_PER_SECOND', 10);
  const notifySecret = readNotifySecret(reader, settings, faults);
  const senders = readWebhookSenders(reader, faults);
  const encryption = readEncryption(reader, settings, faults);
  const buildId = reader.text('HOLDFAST_BUILD_ID');
  // Whoever can reach Temporal could send real money otherwise.
  const byDefault = settings.environment === 'live' ? 'refuse' : 'accept';
  const plainPayloads = reader.choice('HOLDFAST_PLAIN_PAYLOADS', ['accept', 'refuse'], byDefault);
  const billing = {
    taskQueues,
    billingCallsPerSecond,
    ...(notifySecret !== undefined && { notifySecret }),
    ...(buildId !== undefined && { buildId }),
  };
  return {
    ...settings,
    ...senders,
    apiBaseUrl,
    apiVersion,
    businessUnits,
    plainPayloads,
    ...billing,
    ...withoutFaults(encryption, faults),
  };
}

/**
 * Settings of the codec server.
 * @throws ConfigError that lists every fault
 */
export function loadCodecConfig(env: NodeJS.ProcessEnv): CodecConfig {
  const faults = new Faults();
  const reader = new EnvironmentReader(env, faults);
  const settings = readSettings(reader, faults);
  const uiOrigins = readUiOrigins(reader, faults);
  const encryption = readEncryption(reader, settings, faults);
  const secrets = readCodecSecrets(reader, settings, faults);
  return { ...settings, uiOrigins, ...secrets, ...withoutFaults(encryption, faults) };
}

/**
 * Settings that every process shares; all that the sandbox needs.
 * @throws ConfigError that lists every fault
 */
export function loadSettings(env: NodeJS.ProcessEnv): Settings {
  const faults = new Faults();
  const settings = readSettings(new EnvironmentReader(env, faults), faults);
  faults.throwIfAny();
  return settings;
}

function readSettings(reader: EnvironmentReader, faults: Faults): Settings {
  const embedded = reader.flag('HOLDFAST_EMBEDDED');
  const environment = reader.choice('HOLDFAST_ENVIRONMENT', ['test', 'live'], 'test');
  if (embedded && environment === 'live') {
    faults.add('HOLDFAST_EMBEDDED=1 with HOLDFAST_ENVIRONMENT="live": the embedded mode is for the sandbox; unset one');
  }
  const bindAddress = reader.text('HOLDFAST_BIND_ADDRESS') ?? '127.0.0.1';
  if (isIP(bindAddress) === 0 && bindAddress !== 'localhost') {
    faults.add(`HOLDFAST_BIND_ADDRESS=${shown(bindAddress)}: use an IP address, such as 127.0.0.1 or 0.0.0.0`);
  }
  return {
    embedded,
    environment,
    bindAddress,
    stateDir: resolve(reader.text('HOLDFAST_STATE_DIR') ?? '.holdfast'),
    logLevel: reader.choice('HOLDFAST_LOG_LEVEL', LOG_LEVELS, 'info'),
    ports: {
      sandbox: reader.port('HOLDFAST_SANDBOX_PORT', 4010),
      webhook: reader.port('HOLDFAST_WEBHOOK_PORT', 4020),
      webhookMetrics: reader.port('HOLDFAST_WEBHOOK_METRICS_PORT', 9465),
      workerMetrics: reader.port('HOLDFAST_WORKER_METRICS_PORT', 9464),
      codec: reader.port('HOLDFAST_CODEC_PORT', 4030),
    },
  };
}

function readApiBaseUrl(reader: EnvironmentReader, { embedded, environment, ports }: Settings, faults: Faults): string {
  const name = 'HOLDFAST_API_BASE_URL';
  const value = reader.text(name);
  if (value === undefined) {
    if (!embedded) faults.add(`${name} is not set: give the address of the payment service, or of a sandbox`);
    return `http://127.0.0.1:${ports.sandbox}`;
  }
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    faults.add(
      `${name}=${shown(withoutUserInfo(value))}: use an address such as https://api.example.com, without a query`,
    );
    return '';
  }
  if (url.username !== '' || url.password !== '') {
    faults.add(`${name} holds a user name or password: leave it out; credentials belong in HOLDFAST_BUSINESS_UNITS`);
  }
  if (environment === 'live' && url.protocol !== 'https:') {
    faults.add(
      `${name}=${shown(withoutUserInfo(value))}: with HOLDFAST_ENVIRONMENT="live" it must start with https://, or the private key would travel in the clear`,
    );
  }
  return value.replace(/\/+$/, '');
}

function withoutUserInfo(address: string): string {
  return address.replace(/\/\/[^/@]*@/, '//***@');
}

function withoutFaults(encryption: EncryptionSettings | undefined, faults: Faults): EncryptionSettings {
  faults.throwIfAny();
  if (encryption === undefined) throw new Error('encryption settings are missing although no fault was found');
  return encryption;
}

const SHORTEST_SECRET = 16;

const EMBEDDED_SECRET = 'embedded-notify-secret';

function readNotifySecret(
  reader: EnvironmentReader,
  { embedded, environment }: Settings,
  faults: Faults,
): string | undefined {
  const secret = reader.text('HOLDFAST_NOTIFY_SECRET') ?? (embedded ? EMBEDDED_SECRET : undefined);
  if (secret === EMBEDDED_SECRET && environment === 'live' && !embedded) {
    faults.add(
      'HOLDFAST_NOTIFY_SECRET: is that of npm start, which everybody knows; make one with openssl rand -hex 32',
    );
  }
  if (secret !== undefined && secret.length < SHORTEST_SECRET) {
    faults.add(
      `HOLDFAST_NOTIFY_SECRET: is shorter than ${SHORTEST_SECRET} characters; make one with openssl rand -hex 32`,
    );
  }
  return secret;
}
