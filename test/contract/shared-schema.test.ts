import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import * as charge from '../../src/contract/charge.js';
import * as duration from '../../src/contract/duration.js';
import * as fields from '../../src/contract/fields.js';
import * as messages from '../../src/contract/messages.js';
import * as resolvePending from '../../src/contract/resolve-pending.js';
import { SharedSchema } from '../../src/contract/shared-schema.js';
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

const MODULES = { charge, duration, fields, messages, resolvePending };
const shared = Object.values(MODULES)
  .flatMap((module) => Object.entries(module))
  .filter((entry): entry is [string, SharedSchema<z.ZodType>] => entry[1] instanceof SharedSchema);

describe('a schema that workflows share', () => {
  test('is every schema that the contract exports', () => {
    const exported = Object.values(MODULES).flatMap((module) => Object.keys(module));
    const schemas = exported.filter((name) => name.endsWith('Schema'));
    expect(shared.length).toBeGreaterThanOrEqual(10);
    expect(schemas.toSorted()).toEqual(shared.map(([name]) => name).toSorted());
  });

  test.each(shared)('%s still reads values after the engine has frozen what its module exports', (_name, schema) => {
    freezeAll(schema);
    expect(() => schema.safeParse(MINIMAL)).not.toThrow();
    expect(schema.safeParse(Symbol('no input')).success).toBe(false);
  });

  test('reads a charge the same before and after', () => {
    for (const module of Object.values(MODULES)) for (const value of Object.values(module)) freezeAll(value);
    expect(charge.chargeInputSchema.parse(MINIMAL)).toEqual({ ...MINIMAL, businessUnit: 'default' });
    expect(() => charge.chargeInputSchema.parse({ ...MINIMAL, amount: 0 })).toThrow(z.ZodError);
  });
});
