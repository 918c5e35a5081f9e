import { z } from 'zod';
import { isCurrency } from '../contract/currencies.js';
import { show } from '../contract/fields.js';

/** A line of a statement. */
export interface StatementLine {
  /** Of the file, beginning with 1. */
  readonly number: number;
  readonly line: string;
  /** undefined: the line is no object. */
  readonly value: object | undefined;
}

export const NO_OBJECT = 'is no JSON object';

/** The lines of a statement that are not empty. */
export function jsonLines(source: string): StatementLine[] {
  return source.split('\n').flatMap((whole, index) => {
    const line = whole.trim();
    return line === '' ? [] : [{ number: index + 1, line, value: objectOf(line) }];
  });
}

export function objectOf(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A space at an end would make a reference that nobody finds, and so a payment that counts as not made. */
export const textOr = (otherwise: string) =>
  z
    .string({ error: ({ input }) => (input === undefined ? `is missing${otherwise}` : `must be a text${otherwise}`) })
    .refine((value) => value !== '' && value === value.trim(), 'must not be empty, nor begin or end with a space');

export const oneOf = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, {
    error: ({ input }) =>
      input === undefined ? 'is missing' : `${show(input)} is unknown: use one of ${values.join(', ')}`,
  });

export const currencyCode = z
  .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a text') })
  .refine(isCurrency, { error: ({ input }) => `${show(input)} is not an ISO 4217 currency code, such as USD` });

export const minorUnits = z
  .number({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a number of minor units') })
  .refine((value) => Number.isSafeInteger(value) && value > 0, 'must be a whole number of minor units above 0');

/** What is wrong with the fields of a line. */
export function fieldFaults(error: z.ZodError): string[] {
  return error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
}
