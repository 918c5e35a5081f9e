import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { durationMs } from '../contract/duration.js';
import { businessUnitSchema, faultsOf } from '../contract/fields.js';
import { shown, type Faults } from './config-error.js';
import type { EnvironmentReader } from './environment.js';
import { API_VERSIONS, type ApiVersion, type BusinessUnit, type Settings } from './types.js';

const INLINE = 'HOLDFAST_BUSINESS_UNITS';
const FILE = 'HOLDFAST_BUSINESS_UNITS_FILE';

/** Shorter ones could be guessed from one signed event. */
const SHORTEST_LIVE_KEY = 16;
const INSIDE = 'additional_information.';

const keySchema = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(1000)
  .regex(/^[\x21-\x7e]*$/, 'holds a space, a line break or a character outside ASCII');
const unitSchema = z.strictObject({
  appId: keySchema,
  privateKey: keySchema,
  previousPrivateKeys: z.array(keySchema).default([]),
  publicKey: keySchema.optional(),
  apiVersion: z.enum(API_VERSIONS).optional(),
  riskUnit: z.string().optional(),
  legacyWebhooks: z.boolean().default(false),
  reads: z.enum(['all', 'interface']).optional(),
  namedAmounts: z.enum(['used', 'ignored']).optional(),
  voidAfterPartialCapture: z.boolean().optional(),
  holdDuration: z
    .string()
    .refine((value) => (durationMs(value) ?? 0) > 0, 'is not a duration, such as "7 days"')
    .default('7 days'),
  consentIdFields: z
    .record(
      z.string().min(1).max(100),
      z.string().regex(/^[A-Za-z0-9_]{1,64}(\.[A-Za-z0-9_]{1,64})?$/, {
        error: 'is not the name of a field, such as scheme_reference or additional_information.scheme_reference',
      }),
    )
    .refine((fields) => Object.values(fields).every((field) => !field.includes('.') || field.startsWith(INSIDE)), {
      error: `only ${INSIDE}<name> may hold a dot`,
    })
    .optional(),
  /** Known, so that whoever declares it hears why it is no use yet. */
  saqD: z
    .literal(false, {
      error: 'cards in the clear (untokenized) are not supported: they need a vault, which Holdfast does not have yet',
    })
    .optional(),
});

/** The unit that the sandbox knows from its first start. */
const SANDBOX_UNIT = {
  appId: 'holdfast-sandbox',
  privateKey: 'sandbox-private-key',
  publicKey: 'sandbox-public-key',
  riskUnit: 'default',
};

/** Business units by name. Faults never show a value, since any of them may be a key in the wrong place. */
export function readBusinessUnits(
  reader: EnvironmentReader,
  { embedded, environment }: Settings,
  apiVersion: ApiVersion,
  faults: Faults,
): ReadonlyMap<string, BusinessUnit> {
  const source = findSource(reader, faults);
  if (source === undefined) {
    if (faults.any && (reader.text(INLINE) ?? reader.text(FILE)) !== undefined) return new Map();
    if (embedded && environment === 'test') return parseUnits({ default: SANDBOX_UNIT }, INLINE, apiVersion, faults);
    faults.add(
      `${INLINE} is not set: give a JSON object such as {"default":{"appId":"...","privateKey":"..."}}, or name a file with one in ${FILE}`,
    );
    return new Map();
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(source.text);
  } catch {
    // The parser's own message quotes the text, keys included.
    faults.add(`${source.name} is not JSON: expected {"default":{"appId":"...","privateKey":"..."}}`);
    return new Map();
  }
  const units = parseUnits(parsed, source.name, apiVersion, faults);
  if (environment === 'live') refuseKnownKeys(units, source.name, faults);
  return units;
}

