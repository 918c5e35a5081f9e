import { z } from 'zod';
import { DAY_MS } from './time-units.js';
import {
  durationMs,
  durationSchema,
  businessUnitSchema,
  currencySchema,
  customerIdSchema,
  notifySchema,
  show,
  uuidSchema,
} from './fields.js';
import { metadataSchema } from './metadata.js';
import { type InputOf, type OutputOf, SharedSchema } from './shared-schema.js';
import { amountsSchema, billAmountSchema } from './subscription-amounts.js';
import { TIME_ZONES } from './time-zones.js';

/** Shorter than other references: an attempt to bill is `<subscription>.<period>.<attempt>`, at most 50 characters. */
export const SUBSCRIPTION_REFERENCE_PATTERN = /^[A-Za-z0-9_-]{1,40}$/;

export const subscriptionReferenceSchema = new SharedSchema(
  z.string().regex(new RegExp(SUBSCRIPTION_REFERENCE_PATTERN), {
    error: (issue) => `${show(issue.input)} is not the reference of a subscription: use 1-40 of A-Z a-z 0-9 _ -`,
  }),
);

/** A calendar day without time or zone: 2027-01-31. */
export const calendarDateSchema = new SharedSchema(
  // A copy, because zod's own pattern is frozen where workflows share it, and zod writes to the pattern it is given.
  z
    .string()
    .regex(new RegExp(z.regexes.date), {
      abort: true,
      error: (issue) => `${show(issue.input)} is not a day of the calendar, such as 2027-01-31`,
    })
    .refine((date) => date >= '1970-01-01' && date < '2200-01-01', {
      error: (issue) => `${show(issue.input)} is out of range: use a day from 1970-01-01 to 2199-12-31`,
    }),
);

export const timeZoneSchema = new SharedSchema(
  z.string().refine((name) => TIME_ZONES.has(name), {
    error: (issue) => `${show(issue.input)} is not an IANA time zone, such as Europe/Rome`,
  }),
);

/** Local wall-clock time, 00:00 to 23:59. */
export const localTimeSchema = new SharedSchema(
  z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, {
    error: (issue) => `${show(issue.input)} is not a time of day, such as 10:00`,
  }),
);

const INTERVAL_UNITS = ['day', 'week', 'month', 'year'] as const;
type IntervalUnit = (typeof INTERVAL_UNITS)[number];
/** Ten years in each unit; a longer interval is probably a typing error. */
const LONGEST: Readonly<Record<IntervalUnit, number>> = { day: 3_650, week: 520, month: 120, year: 10 };

export const intervalSchema = new SharedSchema(
  z
    .strictObject({ every: z.int().min(1), unit: z.enum(INTERVAL_UNITS) })
    .refine(({ every, unit }) => every <= LONGEST[unit], {
      path: ['every'],
      error: 'is longer than ten years',
    }),
);
export type Interval = OutputOf<typeof intervalSchema>;

/** So that the period after it still has a number for the reference of its payments. */
const MOST_BILLED = 99_998;

const neither = {
  error: ({ input }: { input?: unknown }): string =>
    `${show(input)} is neither the number of a period from 1 to ${MOST_BILLED} nor a day of it, such as 2027-01-31`,
};

export const billedThroughSchema = new SharedSchema(
  // A number that is out of range is told by its own branch, and not by the union.
  z.union([z.int(neither).min(1, neither).max(MOST_BILLED, neither), calendarDateSchema.zod], neither),
);
export type BilledThrough = OutputOf<typeof billedThroughSchema>;

export const MISSED_PERIODS = ['billAll', 'billLatest', 'skip'] as const;
/** What happens to periods that came due while the subscription could not bill. */
export type MissedPeriods = (typeof MISSED_PERIODS)[number];

const ON_GIVEN_UP = ['cancel', 'pause', 'continue'] as const;
/** Effect of giving up a period on the subscription. `continue` leaves the period unpaid and bills the next one. */
export type OnGivenUp = (typeof ON_GIVEN_UP)[number];

const ON_DISPUTE = ['pause', 'continue', 'cancel'] as const;

