import { z } from 'zod';
import { priceSchema } from '../contract/fields.js';
import type { VersionRules } from './versions.js';
import { UnreadableAmount, toWireName } from './wire.js';

// Fields of requests.

export const text = z.string().min(1).max(255);

/** Keys and values are sent unchanged. */
export const stringMap = z.record(z.string().min(1), z.string());
export const jsonMap = z.record(z.string().min(1), z.json());

/** An amount in minor units that may be 0, such as a tax or a part of a sum. */
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
  /** Minor units. Required on every item for a risk analysis of the payment. */
  unitPrice: priceSchema.zod.optional(),
});

/** 8 digits, or 12 to 19. Error messages about card data never contain the value. */
export const cardNumber = z.string().regex(/^(\d{8}|\d{12,19})$/, {
  error: 'is not a card number of 8 or 12 to 19 digits',
});

/** `MM/YYYY`; the separators `-`, `.` and space and two-digit years are accepted too. */
export const expirationDate = z.string().regex(/^(0[1-9]|1[0-2])[/. -](\d{4}|\d{2})$/, {
  error: 'is not an expiration date, such as MM/YYYY',
});

/** ISO 3166-1 alpha-3; at API version 1.0.0 also alpha-2, and always sent as alpha-2. */
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

// Fields of answers. Fields that flows decide by are strict: if one is invalid, the answer is refused. Other fields are
// for people and lenient: if one is invalid, it is left out. Refusing the answer to a money movement because of a
// description would turn a known outcome into an unknown one.

/** Maximum length of an id. A longer text is not an id and could fill a history. */
const LONGEST_ID = 255;
export const strictId = z.string().min(1).max(LONGEST_ID);
/** An address to which a buyer is redirected. */
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

/** An optional field that no flow decides by; left out if unreadable. */
export function lenient<Schema extends z.ZodType>(schema: Schema) {
  return schema.optional().catch(undefined);
}

export const lenientText = lenient(z.string().min(1));
/** Text next to card data; left out if it has as many digits as a card number. */
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
/** Minor units, negative for a discount. */
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
/** Fields that can be undefined become optional and are never present as `undefined`. */
type Compact<T> = { [K in keyof T as K extends OptionalKeys<T> ? never : K]: T[K] } & {
  [K in keyof T as K extends OptionalKeys<T> ? K : never]?: Exclude<T[K], undefined>;
};
type Flat<T> = { [K in keyof T]: T[K] };
/** Type of an answer object with these fields. */
export type FieldsOf<Shape extends z.ZodRawShape> = Flat<Compact<{ [K in keyof Shape]: z.output<Shape[K]> }>>;

export type WireNames<Shape> = { readonly [Name in keyof Shape]?: string };

/**
 * Schema of an answer object. The shape uses the callers' names; `wireNames` gives the wire names that differ by more
 * than the spelling. A field without a value is left out.
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
