import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { z } from 'zod';
import { durationSchema, amountSchema, currencySchema, ipAddressSchema } from '../src/contract/fields.js';
import { billAmountSchema } from '../src/contract/subscription-amounts.js';
import { timeZoneSchema } from '../src/contract/subscription.js';
import { PUBLISHED_SCHEMAS } from './published-schemas.js';

/** Schemas of what zod checks by code and can't convert. JSON Schema has no list of currencies, only their form. */
const CHECKED_BY_CODE: ReadonlyMap<unknown, z.core.JSONSchema.BaseSchema> = new Map<
  unknown,
  z.core.JSONSchema.BaseSchema
>([
  [
    amountSchema.zod,
    {
      type: 'integer',
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Minor units of the currency: 1095 is 10.95 USD, 1095 JPY, 1.095 KWD.',
    },
  ],
  [
    billAmountSchema.zod,
    {
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Minor units of the currency; 0 bills nothing.',
    },
  ],
  [timeZoneSchema.zod, { type: 'string', minLength: 1, description: 'IANA time zone, such as Europe/Rome.' }],
  [currencySchema.zod, { type: 'string', pattern: '^[A-Z]{3}$', description: 'ISO 4217 code.' }],
  [
    ipAddressSchema.zod,
    {
      anyOf: [
        { type: 'string', format: 'ipv4', pattern: '^\\d{1,3}(\\.\\d{1,3}){3}$' },
        // Requires at least two colons, because few validators check the format.
        { type: 'string', format: 'ipv6', pattern: '^[0-9A-Fa-f]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*$' },
      ],
    },
  ],
  [
    durationSchema.zod,
    {
      anyOf: [
        { type: 'string', pattern: '^\\d+(\\.\\d+)? ?[A-Za-z]+$' },
        { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      ],
      description: 'A duration such as "8 seconds" or "6 days", or a number of milliseconds.',
    },
  ],
]);

/**
 * Renders one published schema (draft 2020-12) of a caller's input: fields with defaults are optional.
 * @throws if the contract has something that neither zod nor the table above can express
 */
export async function renderSchema(name: string): Promise<string> {
  const published = PUBLISHED_SCHEMAS[name];
  if (published === undefined) throw new RangeError(`"${name}" is no published schema`);
  const { $schema, ...rest } = z.toJSONSchema(published.schema, {
    target: 'draft-2020-12',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      // Whoever writes an event by hand is told of a field that workers drop.
      if (jsonSchema.properties !== undefined) jsonSchema.additionalProperties ??= false;
      const known = CHECKED_BY_CODE.get(zodSchema);
      if (known === undefined) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      Object.assign(jsonSchema, structuredClone(known));
    },
  });
  const { description, examples } = published;
  const document = { $schema, $id: `urn:holdfast:${name}`, title: name, description, examples, ...rest };
  return await format(JSON.stringify(document), { parser: 'json', printWidth: 120, objectWrap: 'collapse' });
}

/** Renders all published schemas, by name. */
export async function renderSchemas(): Promise<Map<string, string>> {
  const names = Object.keys(PUBLISHED_SCHEMAS);
  return new Map(await Promise.all(names.map(async (name) => [name, await renderSchema(name)] as const)));
}

/**
 * Files of `folder` that differ from `rendered`, the current contract. `text` is undefined for a file that should not
 * exist.
 */
export function outdatedSchemas(
  folder: string,
  rendered: ReadonlyMap<string, string>,
): { path: string; text?: string }[] {
  const files = [...rendered].map(([name, text]) => ({ path: join(folder, `${name}.json`), text }));
  const wrong = files.filter(({ path, text }) => !existsSync(path) || readFileSync(path, 'utf8') !== text);
  const present = existsSync(folder) ? readdirSync(folder) : [];
  const strange = present.filter((file) => file.endsWith('.json') && !rendered.has(file.slice(0, -'.json'.length)));
  return [...wrong, ...strange.map((file) => ({ path: join(folder, file) }))];
}

/** `docs/schemas` of this repository, whether this file runs from the sources or from `dist/`. */
function schemasFolder(): string {
  const above = ['..', '../..'].map((up) => fileURLToPath(new URL(up, import.meta.url)));
  const root = above.find((folder) => existsSync(join(folder, 'package.json')));
  if (root === undefined) throw new Error('The root of the repository was not found: there is no package.json above');
  return join(root, 'docs', 'schemas');
}

async function main(): Promise<void> {
  const folder = schemasFolder();
  const files = outdatedSchemas(folder, await renderSchemas());
  if (process.argv.includes('--check')) {
    for (const { path } of files) process.stderr.write(`${path} is not what src/contract says: run npm run schemas\n`);
    process.exitCode = files.length === 0 ? 0 : 1;
    return;
  }
  mkdirSync(folder, { recursive: true });
  for (const { path, text } of files) {
    if (text === undefined) process.stderr.write(`${path} belongs to no schema of src/contract: remove it\n`);
    else writeFileSync(path, text);
  }
  const written = files.filter(({ text }) => text !== undefined).length;
  process.stdout.write(`${written} of ${Object.keys(PUBLISHED_SCHEMAS).length} schemas written.\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
