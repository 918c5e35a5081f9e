import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { z } from 'zod';
import { chargeInputSchema } from '../src/contract/charge.js';
import { durationSchema } from '../src/contract/duration.js';
import { amountSchema, currencySchema, ipAddressSchema } from '../src/contract/fields.js';
import {
  outcomeRequestSchema,
  retryNowSchema,
  settleManuallySchema,
  transactionEventSchema,
} from '../src/contract/messages.js';
import { resolvePendingInputSchema } from '../src/contract/resolve-pending.js';

interface Published {
  schema: z.ZodType;
  description: string;
  /** Kept valid by a test. */
  examples: readonly unknown[];
}

const TOKEN = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';
const PAYMENT_ID = '6f3d2c1a-0b9e-4a77-8c55-1d2e3f405162';
const TRANSACTION_ID = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
const SHA_256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

/** What callers in other languages send, by file name: workflow inputs and the arguments of messages. */
export const PUBLISHED_SCHEMAS: Readonly<Record<string, Published>> = {
  'charge-input': {
    schema: chargeInputSchema.zod,
    description: 'Input of workflow "charge". Its workflow id must be "payment-<reference>".',
    examples: [
      {
        reference: 'order-1001',
        amount: 1095,
        currency: 'USD',
        paymentMethod: { type: 'tokenized', token: TOKEN },
      },
      {
        reference: 'order-1002',
        amount: 1095,
        currency: 'JPY',
        paymentMethod: { type: 'tokenized', token: TOKEN, encryptedCvv: 'dGhpcyBpcyBhbiBlbmNyeXB0ZWQgQ1ZW' },
        businessUnit: 'default',
        statementSoftDescriptor: 'SHOP',
        customerId: '7d9a1f60-2c4b-4e8d-9a3f-6b5c4d3e2f10',
        order: { id: '1002', lineItems: [{ id: '1', name: 'Tea', quantity: 1, unitPrice: 1095 }] },
        clientIpAddress: '203.0.113.7',
        cardOnFile: { entryMode: 'consent_transaction' },
      },
    ],
  },
  'resolve-pending-input': {
    schema: resolvePendingInputSchema.zod,
    description: 'Input of workflow "resolvePending". Its workflow id must be "resolve-<transactionId>".',
    examples: [{ paymentId: PAYMENT_ID, transactionId: TRANSACTION_ID, kind: 'charge', amount: 1095, currency: 'USD' }],
  },
  'outcome-request': {
    schema: outcomeRequestSchema.zod,
    description:
      'Argument of update "outcome". The fingerprint is the lower-case hex SHA-256 of the UTF-8 text of the compact ' +
      'JSON array [type, reference, amount, currency, businessUnit, token, customerId], where token and customerId ' +
      'are in lower case, or null when absent.',
    examples: [{ type: 'charge', fingerprint: SHA_256, waitFor: '8 seconds' }],
  },
  'settle-manually': {
    schema: settleManuallySchema.zod,
    description: 'Argument of update "settleManually": what an operator found out elsewhere, who says so and why.',
    examples: [
      { status: 'succeeded', transactionId: TRANSACTION_ID, who: 'ada', why: 'seen in the portal of the provider' },
      { commandId: 'case-17', status: 'declined', category: 'payment_method_declined', who: 'ada', why: 'case 17' },
    ],
  },
  'retry-now': {
    schema: retryNowSchema.zod,
    description: 'Argument of update "retryNow": looks at once instead of at the next poll or back-off.',
    examples: [{}, { who: 'ada', why: 'the service is back' }],
  },
  'transaction-event': {
    schema: transactionEventSchema.zod,
    description: 'Argument of signal "transactionEvent": the signed fields of a verified webhook and nothing else.',
    examples: [
      {
        hash: SHA_256,
        eventType: 'payment.charge.update',
        created: '2027-01-31T10:00:00.000Z',
        businessUnit: 'default',
        paymentId: PAYMENT_ID,
        transactionId: TRANSACTION_ID,
        status: 'Succeed',
        reconciliationId: 'order-1001',
        amount: 1095,
        currency: 'USD',
        trusted: true,
      },
    ],
  },
};

/** What zod checks by code, and so can't express by itself. JSON Schema has no list of currencies: only their form. */
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
  [currencySchema.zod, { type: 'string', pattern: '^[A-Z]{3}$', description: 'ISO 4217 code.' }],
  [
    ipAddressSchema.zod,
    {
      anyOf: [
        { type: 'string', format: 'ipv4', pattern: '^\\d{1,3}(\\.\\d{1,3}){3}$' },
        // Two colons at least; the format is checked by few validators.
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
 * The text of one published schema (draft 2020-12), of what a caller writes: defaults are optional.
 * @throws when the contract holds something that neither zod nor the table above can express
 */
export async function renderSchema(name: string): Promise<string> {
  const published = PUBLISHED_SCHEMAS[name];
  if (published === undefined) throw new RangeError(`"${name}" is no published schema`);
  const { $schema, ...rest } = z.toJSONSchema(published.schema, {
    target: 'draft-2020-12',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
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

/** Files of `folder` that differ from what the contract says now; `text` is absent for one that should not be there. */
export async function outdatedSchemas(folder: string): Promise<{ path: string; text?: string }[]> {
  const names = Object.keys(PUBLISHED_SCHEMAS);
  const rendered = await Promise.all(
    names.map(async (name) => ({ path: join(folder, `${name}.json`), text: await renderSchema(name) })),
  );
  const wrong = rendered.filter(({ path, text }) => !existsSync(path) || readFileSync(path, 'utf8') !== text);
  const present = existsSync(folder) ? readdirSync(folder) : [];
  const strange = present.filter((file) => file.endsWith('.json') && !names.includes(file.slice(0, -'.json'.length)));
  return [...wrong, ...strange.map((file) => ({ path: join(folder, file) }))];
}

/** `docs/schemas` of this repository, from the sources as from `dist/`. */
function schemasFolder(): string {
  const above = ['..', '../..'].map((up) => fileURLToPath(new URL(up, import.meta.url)));
  const root = above.find((folder) => existsSync(join(folder, 'package.json')));
  if (root === undefined) throw new Error('The root of the repository was not found: there is no package.json above');
  return join(root, 'docs', 'schemas');
}

async function main(): Promise<void> {
  const folder = schemasFolder();
  const files = await outdatedSchemas(folder);
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
