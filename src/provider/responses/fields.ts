import { z } from 'zod';
import { UnreadableAmount } from '../unreadable-amount.js';

// Two kinds of field. What flows decide by is strict: an answer that has it wrong is no answer. The rest is
// for people: wrong there, it is left out, since refusing the answer to a money movement for the sake of a
// description would turn a known outcome into an unknown one.

/** A longer one is no id, and would not fit a history either. */
const LONGEST_ID = 255;
export const id = z.string().min(1).max(LONGEST_ID);
/** To send a buyer to. */
export const address = z.string().min(1).max(16_384);
export const amount = z
  .number({ error: ({ input }) => (input instanceof UnreadableAmount ? input.reason : undefined) })
  .refine((value) => Number.isSafeInteger(value) && value >= 0, { error: 'is not a whole number of minor units' });
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
/** Text that stands beside card data: left out where it holds as many digits as a card number. */
export const cardNote = note.transform((value) =>
  value === undefined || /\d(?:[ -]?\d){11,}/.test(value) ? undefined : value,
);
export const flag = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'boolean' ? value : undefined));
/** A sum in minor units that nothing is decided by. */
export const sumNote = z
  .unknown()
  .optional()
  .transform((value) => {
    const read = amount.safeParse(value);
    return read.success ? read.data : undefined;
  });
/** A price in minor units, a discount too, that nothing is decided by. */
export const priceNote = z
  .unknown()
  .optional()
  .transform((value) => (Number.isSafeInteger(value) ? (value as number) : undefined));
export const numberNote = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined));
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

export const jsonMap = z
  .unknown()
  .optional()
  .transform((value) => (isObject(value) ? value : undefined));

/** An optional part that nothing is decided by: unreadable, it is left out. */
export function noteOf<Schema extends z.ZodType>(schema: Schema) {
  return schema.optional().catch(undefined);
}

/** The id at the end of a link. */
export function idOfLink(href: string | undefined): string | undefined {
  return href?.split('/').at(-1);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Complete<T> = { [K in keyof T]-?: object extends Pick<T, K> ? T[K] | undefined : T[K] };

/** Leaves out what is undefined, so that an absent field is no field. */
export function compact<T extends object>(fields: Complete<T>): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
