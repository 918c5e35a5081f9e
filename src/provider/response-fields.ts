import { z } from 'zod';

// Two kinds of field. What flows decide by is strict: an answer that has it wrong is no answer. The rest is
// for people: wrong there, it is left out, since refusing the answer to a money movement for the sake of a
// description would turn a known outcome into an unknown one.

export const id = z.string().min(1);
export const amount = z.number().refine((value) => Number.isSafeInteger(value) && value >= 0, {
  error: 'is not a whole number of minor units',
});
/** Strict, but null and an empty string count as absent. */
export const optionalText = z
  .string()
  .nullish()
  .transform((value) => (value === null || value === '' ? undefined : value));
export const optionalAmount = amount.nullish().transform((value) => value ?? undefined);

export const note = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'string' && value !== '' ? value : undefined));
export const time = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined));
export const stringMap = z
  .unknown()
  .optional()
  .transform((value) => {
    if (!isObject(value)) return undefined;
    const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    return Object.fromEntries(entries);
  });

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Complete<T> = { [K in keyof T]-?: object extends Pick<T, K> ? T[K] | undefined : T[K] };

/** Leaves out what is undefined, so that an absent field is no field. */
export function compact<T extends object>(fields: Complete<T>): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
