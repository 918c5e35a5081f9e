import { z } from 'zod';
import { shown, type Faults } from './config-error.js';

/** Reads single variables. An empty one counts as not set, since compose files can't leave one out. */
export class EnvironmentReader {
  readonly #env: NodeJS.ProcessEnv;
  readonly #faults: Faults;

  constructor(env: NodeJS.ProcessEnv, faults: Faults) {
    this.#env = env;
    this.#faults = faults;
  }

  text(name: string): string | undefined {
    const value = this.#env[name]?.trim();
    return value === undefined || value === '' ? undefined : value;
  }

  choice<const T extends readonly [string, ...string[]]>(name: string, choices: T, fallback: T[number]): T[number] {
    return this.#read(name, z.enum(choices), fallback, `use one of ${choices.join(', ')}`);
  }

  port(name: string, fallback: number): number {
    const port = z
      .string()
      .regex(/^\d{1,5}$/)
      .transform(Number)
      .refine((value) => value <= 65_535);
    return this.#read(name, port, fallback, 'use a port from 0 to 65535 (0: any free port)');
  }

  /** From 1 on. */
  wholeNumber(name: string, fallback: number): number {
    const number = z
      .string()
      .regex(/^[1-9]\d{0,5}$/)
      .transform(Number);
    return this.#read(name, number, fallback, 'use a whole number from 1 to 999999');
  }

  /** `1` or `true`, `0` or `false`. */
  flag(name: string): boolean {
    const flag = z.enum(['1', 'true', '0', 'false']).transform((value) => value === '1' || value === 'true');
    return this.#read(name, flag, false, 'use 1 or 0');
  }

  #read<T>(name: string, schema: z.ZodType<T, string>, fallback: T, hint: string): T {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    this.#faults.add(`${name}=${shown(value)}: ${hint}`);
    return fallback;
  }
}
