import type { z } from 'zod';

/**
 * A schema that workflows share. The engine loads the contract once per worker thread and freezes everything its
 * modules export, but zod fills its schemas in on first use. A private field is not frozen. (Evaluating the schemas for
 * each workflow would cost more than the rest of a charge.)
 */
export class SharedSchema<Schema extends z.ZodType> {
  readonly #schema: Schema;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** The zod schema, for building others. */
  get zod(): Schema {
    return this.#schema;
  }

  safeParse(value: unknown): z.ZodSafeParseResult<z.output<Schema>> {
    return this.#schema.safeParse(value);
  }

  /** @throws ZodError with every fault */
  parse(value: unknown): z.output<Schema> {
    return this.#schema.parse(value);
  }
}

export type InputOf<Shared> = Shared extends SharedSchema<infer Schema> ? z.input<Schema> : never;
export type OutputOf<Shared> = Shared extends SharedSchema<infer Schema> ? z.output<Schema> : never;
