import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { isNotificationSecret } from '../security/notification-signature.js';
import { LOG_LEVELS } from '../security/logging.js';
import { allowedHost } from '../security/notify-settings.js';
import { isAddressRange, isRangeOfProxies, SERVICE_SENDERS } from '../security/senders.js';
import { LONGEST_WAIT_MS } from '../contract/engine-port.js';
import { buildId, controllerBuildId, deploymentName } from './deployment.js';
import { referenceBookUrl, referenceBookUrlFile } from './reference-book.js';
import { restoredStatementFile, restoredTo } from './restored.js';
import { address, isOrigin, listOf, variables } from './variables.js';

/** Signing secret under `npm start`; publicly known. */
export const EMBEDDED_NOTIFY_SECRET = 'whsec_bm90aWZ5LXNlY3JldC1vZi1ucG0tc3RhcnQ=';

export const API_VERSIONS = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];

const oneOf = <const T extends readonly string[]>(choices: T) => z.enum(choices, `use one of ${choices.join(', ')}`);
const portOf = (name: string, preferred: string, readBy: string, description: string) =>
  z
    .string()
    .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, 'use a port from 0 to 65535 (0: any free port)')
    .transform(Number)
    .prefault(preferred)
    .register(variables, { name, readBy, description });
const flag = z.stringbool({ truthy: ['1', 'true'], falsy: ['0', 'false'], case: 'sensitive', error: 'use 1 or 0' });
const positive = z
  .string()
  .regex(/^[1-9]\d{0,5}$/, 'use a whole number from 1 to 999999')
  .transform(Number);
const NO_ADDRESS = 'is neither an address nor a range, such as 203.0.113.0/24';
const encryptionKeys = z.string().exactOptional().register(variables, {
  name: 'HOLDFAST_ENCRYPTION_KEYS',
  readBy: 'all but sandbox, and clients',
  description: '`id:base64[,id:base64]`, 32 bytes each: the first encrypts, all decrypt',
  example:
    'id:base64[,id:base64], such as k1:$(openssl rand -base64 32); keep it safe, no history can be read without it',
  secret: true,
});

/** Variables of every process. */
export const settingsSchema = z.object({
  /** true under `npm start`: a missing key file or token is created, and the sandbox is the default service. */
  embedded: flag.prefault('0').register(variables, {
    name: 'HOLDFAST_EMBEDDED',
    readBy: 'all',
    description: '`1` under `npm start`: keys that are missing are made, the sandbox is the service. Never with `live`',
  }),
  environment: oneOf(['test', 'live']).prefault('test').register(variables, {
    name: 'HOLDFAST_ENVIRONMENT',
    readBy: 'all but sandbox',
    description:
      '`test` or `live`; events, and a namespace, of the other one are refused; the client and `holdfast` refuse such a namespace too, where it is set, and `holdfast setup` marks a namespace with it. `live` takes no secret that stands in this repository',
  }),
  bindAddress: z
    .string()
    .refine((text) => isIP(text) !== 0 || text === 'localhost', 'use an IP address, such as 127.0.0.1 or 0.0.0.0')
    .prefault('127.0.0.1')
    .register(variables, { name: 'HOLDFAST_BIND_ADDRESS', readBy: 'all', description: 'Address to listen on' }),
  /** Absolute. */
  stateDir: z
    .string()
    .transform((path) => resolve(path))
    .prefault('.holdfast')
    .register(variables, { name: 'HOLDFAST_STATE_DIR', readBy: 'all', description: 'Where state lives' }),
  logLevel: oneOf(LOG_LEVELS).prefault('info').register(variables, {
    name: 'HOLDFAST_LOG_LEVEL',
    readBy: 'all',
    description: '`trace` to `fatal`, or `silent`',
  }),
  ports: z.object({
    sandbox: portOf('HOLDFAST_SANDBOX_PORT', '4010', 'sandbox', 'Its API and its control API'),
    webhook: portOf('HOLDFAST_WEBHOOK_PORT', '4020', 'webhook', 'Where events arrive'),
    webhookMetrics: portOf('HOLDFAST_WEBHOOK_METRICS_PORT', '9465', 'webhook', 'Its metrics'),
    workerMetrics: portOf('HOLDFAST_WORKER_METRICS_PORT', '9464', 'worker', 'Its metrics, `/health` and `/ready`'),
    codec: portOf('HOLDFAST_CODEC_PORT', '4030', 'codec server', 'Where Temporal UI and CLI have payloads decoded'),
  }),
});

