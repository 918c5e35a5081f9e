import type { Interval, ParsedSubscriptionInput } from '../contract/subscription.js';
import { jitterMs } from '../contract/subscription.js';

/** When a subscription bills. Plain data: it travels from run to run. */
export interface BillingPlan {
  /** Decides where in the jitter the subscription stands. */
  reference: string;
  /** The day that all periods are counted from: never that of an earlier period, or short months would add up. */
  anchor: string;
  /** The first period begins this many days after the anchor, and all are counted from there. */
  trialDays: number;
  interval: Interval;
  timeZone: string;
  /** Local time, as 10:00. */
  billAt: string;
  jitterMs: number;
  /** Ends after this many periods. */
  periods?: number;
  /** No period begins on this day or later. */
  endsOn?: string;
  /** Set when the interval was changed: it holds from this period on, which is `skipMonths` after the anchor. */
  since?: { period: number; skipMonths: number };
  /** The plan as it was, which still holds for the periods before this one: they were due when it was changed. */
  before?: { period: number; plan: BillingPlan };
}

/** One period of a plan. It lasts until the next one begins, and is billed when it begins. */
export interface Period {
  /** From 1. */
  period: number;
  /** By the calendar. Where the zone left that day out, the bill is due at the beginning of the next one. */
  date: string;
  /** Epoch ms, jitter included. */
  dueAt: number;
}

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
