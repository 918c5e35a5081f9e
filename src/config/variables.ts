import { z } from 'zod';
import { show } from '../contract/fields.js';

/** Texts of a variable, used in faults, at the start of a process and in docs/configuration.md. */
export interface Variable {
  name: string;
  readBy: string;
  description: string;
  /** Markdown, for variables whose schema has no default. */
  default?: string;
  /** Follows "is not set: give" in the fault of a process that needs it. */
  example?: string;
  /** Printed at the start of a process if the variable is not set. */
  absent?: string;
  /** The value is never shown. */
  secret?: true;
}

export const variables = z.registry<Variable>();

/** @throws Error if the schema belongs to no variable */
export function variableOf(schema: z.core.$ZodType): Variable {
  const variable = variables.get(schema);
  if (variable === undefined) throw new Error('A setting was declared without its variable');
  return variable;
}

/** The schemas of all variables, those of groups such as `ports` too. */
export function leavesOf(schema: z.ZodObject): z.core.$ZodType[] {
  return Object.values(schema.shape).flatMap((inner) => (inner instanceof z.ZodObject ? leavesOf(inner) : [inner]));
}

/** The fault of a variable that is needed. */
export function sayNotSet(schema: z.core.$ZodType): string {
  const { name, example } = variableOf(schema);
  return `${name} is not set: give ${example}`;
}

/**
 * A comma-separated list; one that names nothing is refused, as it would allow nothing. `hint` follows the faulty entry, or no entry if it is secret. An empty one
 * is left out, unless `withEmpty`.
 */
export const listOf = (isEntry: (entry: string) => boolean, hint: string, { withEmpty = false, secret = false } = {}) =>
  z
    .string()
    // The default of a list may be empty.
    .refine((text) => text === '' || /[^,\s]/.test(text), 'names nothing; give an entry, or leave the variable out')
    .transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => withEmpty || entry !== ''),
    )
    .pipe(z.array(z.string().refine(isEntry, { error: ({ input }) => (secret ? hint : `${show(input)} ${hint}`) })));

/** Without a trailing slash. */
export const address = z
  .url({ protocol: /^https?$/, error: 'use an address such as https://api.example.com', abort: true })
  .refine((text) => new URL(text).search === '' && new URL(text).hash === '', 'leave out what begins with ? or #')
  .refine((text) => new URL(text).username === '' && new URL(text).password === '', {
    error: 'leave out the user name and the password; credentials belong in HOLDFAST_BUSINESS_UNITS',
  })
  .transform((text) => text.replace(/\/+$/, ''));

/** Only exact origins: browsers compare origins character by character, so anything else would never match. */
export const isOrigin = (text: string) => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
