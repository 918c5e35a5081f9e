import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { show } from '../contract/fields.js';
import type { Statement } from '../domain/statement.js';
import { KeyRingError, loadOrCreateKeyFile, parseKeyRing, type KeyRing } from '../security/key-ring.js';
import { loadOrCreateSecretFile, readSecretFile, SecretFileError } from '../security/secret-file.js';
import type { BusinessUnit } from './business-units.js';
import { buildIdOf } from './deployment.js';
import { findKnownSecrets } from './known-secrets.js';
import { codecSchema, configSchema, EMBEDDED_NOTIFY_SECRET, type settingsSchema } from './schema.js';
import { endpointFaults, notifySettings, ownSecrets } from './notifications.js';
import { readBusinessUnits } from './read-units.js';
import { readReferenceBookUrl } from './reference-book.js';
import { readStatement } from './restored.js';
import { sayUnknown, unknownNames } from './unknown-names.js';
import { sayNotSet, variableOf } from './variables.js';

/** Settings of every process. */
export type Settings = z.output<typeof settingsSchema>;

interface EncryptionSettings {
  keyRing: KeyRing;
  /** `HOLDFAST_ENCRYPTION_KEYS`, or the path of the key file. */
  keySource: string;
}

type ConfigVariables = Omit<z.output<typeof configSchema>, 'sources'>;
type CodecVariables = Omit<z.output<typeof codecSchema>, 'sources'>;

/** Configuration of the worker, the webhook handler and the operator's CLI. */
export interface Config extends ConfigVariables, EncryptionSettings {
  apiBaseUrl: string;
  plainPayloads: 'accept' | 'refuse';
  stopSeconds: number;
  /** undefined: there is no reference book. */
  referenceBookUrl?: string;
  businessUnits: ReadonlyMap<string, BusinessUnit>;
  notifyHosts: string[];
  notifyPrivate: boolean;
  /** What the payment service says of the lost time of `restoredTo`. */
  restoredStatement?: Statement;
}

/** Configuration of the codec server, which needs no credentials of the payment service. */
export interface CodecConfig extends CodecVariables, EncryptionSettings {
  codecToken: string;
  codecUiCapability: string;
}

/** All configuration faults, one per line: the variable, the fault, and the fix. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

const KEYS = 'HOLDFAST_ENCRYPTION_KEYS';
const NOTIFY_SECRET = 'HOLDFAST_NOTIFY_SECRET';

/** Files of the embedded mode, under the state directory, mode 0600. */
export const SECRET_FILES = {
  encryptionKeys: 'keys/encryption-keys',
  codecToken: 'keys/codec-token',
  codecUiCapability: 'keys/codec-ui-capability',
} as const;

/** Longer than a call to the payment service may take. */
const STOP_SECONDS = 65;
/** Nobody wants to wait for Ctrl-C. */
const EMBEDDED_STOP_SECONDS = 5;

/**
 * Loads the configuration of the worker, the webhook handler and the operator's CLI.
 * @param tells the process sends notifications, and so has all that its endpoints need
 * @param isOwn the process is one of Holdfast's own: a `HOLDFAST_` variable that it does not know is a fault
 * @throws ConfigError that lists every fault
 */