export const dunningSchema = new SharedSchema(
  z.strictObject({
    /** Days after the period's first decline, rising. */
    retryDays: z.array(z.int().min(1).max(365)).max(20).optional(),
    /** Hour of the retries in the subscription's time zone. */
    localHour: z.int().min(0).max(23).optional(),
    /** Most declined attempts per period, including the first attempt and those after a change of card. */
    maxAttempts: z.int().min(1).max(30).optional(),
    onGivenUp: z.enum(ON_GIVEN_UP).optional(),
  }),
);
export type Dunning = InputOf<typeof dunningSchema>;

const daysBeforeSchema = z.int().min(1).max(90);

export const noticesSchema = new SharedSchema(
  z.strictObject({
    /** Days before each bill but the first. */
    beforeRenewal: daysBeforeSchema.optional(),
    /** Days before the first bill, if a trial comes before it. */
    beforeTrialEnds: daysBeforeSchema.optional(),
  }),
);

/** Input of workflow `subscription`. Its workflow id must be `subscription-<reference>`. */
export const subscriptionInputSchema = new SharedSchema(
  z
    .strictObject({
      reference: subscriptionReferenceSchema.zod,
      customerId: customerIdSchema.zod,
      token: uuidSchema.zod,
      consentTransactionId: z.string().min(1).max(255).optional(),
      entryMode: z
        .enum(['recurring_subsequent_transaction', 'cof_merchant_initiated_transaction'])
        .default('recurring_subsequent_transaction'),
      /** Of the first period and those that follow it, in minor units; 0 bills nothing. Required unless `metered`. */
      amount: billAmountSchema.zod.optional(),
      /** Amounts from later periods on. */
      amounts: amountsSchema.zod.optional(),
      /** Command `setAmount` supplies the amount of each period. No period is billed without one. */
      metered: z.literal(true).optional(),
      currency: currencySchema.zod,
      interval: intervalSchema.zod,
      anchor: calendarDateSchema.zod,
      timeZone: timeZoneSchema.zod,
      billAt: localTimeSchema.zod.default('10:00'),
      /** The first bill is this many days after the anchor, and later bills count from that day. */
      trialDays: z.int().min(0).max(3_650).default(0),
      /**
       * The last period that was billed before and elsewhere: its number, or any day of it. No period up to it is ever
       * billed.
       */
      billedThrough: billedThroughSchema.zod.optional(),
      /** Ends after this many periods, those up to `billedThrough` included. */
      periods: z.int().min(1).max(99_999).optional(),
      /** No period begins on this day or later. */
      endsOn: calendarDateSchema.zod.optional(),
      /**
       * Required if the first period to bill begins in the past. Without it, periods missed in an outage are billed as by
       * `billLatest`.
       */
      missedPeriods: z.enum(MISSED_PERIODS).optional(),
      dunning: dunningSchema.zod.optional(),
      /** What a chargeback of one of its payments does. Default `pause`. `continue`: the merchant is only told. */
      onDispute: z.enum(ON_DISPUTE).optional(),
      /** Spreads bills of the same minute over this long, never past their local day. At most 6 hours. */
      jitter: durationSchema.zod.default('1 hour'),
      notify: notifySchema.zod.optional(),
      /** Notifications before bills. */
      notices: noticesSchema.zod.optional(),
      metadata: metadataSchema.zod.optional(),
      businessUnit: businessUnitSchema.zod.default('default'),
      statementSoftDescriptor: z.string().min(1).max(255).optional(),
    })
    .superRefine(
      (value, context) => {
        for (const { path, message } of [...amountConflicts(value), ...subscriptionConflicts(value)]) {
          context.addIssue({ code: 'custom', path, message, input: value });
        }
      },
      // Also runs if single fields are at fault, so that all faults are reported at once.
      { when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value) },
    ),
);
/** Input as callers write it. */
export type SubscriptionInput = InputOf<typeof subscriptionInputSchema>;
/** Parsed input, with defaults filled in. */
export type ParsedSubscriptionInput = OutputOf<typeof subscriptionInputSchema>;

/** Longest jitter, in ms. */
export const MAX_JITTER_MS = 6 * 3_600_000;

/** The jitter of a parsed input in ms. */
export function jitterMs(jitter: string | number): number {
  return Math.min(durationMs(jitter) ?? 0, MAX_JITTER_MS);
}

export interface Conflict {
  path: (string | number)[];
  message: string;
}

