import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as charge from '../../src/contract/charge.js';
import { SharedSchema } from '../../src/contract/shared-schema.js';
import { PUBLISHED_SCHEMAS } from '../../tools/published-schemas.js';
import { MINIMAL } from './examples.js';

/** As the engine does with everything that a shared module exports. */
function freezeAll(value: unknown, seen = new Set<unknown>()): void {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
  seen.add(value);
  for (const key of Reflect.ownKeys(value)) {
    const descriptor = Object.getOwnPropertyDescriptor(value, key);
    if (descriptor !== undefined && 'value' in descriptor) freezeAll(descriptor.value, seen);
  }
  Object.freeze(value);
}

/** Every module of the contract, so that a new one can't be forgotten here. */
const CONTRACT = new URL('../../src/contract/', import.meta.url);
const FILES = readdirSync(CONTRACT).filter((file) => file.endsWith('.ts'));
const MODULES: Record<string, unknown>[] = [];
for (const file of FILES) {
  const path = new URL(file, CONTRACT).href;
  MODULES.push((await import(path)) as Record<string, unknown>);
}
const shared = MODULES.flatMap((module) => Object.entries(module)).filter(
  (entry): entry is [string, SharedSchema<z.ZodType>] => entry[1] instanceof SharedSchema,
);

describe('a schema that workflows share', () => {
  test('is every schema that the contract exports', () => {
    const exported = MODULES.flatMap((module) => Object.entries(module));
    const isSchema = (value: unknown): boolean => value instanceof z.ZodType;
    const schemas = exported.filter(
      ([name, value]) => isSchema(value) || (name.endsWith('Schema') && value !== SharedSchema),
    );
    expect(shared.length).toBeGreaterThanOrEqual(30);
    expect(schemas.map(([name]) => name).toSorted()).toEqual(shared.map(([name]) => name).toSorted());
  });

  test.each(shared)('%s still reads values after the engine has frozen what its module exports', (_name, schema) => {
    freezeAll(schema);
    expect(() => schema.safeParse(MINIMAL)).not.toThrow();
    expect(schema.safeParse(Symbol('no input')).success).toBe(false);
  });

  test.each(Object.entries(PUBLISHED_SCHEMAS))('reads the examples of %s, every field of them', (_name, published) => {
    const [, schema] = shared.find(([, { zod }]) => zod === published.schema) ?? [];
    freezeAll(schema);
    for (const example of published.examples) expect(schema?.safeParse(example)).toMatchObject({ success: true });
  });

  test('reads a charge the same before and after', () => {
    for (const module of MODULES) for (const value of Object.values(module)) freezeAll(value);
    expect(charge.chargeInputSchema.parse(MINIMAL)).toEqual({ ...MINIMAL, businessUnit: 'default' });
    expect(() => charge.chargeInputSchema.parse({ ...MINIMAL, amount: 0 })).toThrow(z.ZodError);
  });
});
