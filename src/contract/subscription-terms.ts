import { fingerprint } from './fingerprint.js';
import { WORKFLOW_TYPES } from './names.js';
import type { ParsedSubscriptionInput } from './subscription.js';
import { jitterMs } from './subscription.js';

/**
 * What makes two subscriptions under one reference the same one: what it was started with, and not what commands have
 * made of it since. Where notifications go and what stands on the statement are no part of it.
 */
export function subscriptionFingerprint(input: ParsedSubscriptionInput): string {
  const { reference, amount, currency, businessUnit, token, customerId } = input;
  const type = WORKFLOW_TYPES.subscription;
  return fingerprint({ type, reference, amount, currency, businessUnit, token, customerId, plan: termsOf(input) });
}

/** In this order for ever: histories and memos hold the hash of it. */
function termsOf(input: ParsedSubscriptionInput): readonly unknown[] {
  const { interval, anchor, timeZone, billAt, trialDays, periods, endsOn, jitter, missedPeriods, dunning } = input;
  const { retryDays, localHour, maxAttempts, onGivenUp } = dunning ?? {};
  const ends = [periods ?? null, endsOn ?? null];
  const retries = [retryDays ?? null, localHour ?? null, maxAttempts ?? null, onGivenUp ?? null];
  const when = [interval.every, interval.unit, anchor, timeZone, billAt, trialDays];
  return [...when, ...ends, jitterMs(jitter), missedPeriods ?? null, ...retries];
}
