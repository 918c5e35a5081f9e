import type { MissedPeriods } from '../contract/subscription.js';

/** Billing the latest only is what a buyer finds least surprising after an outage of ours. */
export const MISSED_PERIODS_DEFAULT: MissedPeriods = 'billLatest';
