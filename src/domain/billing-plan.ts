import type { BillingPlan } from '../contract/billing-activities.js';
import { jitterMs, type ParsedSubscriptionInput } from '../contract/subscription.js';

export function planOf(input: ParsedSubscriptionInput): BillingPlan {
  const { reference, anchor, trialDays, interval, timeZone, billAt, jitter, periods, endsOn } = input;
  return {
    reference,
    anchor,
    trialDays,
    interval,
    timeZone,
    billAt,
    jitterMs: jitterMs(jitter),
    ...(periods !== undefined && { periods }),
    ...(endsOn !== undefined && { endsOn }),
  };
}
