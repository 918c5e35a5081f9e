import { z } from 'zod';
import { priceSchema } from '../contract/fields.js';
import type { VersionRules } from './versions.js';
import { UnreadableAmount, toWireName } from './wire.js';

// Fields of requests.

export const text = z.string().min(1).max(255);

/** Sent as written, keys and values. */
export const stringMap = z.record(z.string().min(1), z.string());
export const jsonMap = z.record(z.string().min(1), z.json());

/** Money that may be nothing: a tax, a part of a sum. Minor units. */
export const sum = z
  .number({ error: 'is not a sum: use a whole number of minor units' })
  .refine((value) => Number.isSafeInteger(value) && value >= 0, {
    error: `is not a sum: use a whole number of minor units from 0 to ${Number.MAX_SAFE_INTEGER}`,
  });

export const installments = z.strictObject({
  numberOfInstallments: z.int().min(1).optional(),
  /** Minor units. */
  firstPaymentAmount: sum.optional(),
  /** Minor units. */
  remainingPaymentsAmount: sum.optional(),
});

export const lineItemRequest = z.strictObject({
  id: text.optional(),
  name: text.optional(),
  description: z.string().min(1).max(4096).optional(),
  quantity: z.int().min(1).optional(),
  /** Minor units. Needed on every item of a payment that is to be risk-analysed. */
  unitPrice: priceSchema.zod.optional(),
});

/** 8 digits, or 12 to 19. Messages about card data never show the value. */
export const cardNumber = z.string().regex(/^(\d{8}|\d{12,19})$/, {
  error: 'is not a card number of 8 or 12 to 19 digits',
});

/** `MM/YYYY`; the separators `-`, `.` and space, and years of 2 digits, are taken too. */
export const expirationDate = z.string().regex(/^(0[1-9]|1[0-2])[/. -](\d{4}|\d{2})$/, {
  error: 'is not an expiration date, such as MM/YYYY',
});

/** ISO 3166-1: alpha-3, at API version 1.0.0 alpha-2 as well. There it goes out as alpha-2 either way. */
export function countryOf(rules: VersionRules) {
  const lengths = rules.shortCountries ? '2 or 3' : '3';
  return z.string().regex(rules.shortCountries ? /^[A-Z]{2,3}$/ : /^[A-Z]{3}$/, {
    error: `is not a country code of ${lengths} capital letters`,
  });
}

export function addressRequest(rules: VersionRules) {
  return z.strictObject({
    country: countryOf(rules).optional(),
    state: text.optional(),
    city: text.optional(),
    line1: text.optional(),
    line2: text.optional(),
    zipCode: text.optional(),
    title: text.optional(),
    firstName: text.optional(),
    lastName: text.optional(),
    phone: text.optional(),
    email: text.optional(),
  });
}

// Fields of answers are of two kinds. What flows decide by is strict: an answer that has it wrong is no answer. The
// rest is lenient, since it is for people: wrong there, it is left out. To refuse the answer to a money movement for
// the sake of a description would turn a known outcome into an unknown one.

/** A longer one is no id, and would not fit a history either. */
const LONGEST_ID = 255;
export const strictId = z.string().min(1).max(LONGEST_ID);
/** To send a buyer to. */
export const strictUrl = z.string().min(1).max(16_384);
export const strictAmount = z
  .number({ error: ({ input }) => (input instanceof UnreadableAmount ? input.reason : undefined) })
  .refine((value) => Number.isSafeInteger(value) && value >= 0, { error: 'is not a whole number of minor units' });
/** Null and an empty string count as absent. */
export const optionalText = z
  .string()
  .nullish()
  .transform((value) => (value === null || value === '' ? undefined : value));
export const optionalAmount = strictAmount.nullish().transform((value) => value ?? undefined);

/** An optional part that nothing is decided by: unreadable, it is left out. */
export function lenient<Schema extends z.ZodType>(schema: Schema) {
  return schema.optional().catch(undefined);
}

export const lenientText = lenient(z.string().min(1));
/** Text that stands beside card data: left out where it holds as many digits as a card number. */
export const lenientCardText = lenient(
  z
    .string()
    .min(1)
    .refine((value) => !/\d(?:[ -]?\d){11,}/.test(value)),
);
export const lenientFlag = lenient(z.boolean());
export const lenientNumber = lenient(z.number());
/** Minor units. */
export const lenientSum = lenient(strictAmount);
/** Minor units, less than nothing for a discount. */
export const lenientPrice = lenient(z.number().refine(Number.isSafeInteger));
/** Epoch ms, as text. */
export const lenientTime = lenient(z.union([z.string(), z.number()]).transform(String));
export const lenientJsonMap = lenient(z.custom<Record<string, unknown>>(isObject));
export const lenientStringMap = lenientJsonMap.transform((map) => {
  if (map === undefined) return undefined;
  const entries = Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(entries);
});

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type OptionalKeys<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];
/** What can be undefined may be absent, and is never there as `undefined`. */
type Compact<T> = { [K in keyof T as K extends OptionalKeys<T> ? never : K]: T[K] } & {
  [K in keyof T as K extends OptionalKeys<T> ? K : never]?: Exclude<T[K], undefined>;
};
type Flat<T> = { [K in keyof T]: T[K] };
/** What an object of an answer with these fields is. */
export type FieldsOf<Shape extends z.ZodRawShape> = Flat<Compact<{ [K in keyof Shape]: z.output<Shape[K]> }>>;

export type WireNames<Shape> = { readonly [Name in keyof Shape]?: string };

/**
 * An object of an answer. Its fields stand under the names that callers see and are read under their names on the wire,
 * which `wireNames` gives where they differ by more than the spelling. A field without a value is left out.
 */
export function answerObject<Shape extends z.ZodRawShape>(
  shape: Shape,
  wireNames: WireNames<Shape> = {},
): z.ZodType<FieldsOf<Shape>> {
  const fields = Object.entries(shape).map(([name, schema]) => ({
    name,
    wireName: wireNames[name] ?? toWireName(name),
    schema,
  }));
  return z
    .object(Object.fromEntries(fields.map(({ wireName, schema }) => [wireName, schema])))
    .transform((wire: Record<string, unknown>) => {
      const entries = fields.map(({ name, wireName }) => [name, wire[wireName]] as const);
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as FieldsOf<Shape>;
    });
}

const addressFields = {
  /** ISO 3166-1 alpha-3, at every API version. */
  country: lenientText,
  state: lenientText,
  city: lenientText,
  line1: lenientText,
  line2: lenientText,
  zipCode: lenientText,
  title: lenientText,
  firstName: lenientText,
  lastName: lenientText,
  phone: lenientText,
  email: lenientText,
};
export interface Address extends FieldsOf<typeof addressFields> {}
export const addressSchema: z.ZodType<Address> = answerObject(addressFields);

/** The id at the end of a link. */
export function idOfLink(href: string | undefined): string | undefined {
  return href?.split('/').at(-1);
}
