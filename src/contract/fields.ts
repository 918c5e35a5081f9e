import { z } from 'zod';
import { freeText, namesCardData, starCardNumbers } from './card-data.js';
import { isCurrency } from './currencies.js';
import { SharedSchema } from './shared-schema.js';

const UNITS: Record<string, number> = {
  ms: 1,
  msec: 1,
  millisecond: 1,
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
};
/** A longer duration added to a time could yield an invalid date, which would wedge a flow. */
const LONGEST_MS = 100_000 * 604_800_000;
const PATTERN = /^(\d+(?:\.\d+)?) ?([a-z]+?)s?$/;

/**
 * Parses a duration as the Temporal SDK writes it: "8 seconds", "6 days", or a number of ms.
 * @returns ms, or undefined for anything else and beyond 100,000 weeks
 */
export function durationMs(value: string | number): number | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 && value <= LONGEST_MS ? value : undefined;
  const [, amount, unit] = PATTERN.exec(value.toLowerCase()) ?? [];
  const factor = unit === 'm' && value.toLowerCase().endsWith('ms') ? UNITS['ms'] : UNITS[unit ?? ''];
  if (amount === undefined || factor === undefined) return undefined;
  const ms = Math.round(Number(amount) * factor);
  return ms <= LONGEST_MS ? ms : undefined;
}

export const durationSchema = new SharedSchema(
  z.union([z.string(), z.number()]).refine((value) => durationMs(value) !== undefined, {
    error: (issue) => `${show(issue.input)} is not a duration, such as "8 seconds" or "6 days"`,
  }),
);

/** The merchant's unique reference. `.` is reserved for the children of subscriptions. */
export const REFERENCE_PATTERN = /^[A-Za-z0-9_-]{1,50}$/;
/** The flow of such a reference would get another flow's workflow id, `payment-actions-<paymentId>`. */
const TAKEN_REFERENCE = /^actions-[0-9a-fA-F]{8}-/;

export const referenceSchema = new SharedSchema(
  // A copy, because workflows share exported patterns frozen and zod writes to the pattern it is given.
  z
    .string()
    .regex(new RegExp(REFERENCE_PATTERN), {
      error: (issue) => `${show(issue.input)} is not a reference: use 1-50 characters of A-Z a-z 0-9 _ -`,
    })
    .refine((reference) => !new RegExp(TAKEN_REFERENCE).test(reference), {
      error: 'must not start with "actions-" and a UUID: the flow would take the id of another one',
    }),
);

/** Reference of one attempt to bill a subscription. Only the subscription may start its flow (see `names.ts`). */
export const attemptReferenceSchema = new SharedSchema(
  // As many attempt digits as 50 characters allow: if attempt numbers run out, the period can't be paid any more.
  z
    .string()
    .max(50, { error: 'is longer than 50 characters' })
    .regex(/^[A-Za-z0-9_-]{1,40}\.\d{1,5}\.\d{1,6}$/, {
      error: (issue) => `${show(issue.input)} is not the reference of an attempt to bill a subscription`,
    }),
);

/** Minor units of the currency: 1095 is 10.95 USD, 1095 JPY, 1.095 KWD. */
export const amountSchema = new SharedSchema(
  z
    .number({ error: (issue) => `${show(issue.input)} is not an amount: use a whole number of minor units` })
    .refine((value) => Number.isSafeInteger(value) && value > 0, {
      error: (issue) =>
        `${show(issue.input)} is not an amount: use a whole number of minor units from 1 to ${Number.MAX_SAFE_INTEGER}`,
    }),
);

export const currencySchema = new SharedSchema(
  z.string().refine(isCurrency, {
    error: (issue) => `${show(issue.input)} is not an ISO 4217 currency code, such as USD`,
  }),
);

/** The service's ids are UUIDs of any version. They are compared and sent unchanged. */
export const uuidSchema = new SharedSchema(
  z.string().regex(/^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/, {
    error: 'is not a UUID',
  }),
);

/**
 * The service defines a customer id only as a string. It becomes part of URLs and of workflow ids, which are plaintext,
 * so path characters and spaces are refused.
 */
export const customerIdSchema = new SharedSchema(
  z
    .string()
    .regex(/^(?!\.{1,2}$)[!-~]{1,128}$/, {
      error: 'is not a customer id: use 1-128 visible ASCII characters',
    })
    .regex(/^[^/\\?#%]*$/, { error: 'is not a customer id: it holds one of / \\ ? # %' }),
);

/** Minor units of one order item: 0 if free, negative for a discount. */
export const priceSchema = new SharedSchema(
  z
    .number({ error: (issue) => `${show(issue.input)} is not a price: use a whole number of minor units` })
    .refine(Number.isSafeInteger, {
      error: (issue) => `${show(issue.input)} is not a price: use a whole number of minor units, 0 for a free item`,
    }),
);

/** The buyer's IP address, without zone id. */
/** An instant with its zone. */
export const instantSchema = new SharedSchema(
  z.string().refine((text) => INSTANT.test(text) && !Number.isNaN(Date.parse(text)), {
    error: (issue) => `${show(issue.input)} is no instant with its zone, such as 2027-06-01T08:00:00Z`,
  }),
);
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

/** An address that is told besides the endpoints of the business unit. */
export const notifySchema = new SharedSchema(
  z.strictObject({ url: z.url({ protocol: /^https?$/, error: 'is not an http or https address' }).max(2_048) }),
);

export const ipAddressSchema = new SharedSchema(
  z.string().pipe(
    // A copy, because `z.ipv4()` writes to zod's own pattern, which is frozen where workflows share it.
    z.union([z.string().regex(new RegExp(z.regexes.ipv4)), z.ipv6()], {
      error: 'is neither an IPv4 nor an IPv6 address',
    }),
  ),
);

/** Name of a business unit in the configuration. Its keys never reach a workflow. */
export const businessUnitSchema = new SharedSchema(
  z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, {
    error: (issue) => `${show(issue.input)} is not the name of a business unit`,
  }),
);

/** Limits the size: a failure message is written to a history more than once. */
const MOST_FAULTS = 50;

/** One line per fault, each with its path, so that a caller can fix them all at once. At most 50. */
export function faultsOf(error: z.ZodError): string[] {
  const faults = error.issues.flatMap((issue) => {
    // The caller chooses the keys of a map, so they are cut.
    const path = issue.path.map((key) => cut(String(key), 40)).join('.');
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.slice(0, MOST_FAULTS + 1).map((key) => unknownField(path, key));
    }
    return [`${path === '' ? 'input' : path}: ${issue.message}`];
  });
  return faults.length > MOST_FAULTS ? [...faults.slice(0, MOST_FAULTS), 'and more like these'] : faults;
}

function unknownField(path: string, key: string): string {
  const name = cut(key, 40);
  const why =
    namesCardData(key.slice(0, 40)) === undefined ? '' : ', and card data must never enter a history: send a token';
  return `${path === '' ? name : `${path}.${name}`}: unknown field${why}`;
}

/** A value for an error message: short, and never a card number. */
export function show(value: unknown): string {
  if (typeof value === 'number') return starCardNumbers(String(value));
  if (typeof value !== 'string') return value === undefined ? 'a missing value' : `a value of type ${typeof value}`;
  return JSON.stringify(cut(value, 60));
}

/** Masks before cutting: a card number that begins within the shown part may end beyond it. */
function cut(text: string, most: number): string {
  const short = starCardNumbers(text.slice(0, most + 100)).slice(0, most);
  return text.length > most ? `${short}...` : short;
}

/** Who asks for or decides something, or why. */
export const personSchema = new SharedSchema(freeText(200, z.string().trim()));