export function loadConfig(env: NodeJS.ProcessEnv, { tells = true, isOwn = true } = {}): Config {
  const faults: string[] = [];
  const { sources, ...settings } = readEnvironment(configSchema, env, faults);
  if (isOwn) faults.push(...unknownNames(env).map(sayUnknown));
  const { embedded, environment, apiBaseUrl, ports } = settings;
  const live = environment === 'live';
  const address = configSchema.shape.apiBaseUrl;
  if (!embedded && textOf(address, env) === undefined) faults.push(sayNotSet(address));
  if (live && apiBaseUrl !== undefined && !/^https:/i.test(apiBaseUrl)) {
    faults.push(
      `HOLDFAST_API_BASE_URL=${show(apiBaseUrl)}: with HOLDFAST_ENVIRONMENT="live" it must start with https://, or the private key would travel in the clear`,
    );
  }
  const buildId = buildIdOf(settings.buildId, sources.controllerBuildId, faults);
  const { units: businessUnits, readable, source } = readBusinessUnits(sources, settings, faults);
  const referenceBookUrl = readReferenceBookUrl(sources, faults);
  const restoredStatement = readStatement(sources.restoredStatementFile, settings.restoredTo, faults);
  const keyRing = readKeyRing(sources.encryptionKeys, settings, faults);
  const notifying = {
    ...(embedded && { notifySecrets: [EMBEDDED_NOTIFY_SECRET] }),
    notifyHosts: embedded ? ['127.0.0.1', 'localhost'] : [],
    notifyPrivate: embedded,
    ...settings,
    businessUnits,
  };
  const telling = notifySettings({ ...notifying, businessUnits: readable });
  if (tells) faults.push(...endpointFaults(telling).map((fault) => `${source}: ${fault}`));
  const notifySecrets = [
    ...(settings.notifySecrets ?? []).map((secret) => ({ place: NOTIFY_SECRET, secret })),
    ...ownSecrets(readable).map(({ place, secret }) => ({ place: `${source}: ${place}`, secret })),
  ];
  if (live && !embedded) faults.push(...findKnownSecrets({ keyRing, notifySecrets }));
  return {
    apiBaseUrl: `http://127.0.0.1:${ports.sandbox}`,
    // Refused for `live`: otherwise anyone with access to Temporal could send real money.
    plainPayloads: live ? 'refuse' : 'accept',
    stopSeconds: embedded ? EMBEDDED_STOP_SECONDS : STOP_SECONDS,
    ...notifying,
    ...(buildId !== undefined && { buildId }),
    ...(referenceBookUrl !== undefined && { referenceBookUrl }),
    ...(restoredStatement !== undefined && { restoredStatement }),
    ...completeEncryption(keyRing, settings, faults),
  };
}

/**
 * Loads the configuration of the codec server.
 * @throws ConfigError that lists every fault
 */
export function loadCodecConfig(env: NodeJS.ProcessEnv): CodecConfig {
  const faults: string[] = [];
  const { sources, ...settings } = readEnvironment(codecSchema, env, faults);
  faults.push(...unknownNames(env).map(sayUnknown));
  const keyRing = readKeyRing(sources.encryptionKeys, settings, faults);
  const secrets = {
    codecToken: readCodecSecret('codecToken', settings, env, faults),
    codecUiCapability: readCodecSecret('codecUiCapability', settings, env, faults),
  };
  if (secrets.codecToken !== '' && secrets.codecToken === secrets.codecUiCapability) {
    // Only the token may encode: Temporal UI's address stands in browsers, and flows trust what is encrypted.
    faults.push(
      'HOLDFAST_CODEC_TOKEN and HOLDFAST_CODEC_UI_CAPABILITY are the same: whoever may read in Temporal UI could write what flows trust; give each its own, such as $(openssl rand -hex 32)',
    );
  }
  if (settings.environment === 'live') faults.push(...findKnownSecrets({ keyRing, ...secrets }));
  return { ...settings, ...secrets, ...completeEncryption(keyRing, settings, faults) };
}

/** Parses the variables. A faulty one gets its default, so that faults of the others are also found. */
function readEnvironment<T extends typeof settingsSchema>(
  schema: T,
  env: NodeJS.ProcessEnv,
  faults: string[],
): z.output<T> {
  const faulty: NodeJS.ProcessEnv = {};
  const { error } = schema.safeParse(textsOf(schema, env), { reportInput: true });
  for (const { path, input, message } of error?.issues ?? []) {
    const { schema: found, within } = findVariable(schema, path);
    const { name, secret } = variableOf(found);
    faults.push(`${name}${secret || within ? '' : `=${show(withoutUserInfo(input))}`}: ${message}`);
    faulty[name] = undefined;
  }
  const settings = schema.parse(textsOf(schema, { ...env, ...faulty }));
  if (settings.embedded && settings.environment === 'live') {
    faults.push(
      'HOLDFAST_EMBEDDED=1 with HOLDFAST_ENVIRONMENT="live": the embedded mode is for the sandbox; unset one',
    );
  }
  return settings;
}

