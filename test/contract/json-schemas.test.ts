import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIPv4, isIPv6 } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { chargeInputSchema } from '../../src/contract/charge.js';
import { PAYMENTS_TASK_QUEUE, paymentWorkflowId, WORKFLOW_TYPES } from '../../src/contract/names.js';
import { outdatedSchemas, renderSchema, renderSchemas } from '../../tools/json-schemas.js';
import { PUBLISHED_SCHEMAS } from '../../tools/published-schemas.js';
import { MINIMAL, NO_AMOUNTS, NO_REFERENCES, TOKEN } from './examples.js';

const FOLDER = resolve(import.meta.dirname, '../../docs/schemas');
const names = Object.keys(PUBLISHED_SCHEMAS);
const rendered = await renderSchemas();

function committed(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Record<string, unknown>;
}

const validators = new Map<string, ValidateFunction>();
/** Another validator than the one the schemas were made from, and a strict one. One for all: each compiles the draft anew. */
const ajv = new Ajv2020({
  strict: true,
  allErrors: true,
  formats: { ipv4: isIPv4, ipv6: isIPv6, uri: (text: string) => URL.canParse(text) },
});

function validatorOf(name: string): ValidateFunction {
  const made = validators.get(name) ?? ajv.compile(committed(name));
  validators.set(name, made);
  return made;
}

const scratch = mkdtempSync(join(tmpdir(), 'holdfast-schemas-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('the published JSON Schemas', () => {
  test('are what the contract says now (npm run schemas writes them)', () => {
    expect(outdatedSchemas(FOLDER, rendered).map(({ path }) => path)).toEqual([]);
    expect(readdirSync(FOLDER).filter((file) => file.endsWith('.json'))).toHaveLength(names.length);
  });

  test.each(names)('%s has a text that does not depend on when it is made', async (name) => {
    expect(await renderSchema(name)).toBe(rendered.get(name));
  });

  test.each(names)('%s is a draft 2020-12 schema with an id, and refuses unknown fields on every level', (name) => {
    const schema = committed(name);
    expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(schema['$id']).toBe(`urn:holdfast:${name}`);
    expect(ajv.validateSchema(schema)).toBe(true);
    const objects = objectSchemasOf(schema);
    expect(objects.length).toBeGreaterThan(0);
    for (const object of objects) expect(object).toHaveProperty('additionalProperties', false);
  });

  test.each(names)('%s has examples that it and the contract both take', (name) => {
    const validate = validatorOf(name);
    const { examples, schema } = PUBLISHED_SCHEMAS[name] ?? { examples: [], schema: undefined };
    expect(committed(name)['examples']).toEqual(examples);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      expect({ example, valid: validate(example) }).toEqual({ example, valid: true });
      expect(schema?.safeParse(example).success).toBe(true);
      expect(validate({ ...(example as object), unknownField: 1 })).toBe(false);
    }
  });
});

