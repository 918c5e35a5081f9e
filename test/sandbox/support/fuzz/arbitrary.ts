import fc from 'fast-check';
import { anyText } from '../../../support/any-text.js';

/** As much of JSON Schema as the description uses. */
export interface Schema {
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  type?: string;
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  propertyNames?: Schema;
  additionalProperties?: Schema | boolean;
}

/** Values that fit a schema. */
export function fitting(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.examples !== undefined) {
    const { examples, ...rest } = schema;
    return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...examples) }, fitting(rest));
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map(fitting));
  switch (schema.type) {
    case 'string':
      return text(schema);
    case 'integer':
      return fc.integer({
        min: schema.minimum ?? (schema.exclusiveMinimum ?? -1) + 1,
        max: Math.min(schema.maximum ?? 9_000, 90_000),
      });
    case 'number':
      return schema.maximum === undefined
        ? fc.integer({ min: 1, max: 900_000 }).map((cents) => cents / 100)
        : fc.double({ min: schema.minimum ?? 0, max: schema.maximum, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(fitting(schema.items ?? {}), { maxLength: 3 });
    case 'object':
      return object(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function text({ format, pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.uuid();
  if (format === 'email') return fc.constantFrom('ada@example.com', 'manual-review-hub@email.com');
  if (format === 'uri') return fc.constantFrom('http://127.0.0.1:9/a', 'http://localhost:9/b?c=d');
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return anyText({ minLength, maxLength: Math.min(maxLength, 40) });
}

function object({ properties = {}, required = [], propertyNames, additionalProperties }: Schema): fc.Arbitrary<object> {
  const named = Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, fitting(inner)]));
  const known = fc.record(named, { requiredKeys: required }) as fc.Arbitrary<object>;
  if (typeof additionalProperties !== 'object') return known;
  const names = propertyNames === undefined ? fc.string({ maxLength: 8 }) : fitting(propertyNames);
  const others = fc.dictionary(names as fc.Arbitrary<string>, fitting(additionalProperties), { maxKeys: 2 });
  return fc.tuple(others, known).map(([more, own]) => ({ ...more, ...own }));
}

/** A body with one of its values, at any depth, replaced by any JSON value. */
export function spoilt(body: unknown, at: number, value: unknown): unknown {
  const paths = pathsOf(body);
  return replaced(body, paths[at % paths.length] ?? [], value);
}

function pathsOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))];
}

function replaced(target: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const inner = (target as Record<string, unknown>)[name];
  return { ...(target as object), [name]: replaced(inner, rest, value) };
}