function findSource(reader: EnvironmentReader, faults: Faults): { name: string; text: string } | undefined {
  const inline = reader.text(INLINE);
  const file = reader.text(FILE);
  if (inline !== undefined && file !== undefined) {
    faults.add(`${INLINE} and ${FILE} are both set: keep one`);
    return undefined;
  }
  if (inline !== undefined) return { name: INLINE, text: inline };
  if (file === undefined) return undefined;
  try {
    return { name: FILE, text: readFileSync(file, 'utf8') };
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown error';
    faults.add(`${FILE}=${shown(file)}: the file can't be read (${code})`);
    return undefined;
  }
}

function parseUnits(
  parsed: unknown,
  source: string,
  apiVersion: ApiVersion,
  faults: Faults,
): ReadonlyMap<string, BusinessUnit> {
  const units = new Map<string, BusinessUnit>();
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    faults.add(`${source}: expected an object of name -> business unit`);
    return units;
  }
  const names = Object.keys(parsed);
  if (!names.includes('default')) faults.add(`${source}: there is no unit named "default"`);
  for (const [name, value] of Object.entries(parsed)) {
    if (!businessUnitSchema.safeParse(name).success) {
      faults.add(`${source}: ${shown(name)} is not a name; use 1-64 characters of A-Z a-z 0-9 _ . -`);
    }
    const wanted: unknown =
      typeof value === 'object' && value !== null ? (value as { riskUnit?: unknown }).riskUnit : undefined;
    if (typeof wanted === 'string' && !names.includes(wanted)) {
      faults.add(`${source}: ${name}: riskUnit names a unit that is not there; use one of ${names.join(', ')}`);
    }
    const result = unitSchema.safeParse(value);
    if (!result.success) {
      for (const fault of faultsOf(result.error)) faults.add(`${source}: ${name}: ${fault}`);
      continue;
    }
    const {
      publicKey,
      riskUnit,
      apiVersion: own,
      consentIdFields,
      reads,
      namedAmounts,
      voidAfterPartialCapture,
      saqD: _none,
      ...rest
    } = result.data;
    units.set(name, {
      ...rest,
      name,
      apiVersion: own ?? apiVersion,
      ...(publicKey === undefined ? {} : { publicKey }),
      ...(riskUnit === undefined ? {} : { riskUnit }),
      ...(consentIdFields === undefined ? {} : { consentIdFields }),
      ...(reads === undefined ? {} : { reads }),
      ...(namedAmounts === undefined ? {} : { namedAmounts }),
      ...(voidAfterPartialCapture === undefined ? {} : { voidAfterPartialCapture }),
    });
  }
  refuseSharedAppIds(units, source, faults);
  return units;
}

/** With such a key anybody could sign events of a unit, and settle live payments by them. */
function refuseKnownKeys(units: ReadonlyMap<string, BusinessUnit>, source: string, faults: Faults): void {
  for (const { name, privateKey, publicKey, previousPrivateKeys } of units.values()) {
    const signing = {
      privateKey,
      ...Object.fromEntries(previousPrivateKeys.map((key, at) => [`previousPrivateKeys.${at}`, key])),
    };
    for (const [field, key] of Object.entries({ ...signing, publicKey: publicKey ?? '' })) {
      if (/^sandbox-(?:private|public)-key/.test(key)) {
        faults.add(`${source}: ${name}: ${field} is a key of the sandbox, which everybody knows; give the live one`);
      } else if (field !== 'publicKey' && key.length < SHORTEST_LIVE_KEY) {
        faults.add(
          `${source}: ${name}: ${field} is shorter than ${SHORTEST_LIVE_KEY} characters, too short for a live key`,
        );
      }
    }
  }
}

/** Events name only the app id: shared by two units, it would not say whose keys sign and whose flow it is. */
function refuseSharedAppIds(units: ReadonlyMap<string, BusinessUnit>, source: string, faults: Faults): void {
  const owners = new Map<string, string>();
  for (const { name, appId } of units.values()) {
    const owner = owners.get(appId);
    if (owner !== undefined)
      faults.add(`${source}: ${name}: appId is the same as that of "${owner}"; use one unit per app id`);
    owners.set(appId, name);
  }
}
