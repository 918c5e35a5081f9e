import type { KeyRing } from '../security/key-ring.js';
import type { LogLevel } from '../security/logging.js';

export const API_VERSIONS = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];

/** One set of credentials of the payment service. Workflows know it by its name only. */
export interface BusinessUnit {
  name: string;
  appId: string;
  privateKey: string;
  /** Still accepted for webhook signatures while keys are rotated. */
  previousPrivateKeys: readonly string[];
  publicKey?: string;
  apiVersion: ApiVersion;
  /** Name of the unit under which payments to be risk-analysed are created. */
  riskUnit?: string;
  /** Takes unsigned and older events (API 1.0.1 and before). */
  legacyWebhooks: boolean;
  /** How long the provider keeps an authorization, such as "7 days". */
  holdDuration: string;
  /** Under which field of `provider_data` each provider, by its name or `*`, puts the consent id of a card on file. */
  consentIdFields?: Readonly<Record<string, string>>;
  /** `interface`: the service has no reads but those that its interface names, and is not asked for others. */
  reads?: 'all' | 'interface';
  /** `ignored`: what a capture or refund names as its amount changes nothing, the whole is moved. */
  namedAmounts?: 'used' | 'ignored';
  /** After a partial capture the rest of the hold is voided where the service offers that: there it cancels no capture. */
  voidAfterPartialCapture?: boolean;
}

export interface Ports {
  sandbox: number;
  webhook: number;
  webhookMetrics: number;
  workerMetrics: number;
  codec: number;
}

/** What every process reads. */
export interface Settings {
  /** True under `npm start`: a missing key file or token is made, and the sandbox is the default service. */
  embedded: boolean;
  environment: 'test' | 'live';
  bindAddress: string;
  /** Absolute. */
  stateDir: string;
  logLevel: LogLevel;
  ports: Ports;
}

export interface EncryptionSettings {
  keyRing: KeyRing;
  /** `HOLDFAST_ENCRYPTION_KEYS`, or the path of the key file. */
  keySource: string;
}

export interface WebhookSenders {
  /** Addresses and ranges that may send events; everybody may when absent. */
  webhookSenders?: readonly string[];
  /** Addresses and ranges of proxies whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
}

/** For worker, webhook handler and operator's command. */
export interface Config extends Settings, EncryptionSettings, WebhookSenders {
  /** Without a trailing slash. */
  apiBaseUrl: string;
  apiVersion: ApiVersion;
  businessUnits: ReadonlyMap<string, BusinessUnit>;
  /** What workers do with starts and commands that came without encryption. */
  plainPayloads: 'accept' | 'refuse';
  taskQueues: 'all' | 'payments' | 'billing';
  /** Of the billing queue, over all workers. */
  billingCallsPerSecond: number;
  /** Signs what is sent to merchants. */
  notifySecret?: string;
  /** Of the deployed code: flows are routed by it once it is made current. Absent: workers are not versioned. */
  buildId?: string;
}

/** For the codec server, which needs no credentials of the payment service. */
export interface CodecConfig extends Settings, EncryptionSettings {
  codecToken: string;
  codecUiCapability: string;
  /** Exact origins of Temporal UI. */
  uiOrigins: readonly string[];
}
