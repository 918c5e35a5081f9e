import { faultsOf } from '../contract/fields.js';
import type { ParsedSubscriptionInput } from '../contract/subscription.js';
import { calendarDateSchema, subscriptionInputSchema, timeZoneSchema } from '../contract/subscription.js';
import { localDateOf } from './local-time.js';

/** `late`: the only fault is the day, which is none where the subscription has been started by then. */
export type CheckedSubscription =
  { input: ParsedSubscriptionInput } | { faults: string[]; late?: ParsedSubscriptionInput };

/**
 * The input of a subscription with every fault of it, those included that depend on the day: an anchor before
 * today (in the subscription's zone) needs a word on the periods since then.
 * @param now epoch ms
 */
export function checkSubscription(raw: unknown, now: number): CheckedSubscription {
  const parsed = subscriptionInputSchema.safeParse(raw);
  const faults = [...(parsed.success ? [] : faultsOf(parsed.error)), ...anchorFaults(raw, now)];
  if (!parsed.success) return { faults };
  return faults.length === 0 ? { input: parsed.data } : { faults, late: parsed.data };
}

function anchorFaults(raw: unknown, now: number): string[] {
  if (typeof raw !== 'object' || raw === null) return [];
  const { anchor, timeZone, missedPeriods } = raw as Readonly<Record<string, unknown>>;
  const day = calendarDateSchema.safeParse(anchor);
  const zone = timeZoneSchema.safeParse(timeZone);
  if (missedPeriods !== undefined || !day.success || !zone.success) return [];
  const today = localDateOf(now, zone.data);
  if (day.data >= today) return [];
  return [
    `anchor: ${day.data} is in the past, today is ${today} in ${zone.data}: give a later day, or say with ` +
      'missedPeriods what to do with the periods since then (billAll, billLatest or skip)',
  ];
}
