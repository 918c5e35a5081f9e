import type { MissedPeriods } from '../contract/subscription.js';

/** Billing only the latest period surprises a buyer least after an outage on our side. */
export const MISSED_PERIODS_DEFAULT: MissedPeriods = 'billLatest';