const SIX_HOURS_MS = 6 * 3_600_000;
/** Fewest days in one unit. */
const FEWEST_DAYS: Readonly<Record<string, number>> = { day: 1, week: 7, month: 28, year: 365 };

/**
 * Conflicts between fields of a subscription. Takes any object: faults of single fields are found elsewhere, and such
 * fields are not compared.
 */
export function subscriptionConflicts(input: object): Conflict[] {
  const { periods, endsOn, anchor, trialDays, interval, dunning, jitter } = input as Readonly<Record<string, unknown>>;
  return [
    ...endConflicts({ periods, endsOn, anchor, trialDays }),
    ...retryConflicts(field(dunning, 'retryDays'), shortestInterval(interval)),
    ...jitterConflicts(jitter),
  ];
}

function amountConflicts(input: object): Conflict[] {
  const { amount, amounts, metered, periods } = input as Readonly<Record<string, unknown>>;
  if (metered === true)
    return Object.entries({ amount, amounts }).flatMap(([name, value]) =>
      value === undefined ? [] : [{ path: [name], message: 'is not given with metered, but by setAmount' }],
    );
  const missing = 'a missing value is not an amount: use a whole number of minor units, or metered: true';
  const conflicts: Conflict[] = amount === undefined ? [{ path: ['amount'], message: missing }] : [];
  if (!Array.isArray(amounts)) return conflicts;
  const from = amounts.map((one) => field(one, 'fromPeriod'));
  if (from[0] === 1)
    conflicts.push({ path: ['amounts', 0, 'fromPeriod'], message: '1 is the first period: its amount is `amount`' });
  from.forEach((period, index) => {
    if (typeof period !== 'number' || typeof periods !== 'number' || period <= periods) return;
    const message = `${period} is never billed: the plan ends after ${periods}`;
    conflicts.push({ path: ['amounts', index, 'fromPeriod'], message });
  });
  return conflicts;
}

/** Fewest days between two bills; undefined if the value is not an interval. */
export function shortestInterval(interval: unknown): number | undefined {
  const every = field(interval, 'every');
  const fewest = FEWEST_DAYS[String(field(interval, 'unit'))];
  return Number.isSafeInteger(every) && fewest !== undefined ? (every as number) * fewest : undefined;
}

function endConflicts({ periods, endsOn, anchor, trialDays }: Readonly<Record<string, unknown>>): Conflict[] {
  if (endsOn === undefined) return [];
  const conflicts: Conflict[] = [];
  if (periods !== undefined) {
    conflicts.push({ path: ['endsOn'], message: 'give either periods or endsOn, not both' });
  }
  const end = dayOf(endsOn);
  const start = dayOf(anchor);
  const trial = Number.isSafeInteger(trialDays) ? (trialDays as number) : 0;
  if (end !== undefined && start !== undefined && end <= start + trial) {
    const first = trial === 0 ? 'on the anchor' : `${trial} days after the anchor`;
    conflicts.push({ path: ['endsOn'], message: `nothing would ever be billed: the first bill is ${first}` });
  }
  return conflicts;
}

function retryConflicts(retryDays: unknown, room: number | undefined): Conflict[] {
  if (!Array.isArray(retryDays)) return [];
  return retryDays.flatMap((day: unknown, index): Conflict[] => {
    if (typeof day !== 'number') return [];
    const path = ['dunning', 'retryDays', index];
    const before: unknown = retryDays[index - 1];
    const conflicts: Conflict[] = [];
    if (typeof before === 'number' && day <= before) {
      conflicts.push({ path, message: `${day} does not come after ${before}: days count from the first decline` });
    }
    if (room !== undefined && day >= room) {
      const message = `a retry after ${day} days would meet the next bill, which may come after ${room}`;
      conflicts.push({ path, message });
    }
    return conflicts;
  });
}

function jitterConflicts(jitter: unknown): Conflict[] {
  const ms = typeof jitter === 'string' || typeof jitter === 'number' ? durationMs(jitter) : undefined;
  return ms !== undefined && ms > SIX_HOURS_MS ? [{ path: ['jitter'], message: 'is longer than 6 hours' }] : [];
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Days since 1970-01-01. */
function dayOf(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(value) ?? [];
  if (year === undefined) return undefined;
  return Date.UTC(Number(year), Number(month) - 1, Number(day)) / DAY_MS;
}
