import { faultsOf } from '../contract/fields.js';
import {
  calendarDateSchema,
  type ParsedSubscriptionInput,
  subscriptionInputSchema,
  timeZoneSchema,
} from '../contract/subscription.js';
import { localDateOf } from './local-time.js';

/** `late`: the only fault is the day or its time zone. That is no fault if the subscription was already started. */
export type CheckedSubscription =
  { input: ParsedSubscriptionInput } | { faults: string[]; late?: ParsedSubscriptionInput };

/**
 * Parses a subscription's input and reports all faults, including those that depend on the current day: an anchor
 * before today (in the subscription's zone) needs `missedPeriods`.
 * @param now epoch ms
 */
export function checkSubscription(raw: unknown, now: number): CheckedSubscription {
  const parsed = subscriptionInputSchema.safeParse(raw);
  const faults = [...(parsed.success ? [] : faultsOf(parsed.error)), ...dayFaults(raw, now)];
  if (!parsed.success) return { faults };
  return faults.length === 0 ? { input: parsed.data } : { faults, late: parsed.data };
}

function dayFaults(raw: unknown, now: number): string[] {
  if (typeof raw !== 'object' || raw === null) return [];
  const { anchor, timeZone, missedPeriods } = raw as Readonly<Record<string, unknown>>;
  const day = calendarDateSchema.safeParse(anchor);
  const zone = timeZoneSchema.safeParse(timeZone);
  if (!zone.success) return [];
  const today = todayIn(zone.data, now);
  if (today === undefined) {
    return [`timeZone: ${zone.data} is not known to this process: update its Node, or give an older name of the zone`];
  }
  if (missedPeriods !== undefined || !day.success || day.data >= today) return [];
  return [
    `anchor: ${day.data} is in the past, today is ${today} in ${zone.data}: give a later day, or say with ` +
      'missedPeriods what to do with the periods since then (billAll, billLatest or skip)',
  ];
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