/** Variables of the worker, the webhook handler and the operator's CLI. */
export const configSchema = settingsSchema.extend({
  /** Without a trailing slash. */
  apiBaseUrl: address.exactOptional().register(variables, {
    name: 'HOLDFAST_API_BASE_URL',
    readBy: 'worker, webhook',
    description: 'Address of the payment service; https for `live`',
    default: 'with `npm start` that of the sandbox',
    example: 'the address of the payment service, or of a sandbox',
  }),
  apiVersion: oneOf(API_VERSIONS).prefault('1.3.0').register(variables, {
    name: 'HOLDFAST_API_VERSION',
    readBy: 'worker, webhook',
    description: "Version of the payment service's API; a unit may name its own `apiVersion`",
  }),
  taskQueues: oneOf(['all', 'payments', 'billing']).prefault('all').register(variables, {
    name: 'HOLDFAST_TASK_QUEUES',
    readBy: 'worker',
    description:
      'Which queues it serves: `payments` (`holdfast`, what buyers wait for), `billing` (`holdfast-billing`, subscriptions) or `all`',
  }),
  workerCount: positive.prefault('1').register(variables, {
    name: 'HOLDFAST_WORKER_COUNT',
    readBy: 'worker',
    description: "How many worker processes share a unit's `callsPerSecond`; give all the same",
  }),
  paymentsCallsPerSecond: positive.exactOptional().register(variables, {
    name: 'HOLDFAST_PAYMENTS_CALLS_PER_SECOND',
    readBy: 'worker',
    description:
      "Most activities per second of the payments queue, over all its workers: the server hands out no more, those of higher priority first. First tries inside of a flow's first task do not count; give all the same",
    default: 'no limit',
  }),
  billingCallsPerSecond: positive.prefault('10').register(variables, {
    name: 'HOLDFAST_BILLING_CALLS_PER_SECOND',
    readBy: 'worker',
    description: 'Calls per second that leave the billing queue, over all its workers; give all the same',
  }),
  /** How long a worker that is told to stop waits for the calls under way. */
  stopSeconds: z
    .string()
    .regex(/^[1-9]\d{0,3}$/, 'use a whole number from 1 to 9999')
    .transform(Number)
    .exactOptional()
    .register(variables, {
      name: 'HOLDFAST_STOP_SECONDS',
      readBy: 'worker',
      description:
        'How long in seconds a worker that is told to stop lets the calls under way end. A call may take 60 s, and one that is cut off is sent again under its key; give the process 15 s more',
      default: '`65`; `5` with `npm start`',
    }),
  /** Whether the worker takes a call stack at every promise of a workflow. */
  callStacks: oneOf(['on', 'off'])
    .prefault('off')
    .transform((word) => word === 'on')
    .register(variables, {
      name: 'HOLDFAST_CALL_STACKS',
      readBy: 'worker',
      description:
        '`on`: the Temporal UI\'s tab "Call Stack" works. Each promise of a flow then has its stack taken, which costs CPU',
    }),
  /** How workers treat starts and commands that are not encrypted. */
  plainPayloads: oneOf(['accept', 'refuse']).exactOptional().register(variables, {
    name: 'HOLDFAST_PLAIN_PAYLOADS',
    readBy: 'worker',
    description:
      '`refuse`: a start or a command that came without encryption, or encrypted for another flow, is `InvalidInput`, and nothing is sent. Flows that were taken before go on',
    default: '`accept`; `refuse` for `live`',
  }),
  /** Sign notifications to merchants: the old and the new one while one replaces the other. */
  notifySecrets: listOf(
    isNotificationSecret,
    'is not whsec_ and the base64 of 24 to 64 bytes; make one with whsec_$(openssl rand -base64 32)',
    {
      secret: true,
    },
  )
    .exactOptional()
    .register(variables, {
      name: 'HOLDFAST_NOTIFY_SECRET',
      readBy: 'worker',
      description:
        'Signs what merchants are told, by Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes; two by a comma both sign. For business units without secrets of their own ([notifications.md](notifications.md)). `npm start` has one that everybody knows',
      example: 'whsec_$(openssl rand -base64 32)',
      secret: true,
    }),
  /** Hosts of the addresses that flows may name themselves. */
  notifyHosts: listOf(
    (entry) => allowedHost(entry) !== undefined,
    'is no host, such as shop.example or *.shop.example; leave out scheme, port and path: a host counts with all of its ports',
  )
    .transform((entries) => entries.flatMap((entry) => allowedHost(entry) ?? []))
    .exactOptional()
    .register(variables, {
      name: 'HOLDFAST_NOTIFY_HOSTS',
      readBy: 'worker',
      description:
        'Hosts to which the `notify.url` of a flow may point, by commas and without ports: `shop.example`, or `*.shop.example` for all below it. The endpoints of a business unit need no entry',
      default: 'none: a flow with `notify` is refused. `127.0.0.1,localhost` with `npm start`',
    }),
  /** Whether merchants may be told at private addresses. */
  notifyPrivate: flag.exactOptional().register(variables, {
    name: 'HOLDFAST_NOTIFY_PRIVATE',
    readBy: 'worker',
    description:
      '`1`: merchants may be told at private, loopback and link-local addresses. Otherwise no name that resolves to one is connected to',
    default: '`0`; `1` with `npm start`',
  }),
  /** Absolute. */
  statementsFolder: z
    .string()
    .transform((path) => resolve(path))
    .exactOptional()
    .register(variables, {
      name: 'HOLDFAST_STATEMENTS_FOLDER',
      readBy: 'worker',
      description:
        'A folder of statements (`.jsonl`, `.csv`) that reconciliations match; workers of the billing queue read it ([reconciliation.md](reconciliation.md))',
      absent: 'reconciliations match none',
    }),
  /** Build id of the deployed code, used to route flows once it is current. undefined: workers are not versioned. */
  buildId,
  deploymentName,
  /** Addresses and ranges that may send events; undefined: any address. */
  webhookSenders: listOf((entry) => entry === 'service' || isAddressRange(entry), NO_ADDRESS)
    .transform((entries) => entries.flatMap((entry) => (entry === 'service' ? SERVICE_SENDERS : [entry])))
    .exactOptional()
    .register(variables, {
      name: 'HOLDFAST_WEBHOOK_SENDERS',
      readBy: 'webhook',
      description:
        "Addresses and ranges that may send events, by commas; `service` stands for the payment service's own",
      absent: 'anybody',
    }),
  /** ms. */
  webhookWaitMs: z
    .string()
    .refine(
      (text) => /^\d{1,4}$/.test(text) && Number(text) <= LONGEST_WAIT_MS,
      `use a whole number from 0 to ${LONGEST_WAIT_MS}`,
    )
    .transform(Number)
    .prefault(String(LONGEST_WAIT_MS))
    .register(variables, {
      name: 'HOLDFAST_WEBHOOK_WAIT_MS',
      readBy: 'webhook',
      description:
        'How long in ms an event that most likely echoes a reply waits for the end of its flow, at most 3000; `0`: not at all',
    }),
  /** Addresses and ranges of proxies whose `X-Forwarded-For` is believed. */
  trustedProxies: listOf(isRangeOfProxies, `${NO_ADDRESS}; /0 would believe everybody`)
    .prefault('')
    .register(variables, {
      name: 'HOLDFAST_TRUSTED_PROXIES',
      readBy: 'webhook',
      description: 'Addresses and ranges of proxies whose `X-Forwarded-For` is believed',
    }),
  /** The time that a restore from a backup has lost; undefined: nothing was restored. */
  restoredTo,
  sources: z.object({
    encryptionKeys,
    controllerBuildId,
    referenceBookUrl,
    referenceBookUrlFile,
    restoredStatementFile,
    businessUnits: z.string().exactOptional().register(variables, {
      name: 'HOLDFAST_BUSINESS_UNITS',
      readBy: 'worker, webhook',
      description: 'JSON: name → unit (below); `default` must exist',
      example:
        'a JSON object such as {"default":{"appId":"...","privateKey":"..."}}, or name a file with one in HOLDFAST_BUSINESS_UNITS_FILE',
      secret: true,
    }),
    businessUnitsFile: z.string().exactOptional().register(variables, {
      name: 'HOLDFAST_BUSINESS_UNITS_FILE',
      readBy: 'worker, webhook',
      description: 'The same from a file',
    }),
  }),
});

