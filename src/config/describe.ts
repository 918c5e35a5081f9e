import type { BusinessUnit, CodecConfig, Config, Settings } from './types.js';

/** The settings in force, one per line, for the start of a process. Secrets only as `set` or `not set`. */
export function describe(config: Settings | Config | CodecConfig): string[] {
  const { environment, bindAddress, stateDir, logLevel, ports } = config;
  return [
    `HOLDFAST_ENVIRONMENT=${environment}${config.embedded ? ' (embedded)' : ''}`,
    ...('apiBaseUrl' in config
      ? [
          `HOLDFAST_API_BASE_URL=${config.apiBaseUrl}`,
          `HOLDFAST_API_VERSION=${config.apiVersion}`,
          `HOLDFAST_TASK_QUEUES=${config.taskQueues}`,
          `HOLDFAST_BILLING_CALLS_PER_SECOND=${config.billingCallsPerSecond}`,
          `HOLDFAST_PLAIN_PAYLOADS=${config.plainPayloads}`,
          `HOLDFAST_NOTIFY_SECRET: ${isSet(config.notifySecret)}`,
          `HOLDFAST_BUILD_ID=${config.buildId ?? 'none: workers are not versioned'}`,
        ]
      : []),
    `HOLDFAST_BIND_ADDRESS=${bindAddress}`,
    `HOLDFAST_STATE_DIR=${stateDir}`,
    `HOLDFAST_LOG_LEVEL=${logLevel}`,
    `HOLDFAST_SANDBOX_PORT=${ports.sandbox}`,
    ...('trustedProxies' in config
      ? [
          `HOLDFAST_WEBHOOK_SENDERS=${config.webhookSenders?.join(',') ?? 'anybody'}`,
          `HOLDFAST_TRUSTED_PROXIES=${config.trustedProxies.join(',') || 'none'}`,
        ]
      : []),
    `HOLDFAST_WEBHOOK_PORT=${ports.webhook}`,
    `HOLDFAST_WEBHOOK_METRICS_PORT=${ports.webhookMetrics}`,
    `HOLDFAST_WORKER_METRICS_PORT=${ports.workerMetrics}`,
    `HOLDFAST_CODEC_PORT=${ports.codec}`,
    ...('keyRing' in config
      ? [`HOLDFAST_ENCRYPTION_KEYS: set (${config.keyRing.ids.join(', ')}; from ${config.keySource})`]
      : []),
    ...('codecToken' in config
      ? [
          `HOLDFAST_CODEC_TOKEN: ${isSet(config.codecToken)}`,
          `HOLDFAST_CODEC_UI_CAPABILITY: ${isSet(config.codecUiCapability)}`,
          `HOLDFAST_UI_ORIGINS=${config.uiOrigins.join(',')}`,
        ]
      : []),
    ...('businessUnits' in config ? [...config.businessUnits.values()].map(describeUnit) : []),
  ];
}

function describeUnit(unit: BusinessUnit): string {
  const facts = [
    `app id ${unit.appId}`,
    `API ${unit.apiVersion}`,
    `private key ${isSet(unit.privateKey)}`,
    `previous private keys ${unit.previousPrivateKeys.length}`,
    `public key ${isSet(unit.publicKey)}`,
    `risk unit ${unit.riskUnit ?? 'none'}`,
    `hold ${unit.holdDuration}`,
    ...Object.entries(unit.consentIdFields ?? {}).map(([provider, field]) => `consent id of ${provider} in ${field}`),
    ...(unit.voidAfterPartialCapture === true ? ['voids what a partial capture has left'] : []),
    ...(unit.legacyWebhooks ? ['legacy webhooks'] : []),
  ];
  return `business unit ${unit.name}: ${facts.join(', ')}`;
}

function isSet(secret: string | undefined): string {
  return secret === undefined || secret === '' ? 'not set' : 'set';
}

/** Every secret of a configuration, to be starred in logs. */
export function secretsOf(config: Settings | Config | CodecConfig): string[] {
  const ofUnits =
    'businessUnits' in config
      ? [...config.businessUnits.values()].flatMap((unit) => [unit.privateKey, ...unit.previousPrivateKeys])
      : [];
  const notify = 'apiBaseUrl' in config && config.notifySecret !== undefined ? [config.notifySecret] : [];
  return [...ofUnits, ...notify, ...('codecToken' in config ? [config.codecToken, config.codecUiCapability] : [])];
}