/** The environment's text for each field of a schema. */
function textsOf(schema: z.ZodObject, env: NodeJS.ProcessEnv): Record<string, unknown> {
  const texts = Object.entries(schema.shape).map(([field, inner]) => [
    field,
    inner instanceof z.ZodObject ? textsOf(inner, env) : textOf(inner, env),
  ]);
  return Object.fromEntries(texts.filter(([, text]) => text !== undefined)) as Record<string, unknown>;
}

/** An empty variable counts as not set, because compose files can't omit one. */
function textOf(schema: z.core.$ZodType, env: NodeJS.ProcessEnv): string | undefined {
  return env[variableOf(schema).name]?.trim() || undefined;
}

/** The variable of an issue; `within` if the issue is about one entry of its list. */
function findVariable(
  schema: z.ZodObject,
  [field, ...rest]: PropertyKey[],
): { schema: z.core.$ZodType; within: boolean } {
  const found = schema.shape[String(field)];
  if (found === undefined) throw new Error(`No variable is named by ${String(field)}`);
  return found instanceof z.ZodObject ? findVariable(found, rest) : { schema: found, within: rest.length > 0 };
}

function withoutUserInfo(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/^(\w*:)?.*@/s, '$1//***@') : value;
}

function readKeyRing(text: string | undefined, { embedded }: Settings, faults: string[]): KeyRing | undefined {
  if (text !== undefined) return noteFaults(faults, () => parseKeyRing(text, KEYS));
  if (!embedded) faults.push(sayNotSet(codecSchema.shape.sources.shape.encryptionKeys));
  return undefined;
}

/** The secret from the variable, or else from its file, which the embedded mode creates. */
function readCodecSecret(
  field: 'codecToken' | 'codecUiCapability',
  settings: CodecVariables,
  env: NodeJS.ProcessEnv,
  faults: string[],
): string {
  const schema = codecSchema.shape[field];
  if (textOf(schema, env) !== undefined) return settings[field] ?? '';
  const path = join(settings.stateDir, SECRET_FILES[field]);
  const { name, example } = variableOf(schema);
  const secret = noteFaults(faults, () => {
    const text =
      settings.embedded && faults.length === 0
        ? loadOrCreateSecretFile(path, () => randomBytes(32).toString('base64url'))
        : readSecretFile(path);
    if (text === undefined && !settings.embedded) {
      throw new SecretFileError(`${name} is not set and there is no ${path}: give ${example}`);
    }
    if (text !== undefined && !schema.safeParse(text).success) {
      throw new SecretFileError(`${name} is not set and ${path} can't be used: give ${example}`);
    }
    return text;
  });
  return secret ?? '';
}

/** Must be the last step: the embedded mode creates a file, which must not happen if there are faults. */
function completeEncryption(
  keyRing: KeyRing | undefined,
  { stateDir }: Settings,
  faults: string[],
): EncryptionSettings {
  throwIfAny(faults);
  if (keyRing !== undefined) return { keyRing, keySource: KEYS };
  const keySource = join(stateDir, SECRET_FILES.encryptionKeys);
  const made = noteFaults(faults, () => loadOrCreateKeyFile(keySource));
  if (made === undefined) throw new ConfigError(faults);
  return { keyRing: made, keySource };
}

/** Returns the result of `read`. Errors of key rings and secret files become faults. */
function noteFaults<T>(faults: string[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof KeyRingError) faults.push(...error.faults);
    else if (error instanceof SecretFileError) faults.push(error.message);
    else throw error;
    return undefined;
  }
}

function throwIfAny(faults: readonly string[]): void {
  if (faults.length > 0) throw new ConfigError(faults);
}
