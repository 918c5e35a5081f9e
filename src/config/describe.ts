import { z } from 'zod';
import { type LostTime, showLostTime } from '../domain/lost-time.js';
import { shownUrl } from '../security/notify-settings.js';
import type { BusinessUnit } from './business-units.js';
import type { CodecConfig, Config, Settings } from './load.js';
import { notifySettings, secretsOfUnit } from './notifications.js';
import { codecSchema, configSchema, settingsSchema } from './schema.js';
import { variableOf } from './variables.js';

/** The effective settings, one per line, printed at the start of a process. Secrets only as `set` or `not set`. */
export function describe(config: Settings | Config | CodecConfig): string[] {
  if ('businessUnits' in config) {
    const units = [...config.businessUnits.values()].map(describeUnit);
    const book = `HOLDFAST_REFERENCE_BOOK_URL: ${isSet(config.referenceBookUrl)}`;
    const statement = describeStatement(config);
    return [...describeFields(configSchema, config), describeKeys(config), book, ...statement, ...units];
  }
  if ('codecToken' in config) return [...describeFields(codecSchema, config), describeKeys(config)];
  return describeFields(settingsSchema, config);
}

function describeFields(schema: z.ZodObject, values: object): string[] {
  const valueOf = new Map<string, unknown>(Object.entries(values));
  return Object.entries(schema.shape).flatMap(([field, inner]) => {
    const value = valueOf.get(field);
    if (!(inner instanceof z.ZodObject)) return [describeValue(inner, value)];
    // Values read from `sources` are elsewhere in the configuration.
    return typeof value === 'object' && value !== null ? describeFields(inner, value) : [];
  });
}

function describeValue(schema: z.core.$ZodType, value: unknown): string {
  const { name, secret, absent } = variableOf(schema);
  if (secret) return `${name}: ${isSet(value)}`;
  return `${name}=${textOf(value) ?? absent ?? 'not set'}`;
}

function textOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.join(',') || 'none';
  if (typeof value === 'object' && value !== null) return showLostTime(value as LostTime);
  return value === undefined ? undefined : String(value as string | number | boolean);
}

function describeStatement({ restoredStatement: statement }: Config): string[] {
  if (statement === undefined) return [];
  const { covers, entries } = statement;
  return [`HOLDFAST_RESTORED_STATEMENT_FILE: covers ${showLostTime(covers)} and names ${entries.size} references`];
}

function describeKeys({ keyRing, keySource }: Config | CodecConfig): string {
  return `HOLDFAST_ENCRYPTION_KEYS: set (${keyRing.ids.join(', ')}; from ${keySource})`;
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
    ...describeDeclines(unit),
    ...(unit.outgoing === undefined ? [] : ['limits what it sends to cards']),
    ...(unit.notifications?.endpoints ?? []).map(({ url }) => `tells ${shownUrl(url)}`),
    ...(unit.legacyWebhooks ? ['legacy webhooks'] : []),
  ];
  return `business unit ${unit.name}: ${facts.join(', ')}`;
}

function describeDeclines({ declines = {} }: BusinessUnit): string[] {
  const { categories, subCategories, unknown, cap } = declines;
  const kinds = Object.entries({ ...categories, ...subCategories, ...(unknown !== undefined && { others: unknown }) });
  return [
    ...kinds.map(([name, kind]) => `${name} is ${kind}`),
    ...(cap === undefined ? [] : [`a card is declined ${cap.tries} times in ${cap.days} days at most`]),
  ];
}

function isSet(secret: unknown): string {
  return secret === undefined || secret === '' ? 'not set' : 'set';
}

/** All secrets of a configuration, to be masked in logs. */
export function secretsOf(config: Settings | Config | CodecConfig): string[] {
  if ('codecToken' in config) return [config.codecToken, config.codecUiCapability];
  if (!('businessUnits' in config)) return [];
  const { businessUnits, referenceBookUrl } = config;
  const notifying = [...notifySettings(config).units.values()].flatMap(secretsOfUnit);
  const keys = [...businessUnits.values()].flatMap((unit) => [unit.privateKey, ...unit.previousPrivateKeys]);
  const password = referenceBookUrl === undefined ? undefined : new URL(referenceBookUrl).password;
  return [...keys, ...notifying, password ?? '', decodeURIComponent(password ?? '')].filter(Boolean);
}