describe('the schema of a charge', () => {
  const valid = (change: object): boolean => validatorOf('charge-input')({ ...MINIMAL, ...change });

  test.each(NO_AMOUNTS.filter(([, value]) => typeof value !== 'bigint'))('refuses %s as an amount', (_name, amount) => {
    const { amount: _left, ...without } = MINIMAL;
    const input = amount === undefined ? without : { ...MINIMAL, amount };
    expect(validatorOf('charge-input')(input)).toBe(false);
  });

  test.each(NO_REFERENCES)('refuses %p as a reference', (reference) => {
    expect(valid({ reference })).toBe(false);
  });

  test.each(['usd', 'US', 'USDT', '', 840])('refuses %p as a currency', (currency) => {
    expect(valid({ currency })).toBe(false);
  });

  test.each([
    { type: 'tokenized' },
    { type: 'tokenized', token: 'tok_1' },
    { type: 'untokenized', token: TOKEN },
    { type: 'tokenized', token: TOKEN, encryptedCvv: '123' },
    { type: 'tokenized', token: TOKEN, cardNumber: 'x' },
  ])('refuses %p as a payment method', (paymentMethod) => {
    expect(valid({ paymentMethod })).toBe(false);
  });

  test('agrees with the contract on amounts, references and names of units', () => {
    const validate = validatorOf('charge-input');
    const change = fc.record(
      {
        amount: fc.oneof(fc.double(), fc.maxSafeInteger(), fc.integer(), fc.string()),
        reference: fc.oneof(fc.string(), fc.stringMatching(/^[A-Za-z0-9_-]{45,55}$/)),
        businessUnit: fc.oneof(fc.string(), fc.stringMatching(/^[a-z.]{60,70}$/)),
      },
      { requiredKeys: [] },
    );
    const { schema } = PUBLISHED_SCHEMAS['charge-input'] ?? {};
    fc.assert(
      fc.property(change, (changed) => {
        const input = { ...MINIMAL, ...changed };
        expect(validate(input)).toBe(schema?.safeParse(input).success);
      }),
    );
  });

  test('takes every address that is one, as the contract does, and nothing that the contract refuses', () => {
    const validate = validatorOf('charge-input');
    const taken = (clientIpAddress: string): { schema: boolean; contract: boolean } => {
      const input = { ...MINIMAL, clientIpAddress };
      return { schema: validate(input), contract: chargeInputSchema.safeParse(input).success };
    };
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        expect(taken(address)).toEqual({ schema: true, contract: true });
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f:.]{1,20}$/)), (text) => {
        const { schema, contract } = taken(text);
        if (schema) expect(contract).toBe(true);
      }),
    );
    expect(taken('localhost')).toEqual({ schema: false, contract: false });
  });
});

describe('the documentation for other languages', () => {
  const page = readFileSync(resolve(FOLDER, '../raw-start.md'), 'utf8');

  test('links to schemas that exist', () => {
    const links = [...page.matchAll(/\]\(schemas\/([a-z-]+)\.json\)/g)].map((match) => match[1] ?? '');
    expect(links).toEqual(expect.arrayContaining(['charge-input', 'resolve-pending-input', 'settle-manually']));
    expect(links.filter((name) => !names.includes(name))).toEqual([]);
  });

  test('shows a start whose input, workflow id and task queue are those of the contract', () => {
    const [, text = ''] = /--input '(\{.*\})'/.exec(page) ?? [];
    const input = JSON.parse(text.replace('"..."', JSON.stringify(TOKEN))) as { reference: string };
    expect({ input, valid: validatorOf('charge-input')(input) }).toEqual({ input, valid: true });
    expect(page).toContain(`--workflow-id ${paymentWorkflowId(input.reference)} `);
    expect(page).toContain(`--task-queue ${PAYMENTS_TASK_QUEUE} --type ${WORKFLOW_TYPES.charge}`);
    expect(page).toContain('--id-reuse-policy RejectDuplicate');
  });

  test('shows an update "outcome" that its schema takes', () => {
    const [, text = ''] = /`(\{"type": "charge".*?\})`/.exec(page) ?? [];
    const request: unknown = JSON.parse(text);
    expect({ request, valid: validatorOf('outcome-request')(request) }).toEqual({ request, valid: true });
  });
});

describe('the check for outdated files', () => {
  test('names a file that is missing, one that differs and one that belongs to nothing', () => {
    const folder = join(scratch, 'schemas');
    mkdirSync(folder);
    for (const [name, text] of rendered) writeFileSync(join(folder, `${name}.json`), text);
    expect(outdatedSchemas(folder, rendered)).toEqual([]);

    rmSync(join(folder, 'retry-now.json'));
    writeFileSync(join(folder, 'charge-input.json'), '{}');
    writeFileSync(join(folder, 'gift.json'), '{}');
    const found = outdatedSchemas(folder, rendered).map(({ path, text }) => [path, text === undefined]);
    expect(found).toEqual([
      [join(folder, 'charge-input.json'), false],
      [join(folder, 'retry-now.json'), false],
      [join(folder, 'gift.json'), true],
    ]);
  });

  test('finds every file missing in a folder that does not exist', () => {
    expect(outdatedSchemas(join(scratch, 'nowhere'), rendered)).toHaveLength(names.length);
  });
});

function objectSchemasOf(node: unknown): object[] {
  if (typeof node !== 'object' || node === null) return [];
  const inside = Object.entries(node)
    .filter(([key]) => key !== 'examples')
    .flatMap(([, value]) => objectSchemasOf(value));
  return 'properties' in node ? [node, ...inside] : inside;
}
