import type { Retryable } from '../../src/contract/charge.js';
import { retryableBy } from '../../src/domain/decline.js';
import { type DunningContext, dunningPolicyOf } from '../../src/domain/dunning.js';
import type { AttemptResult } from '../../src/contract/billing-activities.js';
import { instantOf } from '../../src/domain/local-time.js';
import { MONTHLY, wallClock } from './calendar-arbitraries.js';

const ROME = 'Europe/Rome';
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const at = (date: string, time: string): number => instantOf(date, time, ROME);
export const local = (ms: number): string => wallClock(ms, ROME);
export const FIRST_TRY = at('2027-03-25', '10:04');
export const PERIOD_END = at('2027-04-25', '10:00');

export function context(change: Partial<DunningContext> = {}): DunningContext {
  const policy = dunningPolicyOf(undefined, MONTHLY);
  return { policy, now: FIRST_TRY, timeZone: ROME, jitterMs: 0, fraction: 0, periodEndsAt: PERIOD_END, ...change };
}
export function declined(category: string, subCategory?: string): AttemptResult & { retryable: Retryable } {
  return { status: 'declined', category, retryable: retryableBy(category, subCategory), confirmed: true };
}
export const SOFT = declined('payment_method_declined', 'insufficient_funds');
export const HARD = declined('payment_method_declined', 'lost_stolen_card');
export const UNCONFIRMED: AttemptResult = {
  status: 'declined',
  category: 'provider_network_error',
  retryable: 'nobody',
  confirmed: false,
};
