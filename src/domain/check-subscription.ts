import { faultsOf } from '../contract/fields.js';
import {
  billedThroughSchema,
  calendarDateSchema,
  intervalSchema,
  type ParsedSubscriptionInput,
  shortestInterval,
  subscriptionInputSchema,
  timeZoneSchema,
} from '../contract/subscription.js';
import { periodsBilledBefore } from './billed-through.js';
import { dateOf } from './billing-calendar.js';
import { localDateOf } from './local-time.js';

/** `late`: the only fault is the day or its time zone. That is no fault if the subscription was already started. */
export type CheckedSubscription =
  { input: ParsedSubscriptionInput } | { faults: string[]; late?: ParsedSubscriptionInput };

/**
 * Parses a subscription's input and reports all faults, including those that depend on the current day: a first period to
 * bill before today (in the subscription's zone) needs `missedPeriods`.
 * @param now epoch ms
 */
export function checkSubscription(raw: unknown, now: number): CheckedSubscription {
  const parsed = subscriptionInputSchema.safeParse(raw);
  const fields = fieldsOf(raw);
  const first = firstToBill(fields);
  const certain = [...(parsed.success ? [] : faultsOf(parsed.error)), ...first.faults];
  const faults = [...certain, ...dayFaults(fields, first, now)];
  if (!parsed.success || certain.length > 0) return { faults };
  return faults.length === 0 ? { input: parsed.data } : { faults, late: parsed.data };
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(raw: unknown): Fields {
  return typeof raw === 'object' && raw !== null ? (raw as Fields) : {};
}

/** The first period that is to be billed; `date` is undefined if a field that it depends on is at fault. */
interface FirstToBill {
  period: number;
  date?: string;
  faults: string[];
}

/** Later than that nobody can mean; with so many days no date is too far to be computed. */
const LAST_DAY = '2199-12-31';
const MOST_DAYS = 90_000;

function firstToBill({ anchor, trialDays = 0, interval, billedThrough, periods, endsOn }: Fields): FirstToBill {
  const from = calendarDateSchema.safeParse(anchor);
  if (billedThrough === undefined) return { period: 1, faults: [], ...(from.success && { date: from.data }) };
  const every = intervalSchema.safeParse(interval);
  const through = billedThroughSchema.safeParse(billedThrough);
  const unknown = { period: 1, faults: [] };
  if (!from.success || !every.success || !through.success || !isTrial(trialDays)) return unknown;

  const plan = { anchor: from.data, trialDays, interval: every.data };
  const billed = periodsBilledBefore(plan, through.data);
  const at = (fault: string): FirstToBill => ({ ...unknown, faults: [`billedThrough: ${fault}`] });
  if (billed === 0)
    return at(
      `${through.data} is before the first period, which begins on ${dateOf(plan, 1)}: leave it out if nothing was ` +
        'billed before, or give the anchor by which it was billed',
    );
  const period = billed + 1;
  const isFar = billed * (shortestInterval(plan.interval) ?? 1) > MOST_DAYS;
  const date = isFar ? undefined : dateOf(plan, period);
  if (date === undefined || date > LAST_DAY)
    return at(`${through.data} leaves nothing to bill before the year 2200; give the last period that was billed`);
  if (typeof periods === 'number' && billed >= periods)
    return at(`nothing would ever be billed: ${billed} periods were billed before, and the plan ends after ${periods}`);
  const end = calendarDateSchema.safeParse(endsOn);
  if (end.success && date >= end.data)
    return at(`nothing would ever be billed: period ${period} would begin on ${date}, and endsOn is ${end.data}`);
  return { period, date, faults: [] };
}

function isTrial(days: unknown): days is number {
  return Number.isSafeInteger(days) && (days as number) >= 0 && (days as number) <= 3_650;
}

function dayFaults(
  { timeZone, missedPeriods, billedThrough }: Fields,
  { period, date }: FirstToBill,
  now: number,
): string[] {
  const zone = timeZoneSchema.safeParse(timeZone);
  if (!zone.success) return [];
  const today = todayIn(zone.data, now);
  if (today === undefined) {
    return [`timeZone: ${zone.data} is not known to this process: update its Node, or give an older name of the zone`];
  }
  if (missedPeriods !== undefined || date === undefined || date >= today) return [];
  const what =
    billedThrough === undefined
      ? `anchor: ${date} is in the past, today is ${today} in ${zone.data}: give a later day, or say with `
      : `billedThrough: period ${period}, the first one to bill, began in the past, on ${date}; today is ${today} in ` +
        `${zone.data}: give the last period that was billed, or say with `;
  return [`${what}missedPeriods what to do with the periods since then (billAll, billLatest or skip)`];
}

/** undefined if this Node version doesn't know the zone: computing the calendar would be retried forever. */
function todayIn(timeZone: string, now: number): string | undefined {
  try {
    return localDateOf(now, timeZone);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