/** Variables of the codec server, which needs no credentials of the payment service. */
export const codecSchema = settingsSchema.extend({
  codecToken: z
    .string()
    .regex(/^[\x21-\x7e]{16,500}$/, 'use 16-500 visible ASCII characters')
    .exactOptional()
    .register(variables, {
      name: 'HOLDFAST_CODEC_TOKEN',
      readBy: 'codec server',
      description: 'Bearer token of the CLI',
      example: '16-500 visible ASCII characters, such as $(openssl rand -hex 32)',
      secret: true,
    }),
  codecUiCapability: z
    .string()
    .regex(/^[A-Za-z0-9_-]{22,100}$/, 'use 22-100 characters of A-Z a-z 0-9 _ -')
    .exactOptional()
    .register(variables, {
      name: 'HOLDFAST_CODEC_UI_CAPABILITY',
      readBy: 'codec server',
      description: 'The secret path part by which Temporal UI reaches it; not the text of the token, which may do more',
      example: '22-100 characters of A-Z a-z 0-9 _ -, such as $(openssl rand -hex 32)',
      secret: true,
    }),
  /** Exact origins of Temporal UI. */
  uiOrigins: listOf(isOrigin, 'is not an origin; use scheme, host and port only, such as http://127.0.0.1:8233', {
    withEmpty: true,
  })
    .prefault('http://127.0.0.1:8233,http://localhost:8233')
    .register(variables, {
      name: 'HOLDFAST_UI_ORIGINS',
      readBy: 'codec server',
      description: 'Exact origins of Temporal UI',
    }),
  sources: z.object({ encryptionKeys }),
});
